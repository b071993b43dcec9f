//! The command line, made into a configuration. No file is opened here.

use crate::NAME;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Parser, value_parser};
use common::face::args;
use common::face::exit;
use common::face::printed::Printed;
use std::ffi::OsString;
use std::path::PathBuf;

/// The configuration.
#[derive(Debug)]
pub struct RenderConfig {
    /// The stream to read.
    pub source: EventSource,
    /// What to print.
    pub what: What,
    /// How many lines of its output a failed command shows, the last ones.
    pub output_lines: usize,
    /// Whether the number of lines and events that were left out is printed at the end.
    pub verbose: bool,
}

/// The stream to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventSource {
    /// Standard input, to its end.
    Stdin,
    /// A file, to its end.
    File(PathBuf),
    /// A file that may grow or not be there yet, to its sentinel.
    Growing(PathBuf),
}

impl EventSource {
    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            EventSource::Stdin => "standard input".to_owned(),
            EventSource::File(path) | EventSource::Growing(path) => path.display().to_string(),
        }
    }
}

/// What to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Each event, as it arrives.
    Events,
    /// The final answer alone.
    Answer,
}

/// Show a run of `codex exec --json` as people read it: a line or a block of text for each event, as it arrives.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_help = exit::help())]
struct Typed {
    /// Stream or progress file of a run; stdin when not given, or -
    #[arg(value_name = "FILE", value_parser = OsStringValueParser::new().try_map(named))]
    file: Option<PathBuf>,
    /// Follow a growing file, which may not be there yet, to its sentinel
    #[arg(long, value_name = "FILE", conflicts_with = "file", value_parser = OsStringValueParser::new().try_map(growing))]
    follow: Option<PathBuf>,
    /// Print the final answer alone; status 0 when there is one and no failure is the last word, else 1
    #[arg(long)]
    answer: bool,
    /// How many of the last lines of its output a failed command shows
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u8))]
    output: u8,
    /// Say at the end how many lines and events were left out, as not understood
    #[arg(long)]
    verbose: bool,
}

/// A file to read.
fn named(path: OsString) -> Result<PathBuf, &'static str> {
    if path.is_empty() { Err("the name of a file is empty") } else { Ok(path.into()) }
}

/// A file to follow.
fn growing(path: OsString) -> Result<PathBuf, &'static str> {
    match path.as_encoded_bytes() {
        b"" => named(path),
        b"-" => Err("stdin has no name to follow; without --follow it is read as it comes"),
        _ => Ok(path.into()),
    }
}

/// Reads the command line.
pub fn parse() -> Result<RenderConfig, Printed> {
    args::parse(NAME).map(Typed::config)
}

impl Typed {
    fn config(self) -> RenderConfig {
        RenderConfig {
            source: match (self.follow, self.file) {
                (Some(path), _) => EventSource::Growing(path),
                (None, Some(path)) if path.as_os_str() != "-" => EventSource::File(path),
                _ => EventSource::Stdin,
            },
            what: if self.answer { What::Answer } else { What::Events },
            output_lines: self.output.into(),
            verbose: self.verbose,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_fit_together() {
        Typed::command().debug_assert();
    }

    #[test]
    fn stdin_cannot_be_followed_by_its_name() {
        for wrong in [&["--follow", "-"][..], &["--follow", ""], &[""]] {
            assert!(Typed::try_parse_from([&["codex-render"], wrong].concat()).is_err());
        }
        assert_eq!(growing("./-".into()), Ok(PathBuf::from("./-")));
    }
}
