//! What was typed, made into what is needed. No file is opened here.

use crate::NAME;
use clap::{Parser, Subcommand};
use common::face::args;
use common::face::exit;
use common::face::printed::Printed;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What to do.
#[derive(Debug)]
pub enum Job {
    /// Pass a stream on and seal it.
    Seal,
    /// Wait for sentinels.
    Wait(Wait),
    /// Check finished files.
    Check(Vec<PathBuf>),
}

/// One wait.
#[derive(Debug)]
pub struct Wait {
    /// Whose sentinels.
    pub files: Vec<PathBuf>,
    /// How long at most.
    pub time: Option<Duration>,
    /// Whether the first sentinel is enough.
    pub any: bool,
}

/// The sentinel is the last line of a progress file. It, and nothing else, says that the run is over, and how.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_help = exit::help())]
struct Typed {
    #[command(subcommand)]
    job: TypedJob,
}

#[derive(Debug, Subcommand)]
enum TypedJob {
    /// Pass stdin on, and at its end write the sentinel that the stream deserves
    ///
    /// It is completed (status 0) when the last turn completed and there was a message; else it is failed (status 1),
    /// with rc 1 after a failed turn and rc 70 otherwise. A sentinel that is there already is kept, and says the
    /// status; lines after it pass, and the status is 65. INT, TERM and HUP let it finish the input that is already
    /// there; unless that completes, the sentinel is failed, by reason of cancelled.
    #[command(after_help = exit::help())]
    Seal,
    /// Wait until each FILE has its sentinel, and print the sentinels
    ///
    /// Files and their folders need not be there yet. With several files a line is FILE, a tab, and the sentinel.
    /// The status is 0 when all completed, 1 when one failed, 124 when the time is over.
    #[command(after_help = exit::help())]
    Wait {
        /// Wait no longer than this, fractions allowed [default: for ever]
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::seconds)]
        timeout_seconds: Option<Duration>,
        /// Return at the first sentinel
        #[arg(long)]
        any: bool,
        /// A progress file
        #[arg(value_name = "FILE", required = true)]
        files: Vec<OsString>,
    },
    /// Check that finished files have one sentinel, as their last line, and only valid lines before it
    ///
    /// Prints `FILE: completed`, `FILE: failed: REASON: CAUSE` (without CAUSE where there is none) or
    /// `FILE: line N: what is wrong`. The status is the worst of
    /// 66 (cannot be read), 65 (something is wrong), 1 (failed) and 0.
    #[command(after_help = exit::help())]
    Check {
        /// A progress file
        #[arg(value_name = "FILE", required = true)]
        files: Vec<OsString>,
    },
}

/// Reads the command line.
pub fn parse() -> Result<Job, Printed> {
    let typed: Typed = args::parse(NAME)?;
    Ok(match typed.job {
        TypedJob::Seal => Job::Seal,
        TypedJob::Wait { timeout_seconds, any, files } => {
            Job::Wait(Wait { files: paths(files)?, time: timeout_seconds, any })
        }
        TypedJob::Check { files } => Job::Check(paths(files)?),
    })
}

/// The files that are named; an empty name, as an unset variable in quotes makes it, is none.
fn paths(files: Vec<OsString>) -> Result<Vec<PathBuf>, Printed> {
    if files.iter().any(|file| file.is_empty()) {
        return Err(args::wrong_usage(NAME, "FILE is empty: give the path of a progress file"));
    }
    Ok(files.into_iter().map(PathBuf::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_fit_together() {
        Typed::command().debug_assert();
    }
}
