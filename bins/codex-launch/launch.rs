//! The wiring of one run: each step takes the result of the one before.
//!
//! | step | result |
//! |---|---|
//! | [`Ready::prepare`] | [`Ready`]: all checks passed, outputs and threads are open |
//! | [`Ready::start`] | [`Started`](crate::run::started::Started): Codex runs |
//! | [`Started::supervise`](crate::run::started::Started::supervise) | [`Ended`](crate::finish::ended::Ended): Codex and all its descendants have ended, its output is read |
//! | [`Ended::judge`](crate::finish::ended::Ended::judge) | [`Judged`](crate::finish::judged::Judged): the ending and the answer are known |
//! | [`Judged::deliver`](crate::finish::judged::Judged::deliver) | [`Delivered`](crate::finish::delivered::Delivered): every output but the sentinel is written |
//! | [`Delivered::seal`](crate::finish::delivered::Delivered::seal) | [`Outcome`]: the sentinel is written, and the report is on stderr |

use crate::finish::answer::Destination;
pub use crate::finish::outcome::Outcome;
use crate::finish::temp_files::TempFiles;
use crate::guardian::RunnerEnd;
use crate::launcher::Launcher;
use crate::prepare::args::Config;
use crate::prepare::check::Refusal;
use crate::run::ready::Ready;
use common::face::exit::Status;

/// Where the answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// The result file, or stdout when there is none.
    Outputs,
    /// The caller of [`supervised`], in the outcome.
    Caller,
}

impl To {
    fn destination(self, temp_files: &TempFiles) -> Destination {
        match (self, &temp_files.outputs.result) {
            (To::Caller, _) => Destination::Caller,
            (To::Outputs, Some(path)) => Destination::File(path.clone(), temp_files.names()),
            (To::Outputs, None) => Destination::Stdout,
        }
    }
}

/// Runs Codex as `config` says, and reports the outcome.
pub fn run(config: Config, temp_files: &TempFiles, link: RunnerEnd) -> Result<Status, Refusal> {
    Ok(supervised(config, To::Outputs, temp_files, link)?.ending.status())
}

/// Runs Codex as `config` says, delivers the answer, and reports the outcome on stderr.
pub fn supervised(
    config: Config,
    to: To,
    temp_files: &TempFiles,
    link: RunnerEnd,
) -> Result<Outcome, Refusal> {
    let launcher = Launcher::new(temp_files, link)?;
    let destination = to.destination(temp_files);
    match Ready::prepare(&launcher, config)?.start() {
        Ok(started) => started.supervise()?.judge().deliver(destination).seal(),
        Err(not_started) => Ok(not_started.seal()),
    }
}
