//! What every step of a launch uses.

use crate::finish::temp_files::TempFiles;
use crate::guardian::{RunnerEnd, StatusWriter};
use crate::prepare::check::{Refusal, refuse};
use crate::run::supervise::Tree;
use common::edge::signals::Notice;
use common::face::exit::Status;
use common::face::say::why;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::io;

/// What every step of a launch uses.
#[derive(Debug)]
pub struct Launcher<'a> {
    /// The outputs and the temporary files.
    pub temp_files: &'a TempFiles,
    /// The way to the guardian.
    pub guardian: StatusWriter,
    /// The processes of the run.
    pub tree: Tree,
    /// Sends a notice to the step that waits.
    pub notify: Sender<Notice>,
    /// Signals and the other events that a step may wait for.
    pub notices: Receiver<Notice>,
}

impl<'a> Launcher<'a> {
    /// Begins to receive signals. Processes that are there already are none of the run's.
    pub fn new(temp_files: &'a TempFiles, link: RunnerEnd) -> Result<Launcher<'a>, Refusal> {
        let (notify, notices) = unbounded();
        let guardian = link.listen(notify.clone()).map_err(|error| cannot_launch("signals", &error))?;
        Ok(Launcher { temp_files, guardian, tree: Tree::new(), notify, notices })
    }
}

/// The refusal of a launch for want of `what`, a resource of the system.
pub fn cannot_launch(what: &str, error: &io::Error) -> Refusal {
    refuse(Status::LAUNCHER, what, why(error))
}
