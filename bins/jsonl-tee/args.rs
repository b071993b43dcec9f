//! The command line. No file is opened here.

use crate::NAME;
use crate::fanout::{ErrorPolicy, OnError};
use clap::{Parser, ValueEnum};
use common::edge::output::At;
use common::face::args;
use common::face::exit;
use common::face::printed::Printed;
use std::path::PathBuf;

/// What the options ask for.
#[derive(Debug)]
pub struct TeeConfig {
    /// The FILEs, which get everything.
    pub files: Vec<PathBuf>,
    /// Whether they are overwritten or appended to.
    pub at: At,
    /// Whether INT is ignored.
    pub ignore_int: bool,
    /// What to do when an output fails.
    pub error_policy: ErrorPolicy,
    /// Whether lines that are not JSON objects are kept out of stdout.
    pub only_json: bool,
    /// Where those lines go.
    pub reject: Option<PathBuf>,
    /// Whether the exit status is that of the sentinel.
    pub status: bool,
    /// Whether each object gets the time when it was read.
    pub stamp: bool,
    /// Whether a slow reader of stdout may fall behind.
    pub detach_stdout: bool,
}

/// Copy stdin to stdout and to each FILE, in whole lines. A reader that leaves early is ignored. Any other output that
/// fails is reported once, and the others go on to the end of the input. INT, TERM and HUP let it finish the input that
/// is already there; a second one ends it at once.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_help = exit::help(), args_override_self = true)]
struct CommandLine {
    /// Append to each FILE instead of overwriting it; several writers can share one
    #[arg(short, long)]
    append: bool,
    /// Ignore INT
    #[arg(short, long)]
    ignore_interrupts: bool,
    /// The default: --output-error=warn-nopipe
    #[arg(short, overrides_with = "output_error")]
    p: bool,
    /// What to do when an output fails, as GNU tee does it; pipes are those whose reader has left
    #[arg(long, value_name = "MODE", value_enum, num_args = 0..=1, require_equals = true,
        default_missing_value = "warn-nopipe", default_value = "warn-nopipe", overrides_with = "p")]
    output_error: Mode,
    /// Keep lines that are not JSON objects out of stdout; each FILE still gets every line
    #[arg(long)]
    only_json: bool,
    /// Collect the lines that --only-json keeps out of stdout
    #[arg(long, value_name = "FILE", requires = "only_json")]
    reject: Option<PathBuf>,
    /// Exit as the sentinel says: 0 completed, 1 failed, 65 where it is missing or not the last line
    #[arg(long)]
    status: bool,
    /// Insert "at":"2026-01-31T09:05:00.123Z" as first key of each object, the time when it was read, in UTC
    #[arg(long)]
    stamp: bool,
    /// Let a slow reader of stdout fall behind, by up to 1 GiB in an unlinked temporary file, instead of slowing the
    /// source; beyond that the source waits for it, and nothing is left out
    #[arg(long)]
    detach_stdout: bool,
    /// Where to copy to; - is a file of that name, as for tee
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// The modes of `--output-error`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Mode {
    /// Say so, whatever failed
    Warn,
    /// Say so, unless it is a pipe
    WarnNopipe,
    /// Say so and exit, whatever failed
    Exit,
    /// Say so and exit, unless it is a pipe
    ExitNopipe,
}

impl Mode {
    fn error_policy(self) -> ErrorPolicy {
        let (broken_pipe, other) = match self {
            Mode::Warn => (OnError::Warn, OnError::Warn),
            Mode::WarnNopipe => (OnError::Ignore, OnError::Warn),
            Mode::Exit => (OnError::Exit, OnError::Exit),
            Mode::ExitNopipe => (OnError::Ignore, OnError::Exit),
        };
        ErrorPolicy { broken_pipe, other }
    }
}

/// Reads the command line.
pub fn parse() -> Result<TeeConfig, Printed> {
    let typed: CommandLine = args::parse(NAME)?;
    Ok(TeeConfig {
        at: if typed.append { At::End } else { At::Start },
        error_policy: typed.output_error.error_policy(),
        files: typed.files,
        ignore_int: typed.ignore_interrupts,
        only_json: typed.only_json,
        reject: typed.reject,
        status: typed.status,
        stamp: typed.stamp,
        detach_stdout: typed.detach_stdout,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_options_do_not_contradict_each_other() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn the_last_of_p_and_output_error_counts() {
        let policy = |args: &[&str]| {
            let typed = CommandLine::try_parse_from([&["jsonl-tee"], args].concat()).unwrap();
            typed.output_error.error_policy()
        };
        assert_eq!(policy(&[]), Mode::WarnNopipe.error_policy());
        assert_eq!(policy(&["--output-error", "-p"]), Mode::WarnNopipe.error_policy());
        assert_eq!(policy(&["-p", "--output-error=exit"]), Mode::Exit.error_policy());
        assert_eq!(policy(&["--output-error=exit", "-p"]), Mode::WarnNopipe.error_policy());
        assert_eq!(
            policy(&["--output-error=warn", "--output-error=exit-nopipe"]),
            Mode::ExitNopipe.error_policy()
        );
        assert!(CommandLine::try_parse_from(["jsonl-tee", "--output-error=x"]).is_err());
    }
}
