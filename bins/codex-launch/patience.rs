//! How long a reader is waited for that takes nothing.
//!
//! A slow reader of events or answer gets them all, however long it takes: that is what a pipe is for. But a run
//! that was cut short by its limit or by the user has to end, and so has one whose user loses patience now.

use crate::check::{Refusal, refuse};
use common::edge::signals::Notice;
use common::edge::supervise::Cut;
use common::edge::worker::Worker;
use common::face::exit::Status;
use crossbeam_channel::{Receiver, after, never, select};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long a reader has when the run was cut short, at the least. A signal that comes now gives it as much.
const LAST_CALL: Duration = Duration::from_secs(1);

/// The patience of one run, after Codex and all its processes have ended.
#[derive(Debug)]
pub struct Patience<'a> {
    notices: &'a Receiver<Notice>,
    /// When it ends, if it does, and the status that the launcher then has.
    end: Cell<Option<(Instant, Status)>>,
}

impl<'a> Patience<'a> {
    /// The patience with the readers of a run that was cut short by `cut`, or not.
    pub fn new(notices: &'a Receiver<Notice>, cut: Option<Cut>, kill_grace: Duration) -> Patience<'a> {
        let status = match cut {
            None => None,
            Some(Cut::Timeout) => Some(Status::TIMEOUT),
            Some(Cut::Cancelled(signal)) => Some(Status::signal(signal)),
            Some(Cut::Halted) => Some(Status::LAUNCHER),
        };
        let end = status.map(|status| (Instant::now() + kill_grace.max(LAST_CALL), status));
        Patience { notices, end: Cell::new(end) }
    }

    /// Does `work`, which writes to `what`, and waits for it.
    pub fn wait<T: Send + 'static>(
        &self,
        what: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        match Worker::hire() {
            Ok(worker) => self.receive(what, &worker.run(work)),
            // Where no thread is to be had it is done here: better without an end to the patience than not at all.
            Err(_) => Ok(work()),
        }
    }

    /// Waits for somebody who writes to `what` to be done.
    pub fn receive<T>(&self, what: &str, done: &Receiver<T>) -> Result<T, Refusal> {
        loop {
            let end = self.end.get();
            let timer =
                end.map_or_else(never, |(end, _)| after(end.saturating_duration_since(Instant::now())));
            select! {
                recv(done) -> done => return done.map_err(|_| refuse(Status::LAUNCHER, what, "the writer died")),
                recv(self.notices) -> notice => {
                    if let (Ok(Notice::User(signal)), None) = (notice, end) {
                        self.end.set(Some((Instant::now() + LAST_CALL, Status::signal(signal))));
                    }
                }
                recv(timer) -> _ => {
                    let status = end.map_or(Status::LAUNCHER, |(_, status)| status);
                    return Err(refuse(status, what, "its reader takes nothing; what was left for it is lost"));
                }
            }
        }
    }
}
