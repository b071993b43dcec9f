//! A run whose outputs are written but for the sentinel, and the sentinel.

use crate::finish::answer::Answer;
use crate::finish::drain_deadline::DrainDeadline;
use crate::finish::ending::Ending;
use crate::finish::outcome::Outcome;
use crate::finish::output_errors::OutputErrors;
use crate::finish::report::{self, Report};
use crate::finish::seal::Seal;
use crate::guardian::Phase;
use crate::launcher::Launcher;
use crate::prepare::check::Refusal;
use crate::run::progress_file::ProgressFile;
use std::time::Instant;

/// A run whose outputs are written but for the sentinel.
#[derive(Debug)]
pub struct Delivered<'a> {
    /// What every step uses.
    pub launcher: &'a Launcher<'a>,
    /// When Codex was started.
    pub started: Instant,
    /// The progress file.
    pub progress: Option<ProgressFile>,
    /// Whether a reader finds the progress file under its name.
    pub is_in_place: bool,
    /// What could not be written.
    pub output_errors: OutputErrors,
    /// How long blocked readers are waited for.
    pub drain_deadline: DrainDeadline<'a>,
    /// The answer.
    pub answer: Answer,
    /// How the run ended.
    pub ending: Ending,
    /// What the report says beyond that.
    pub report: Report,
}

impl Delivered<'_> {
    /// Writes the sentinel, and then the report.
    ///
    /// # Errors
    /// When the reader of the progress file takes nothing until the drain deadline. The report is on stderr then.
    pub fn seal(self) -> Result<Outcome, Refusal> {
        let Delivered { launcher, started, progress, mut output_errors, answer, ending, report, .. } = self;
        let seal = Seal::of(&ending, started.elapsed(), report.verdict.output_tokens(), self.is_in_place);
        launcher.guardian.phase(Phase::Sealing);
        let error = self.drain_deadline.wait(move || seal.write_to(progress)).map_err(|status| {
            let unread = match &ending {
                Ending::Completed { .. } => &Ending::unread(status),
                failed => failed,
            };
            report::unread(status, unread, started)
        })?;
        output_errors.note("progress file", error);
        let ending = ending.unless_lost(&output_errors);
        launcher.guardian.sealed(ending.status().code());
        let elapsed = started.elapsed();
        report.print(&ending, &output_errors, elapsed);
        Ok(Outcome { ending, answer, elapsed })
    }
}
