//! A run whose Codex could not be started.

use crate::finish::answer::Answer;
use crate::finish::ending::Ending;
use crate::finish::outcome::Outcome;
use crate::finish::output_errors::OutputErrors;
use crate::finish::report::Report;
use crate::finish::seal::Seal;
use crate::guardian::Phase;
use crate::launcher::Launcher;
use crate::run::stream::Heard;
use common::face::say::why;
use std::io;
use std::time::Duration;

/// A run whose Codex could not be started.
#[derive(Debug)]
pub struct NotStarted<'a> {
    /// What every step uses.
    pub launcher: &'a Launcher<'a>,
    /// Why not.
    pub error: io::Error,
    /// The stream, of which nothing has come.
    pub heard: Heard,
}

impl NotStarted<'_> {
    /// Writes the sentinel, and then the report.
    pub fn seal(self) -> Outcome {
        let ending = Ending::not_started(&why(&self.error));
        self.launcher.guardian.phase(Phase::Sealing);
        let error = Seal::of(&ending, Duration::ZERO, None, true).write_to(self.heard.progress);
        self.launcher.guardian.sealed(ending.status().code());
        let mut output_errors = OutputErrors::new();
        output_errors.note("progress file", error);
        Report::of_nothing(self.heard.verdict).print(&ending, &output_errors, Duration::ZERO);
        Outcome { ending, answer: Answer::Nothing, elapsed: Duration::ZERO }
    }
}
