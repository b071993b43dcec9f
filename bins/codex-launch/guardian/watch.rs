//! The guardian while the runner lives: passes on signals and waits for the runner's end.

use super::status::{Phase, StatusReport};
use crate::run::supervise::{self, Exit, Tree};
use common::edge::signals::{self, Awaited, Notice};
use common::sys::process;
use crossbeam_channel::unbounded;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Time that a runner gets to act on a signal before its program is started. It takes milliseconds, unless a system call
/// holds it.
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// Time that a runner gets to exit once it has reported that it is about to.
const EXIT_GRACE: Duration = Duration::from_millis(2500);

/// Time that a runner gets to die of KILL.
const KILL_GRACE: Duration = Duration::from_millis(500);

/// The guardian, before it watches.
#[derive(Debug)]
pub struct Guardian {
    runner: i32,
    socket: UnixStream,
    tree: Tree,
    awaited: Awaited,
    report: StatusReport,
    /// The first signal that the caller sent.
    signal: Option<i32>,
    runner_deadline: RunnerDeadline,
}

/// A run whose runner has ended, or was given up.
#[derive(Debug)]
pub struct Watched {
    /// How the runner ended.
    pub end: RunnerEnding,
    /// The first signal that the caller sent.
    pub signal: Option<i32>,
    /// What the runner reported.
    pub report: StatusReport,
    /// What it started.
    pub tree: Tree,
}

/// How the runner ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnerEnding {
    /// It exited or was killed.
    Reaped(Exit),
    /// A system call held it when it was about to exit with this status: it was killed, whether it died of that or not.
    Exiting(i32),
    /// A system call held it before the launch, so that it did not act on a signal: it was killed, whether it died of that
    /// or not.
    Held,
}

impl Guardian {
    pub(super) fn new(runner: i32, socket: UnixStream, tree: Tree, awaited: Awaited) -> Guardian {
        let (report, runner_deadline) = (StatusReport::new(), RunnerDeadline::default());
        Guardian { runner, socket, tree, awaited, report, signal: None, runner_deadline }
    }

    /// Passes on signals until the runner has ended, and continues it when something stops it.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn watch(mut self) -> io::Result<Watched> {
        empty_stdin();
        // A process that the runner was about to start may have a copy of its end after it has ended.
        self.socket.set_nonblocking(true)?;
        let end = loop {
            match self.awaited.wait_until(self.runner_deadline.deadline)? {
                Some(Notice::User(signal)) => self.pass_on(signal),
                Some(_) => {
                    if let Some(exit) = self.tree.reap(self.runner) {
                        break self.ending(exit);
                    }
                }
                None if self.runner_deadline.is_killed => break self.given_up(),
                None => {
                    process::kill_child(self.runner);
                    self.runner_deadline.killed();
                }
            }
            // A stopped runner acts on no signal, and would never be finished for.
            process::continue_child(self.runner);
            self.report.update(&self.socket);
            self.runner_deadline.renew(&self.report, self.signal);
        };
        self.report.update(&self.socket);
        Ok(Watched { end, signal: self.signal, report: self.report, tree: self.tree })
    }

    fn pass_on(&mut self, signal: i32) {
        self.signal.get_or_insert(signal);
        // A runner that is gone is noticed when it is reaped.
        let _ = self.socket.write_all(&[u8::try_from(signal).unwrap_or(0)]);
    }

    fn ending(&self, exit: Exit) -> RunnerEnding {
        let before_launch = self.report.phase == Phase::Preparing || self.report.exiting.is_some();
        if self.runner_deadline.is_killed && before_launch {
            self.given_up()
        } else {
            RunnerEnding::Reaped(exit)
        }
    }

    fn given_up(&self) -> RunnerEnding {
        self.report.exiting.map_or(RunnerEnding::Held, RunnerEnding::Exiting)
    }
}

/// How long the guardian waits for a runner that may be unable to end: the kernel holds a thread of it, such as one that
/// looks a path up on a file system whose server does not answer.
#[derive(Debug, Default)]
struct RunnerDeadline {
    deadline: Option<Instant>,
    is_killed: bool,
}

impl RunnerDeadline {
    /// Sets the deadline when there is a reason for one, and lifts it when the reason is gone. A runner with outputs acts
    /// on a signal by itself.
    fn renew(&mut self, report: &StatusReport, signal: Option<i32>) {
        if self.is_killed {
            return;
        }
        let grace = match (report.exiting, signal) {
            (Some(_), _) => Some(EXIT_GRACE),
            (None, Some(_)) if report.phase == Phase::Preparing => Some(CANCEL_GRACE),
            _ => None,
        };
        self.deadline = grace.map(|grace| self.deadline.unwrap_or_else(|| Instant::now() + grace));
    }

    fn killed(&mut self) {
        *self = RunnerDeadline { deadline: Some(Instant::now() + KILL_GRACE), is_killed: true };
    }
}

impl Watched {
    /// Ends the processes that the dead runner has left. Each of the two steps before KILL may take `grace`. Returns whether
    /// a process is left that did not die of KILL.
    pub fn end(&self, grace: Duration) -> bool {
        let (notify, notices) = unbounded();
        // Without a thread to be had nobody can shorten the steps.
        let _ = signals::notify_and_outlive(notify);
        supervise::take_over(&self.tree, self.report.running_program(), grace, &notices)
    }
}

/// Gives this process an empty stdin, or none, so that it does not count as a reader of the prompt's pipe. That cannot
/// fail: a process that ended here, with hardly a descriptor to be had, would leave the runner at work.
pub(super) fn empty_stdin() {
    let emptied = io::pipe().and_then(|(empty, _)| Ok(nix::unistd::dup2_stdin(empty)?));
    if emptied.is_err() {
        // A stdin that is not open is closed already.
        let _ = nix::unistd::close(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_is_waited_for_without_end_but_for_a_reason() {
        let mut report = StatusReport::new();
        let mut runner_deadline = RunnerDeadline::default();
        runner_deadline.renew(&report, None);
        assert_eq!(runner_deadline.deadline, None);
        runner_deadline.renew(&report, Some(15));
        let first = runner_deadline.deadline.unwrap();
        assert!(first <= Instant::now() + CANCEL_GRACE);
        // More signals change nothing.
        runner_deadline.renew(&report, Some(15));
        assert_eq!(runner_deadline.deadline, Some(first));
        report.phase = Phase::Opening;
        runner_deadline.renew(&report, Some(15));
        assert_eq!(runner_deadline.deadline, None);
        report.exiting = Some(0);
        runner_deadline.renew(&report, None);
        assert!(runner_deadline.deadline.unwrap() <= Instant::now() + EXIT_GRACE);
    }
}
