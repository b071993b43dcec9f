//! How long a reader is waited for that takes nothing.
//!
//! A slow reader of events or answer gets them all, as long as the run's own limit allows: that is what a pipe is for.
//! But a run that was cut short has to end, and so has one whose user loses drain_deadline now.

use crate::finish::ending::ABANDONED;
use crate::run::supervise::Cut;
use common::edge::signals::Notice;
use common::edge::worker::Worker;
use common::face::exit::Status;
use crossbeam_channel::{Receiver, at, select};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long a reader has when the run was cut short, at the least. A signal that comes now gives it as much, and so
/// has the reader of anything but events and answer.
pub const DRAIN_GRACE: Duration = Duration::from_secs(1);

/// The same for the progress file: the events may have to wait for the stderr file to be given up first, which takes
/// one last call, or two when it just took something.
const LAST_CALLS: Duration = Duration::from_secs(3);

/// The drain_deadline of one run, after Codex and all its processes have ended.
#[derive(Debug)]
pub struct DrainDeadline<'a> {
    notices: &'a Receiver<Notice>,
    /// When it ends, and the status that the launcher then has.
    end: Cell<(Instant, Status)>,
    /// Whether the run was cut short or the user has signalled since.
    is_cut: Cell<bool>,
}

impl<'a> DrainDeadline<'a> {
    /// The drain_deadline with the readers of a run that was cut short by `cut`; or not, and then it lasts until `limit`.
    pub fn new(
        notices: &'a Receiver<Notice>,
        cut: Option<Cut>,
        kill_grace: Duration,
        limit: Instant,
    ) -> DrainDeadline<'a> {
        let cut_end = Instant::now() + kill_grace.max(LAST_CALLS);
        let end = match cut {
            None | Some(Cut::Lingered) => (limit.max(cut_end), Status::IO),
            Some(Cut::Timeout) => (cut_end, Status::TIMEOUT),
            Some(Cut::Cancelled(signal)) => (cut_end, Status::signal(signal)),
            Some(Cut::Halted) => (cut_end, Status::LAUNCHER),
            Some(Cut::Abandoned) => (cut_end, ABANDONED),
        };
        DrainDeadline {
            notices,
            end: Cell::new(end),
            is_cut: Cell::new(!matches!(cut, None | Some(Cut::Lingered))),
        }
    }

    /// Whatever was waited for before: what comes now has a last call of its own.
    pub fn renew(&self) {
        let (end, status) = self.end.get();
        self.end.set((end.max(Instant::now() + DRAIN_GRACE), status));
    }

    /// Does `work`, which may have to wait for a reader, and waits for it. The status that the launcher ends with is
    /// the error when the drain_deadline ends first.
    pub fn wait<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Status> {
        match Worker::spawn() {
            Ok(worker) => self.receive(&worker.run(work)),
            // Where no thread is to be had it is done here: better without an end to the drain_deadline than not at all.
            Err(_) => Ok(work()),
        }
    }

    /// Waits for somebody else to be done, in the same way.
    pub fn receive<T>(&self, done: &Receiver<T>) -> Result<T, Status> {
        loop {
            let (end, status) = self.end.get();
            select! {
                recv(done) -> done => return done.map_err(|_| Status::LAUNCHER),
                recv(self.notices) -> notice => {
                    let status = match notice {
                        Ok(Notice::User(signal)) => Status::signal(signal),
                        Ok(Notice::Abandoned) => ABANDONED,
                        _ => continue,
                    };
                    if !self.is_cut.replace(true) {
                        self.end.set((Instant::now() + DRAIN_GRACE, status));
                    }
                }
                recv(at(end)) -> _ => return Err(status),
            }
        }
    }
}
