//! Receives signals in the runner, directly and from the guardian, and counts each once.

use super::status::StatusWriter;
use common::edge::signals::{self, Notice};
use crossbeam_channel::Sender;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The runner's end of the socket to the guardian.
#[derive(Debug)]
pub struct RunnerEnd {
    socket: Arc<UnixStream>,
    guardian: i32,
}

impl RunnerEnd {
    pub(super) fn new(socket: UnixStream, guardian: i32) -> RunnerEnd {
        RunnerEnd { socket: Arc::new(socket), guardian }
    }

    /// What writes status reports to the guardian.
    pub(super) fn status_writer(&self) -> StatusWriter {
        StatusWriter::new(Arc::clone(&self.socket), self.guardian)
    }

    /// Sends a notice for each signal that either process gets, and one when the guardian is dead.
    ///
    /// Until they part ([`StatusWriter::part`]), a terminal and a `kill` of the group reach both processes. Signals that came
    /// directly and signals that the guardian passed on are counted apart, and each signal counts once.
    ///
    /// # Errors
    /// When the handlers cannot be installed or there is no thread to be had.
    pub fn listen(self, notices: Sender<Notice>) -> io::Result<StatusWriter> {
        let seen = Arc::new(Mutex::new(SignalDedup::default()));
        let (mine, to) = (Arc::clone(&seen), notices.clone());
        signals::each_notice(move |notice| {
            let is_new = !matches!(notice, Notice::User(_)) || is_new(&mine, Origin::Direct);
            !is_new || to.send(notice).is_ok()
        })?;
        let passed_on = Arc::clone(&self.socket);
        thread::Builder::new().spawn(move || {
            let mut signal = [0];
            while (&*passed_on).read_exact(&mut signal).is_ok() {
                if is_new(&seen, Origin::PassedOn) {
                    // A run that is over no longer listens.
                    let _ = notices.send(Notice::User(i32::from(signal[0])));
                }
            }
            let _ = notices.send(Notice::Abandoned);
        })?;
        Ok(self.status_writer())
    }
}

/// How a signal came to the runner.
#[derive(Debug, Clone, Copy)]
enum Origin {
    Direct,
    PassedOn,
}

/// How many signals came from each origin. The larger number is how many there were.
#[derive(Debug, Default)]
struct SignalDedup {
    counts: [u32; 2],
}

impl SignalDedup {
    /// Counts one more signal from `origin`. Returns whether the total grew.
    fn take(&mut self, origin: Origin) -> bool {
        let before = self.counts.into_iter().max();
        self.counts[origin as usize] += 1;
        self.counts.into_iter().max() > before
    }
}

fn is_new(seen: &Mutex<SignalDedup>, origin: Origin) -> bool {
    seen.lock().unwrap_or_else(PoisonError::into_inner).take(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_comes_both_ways_is_one() {
        use Origin::{Direct, PassedOn};
        let news = |origins: &[Origin]| {
            let mut seen = SignalDedup::default();
            origins.iter().filter(|&&origin| seen.take(origin)).count()
        };
        assert_eq!(news(&[Direct, PassedOn]), 1);
        assert_eq!(news(&[PassedOn, PassedOn]), 2);
        assert_eq!(news(&[Direct, Direct, PassedOn, PassedOn, PassedOn]), 3);
    }
}
