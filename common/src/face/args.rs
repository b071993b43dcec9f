//! Parsing the command line, the same way for all filters.

use super::exit::Status;
use super::printed::Printed;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::time::Duration;

/// Maximum of a time option: a hundred years in seconds. Above it a deadline could not be computed.
const MAX_SECONDS: f64 = 3.2e9;

/// Parses the command line of filter `name`.
///
/// # Errors
/// With status 0 when the help or the version was printed; with status 64 on wrong usage.
pub fn parse<T: clap::Parser>(name: &str) -> Result<T, Printed> {
    parse_with_hints(name, |_| None)
}

/// As [`parse`]; `hint` says what to write instead of an argument that the filter does not have.
pub fn parse_with_hints<T: clap::Parser>(
    name: &str,
    hint: impl Fn(&str) -> Option<String>,
) -> Result<T, Printed> {
    T::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader that leaves early has read enough of the help.
            let _ = error.print();
            Printed::help()
        }
        kind => {
            let what = match kind {
                // The message would be the whole help.
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "no command given".to_owned(),
                _ => first_paragraph(&error.to_string()) + &nearest(&error, hint),
            };
            wrong_usage(name, &format!("{what} (see {name} --help)"))
        }
    })
}

/// Prints what is wrong with the command line.
pub fn wrong_usage(name: &str, what: &str) -> Printed {
    Printed::message(name, Status::USAGE, &format!("usage: {what}"))
}

/// The message of a clap error without its label, tips and usage, on one line.
fn first_paragraph(rendered: &str) -> String {
    let text = rendered.strip_prefix("error: ").unwrap_or(rendered);
    let lines: Vec<&str> = text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
    lines.join(" ")
}

/// What to write instead, where the parser knows it.
fn nearest(error: &clap::Error, hint: impl Fn(&str) -> Option<String>) -> String {
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(unknown))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
        && let Some(hint) = hint(unknown)
    {
        return format!("; {hint}");
    }
    let kinds = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    let suggested = kinds.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(one)) => Some(one.clone()),
        Some(ContextValue::Strings(all)) => all.first().cloned(),
        _ => None,
    });
    suggested.map_or(String::new(), |suggested| format!("; did you mean '{suggested}'?"))
}

/// A time in seconds, fractions allowed, more than zero.
pub fn seconds(text: &str) -> Result<Duration, String> {
    match seconds_or_zero(text) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err(format!("'{text}' is not a time in seconds above zero")),
    }
}

/// A time in seconds, fractions allowed, zero too.
pub fn seconds_or_zero(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=MAX_SECONDS).contains(&number) => Ok(Duration::from_secs_f64(number)),
        _ => Err(format!("'{text}' is not a time in seconds")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_take_fractions_and_nothing_odd() {
        assert_eq!(seconds("0.03"), Ok(Duration::from_millis(30)));
        assert_eq!(seconds("1200"), Ok(Duration::from_secs(1200)));
        assert_eq!(seconds_or_zero("0"), Ok(Duration::ZERO));
        for bad in ["0", "-1", "", "NaN", "inf", "1e300", "5s", "0x10"] {
            assert_eq!(seconds(bad), Err(format!("'{bad}' is not a time in seconds above zero")));
        }
    }

    #[test]
    fn a_usage_error_is_one_line() {
        let rendered =
            "error: the following required arguments were not provided:\n  --result-file <P>\n\nUsage: x\n";
        assert_eq!(
            first_paragraph(rendered),
            "the following required arguments were not provided: --result-file <P>"
        );
    }
}
