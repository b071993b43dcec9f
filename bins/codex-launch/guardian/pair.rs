//! One program as two processes, each of which sees the other one die.
//!
//! The *guardian* forks the *runner* before there is anything to lose, does nothing from then on but pass on signals, and
//! has the runner's exit status for its own. The runner does the work and tells the guardian, in a few words, what there
//! would be to finish in its place.
//!
//! Who finishes is decided by who is dead, and that is not a matter of timing: the guardian acts when it has reaped
//! the runner, of which nothing can come any more, and the runner acts when the guardian has hung up, of which the same
//! is true. Orphans of the runner become the guardian's, so it finds what the runner started; when the guardian dies,
//! the runner keeps what it has. The road not taken is a guardian that is started beside the runner: it would be no
//! ancestor of what the runner starts, and would have to find it by luck.
//!
//! The guardian is the process that the caller started, unless that one could get children that are none of the run's: a
//! shell that became this program with `exec` may have left some (`exec codex-launch > >(tee log)`), and the first process
//! of a container, or one that was a subreaper already, gets other people's orphans. Such a process becomes the *caller's
//! end*: no subreaper, so that orphans of its children go where they would have gone without it. It forks the guardian,
//! passes on signals and the exit status, and when it is killed, the kernel kills the guardian, so that the runner
//! finishes as it does after the guardian's death.

use crate::run::supervise::{self, Exit, Tree};
use common::edge::output::Output;
use common::edge::signals::{self, Awaited, Notice};
use common::sys::descriptor;
use common::sys::process::{self, Reaped};
use crossbeam_channel::{Sender, unbounded};
use nix::time::ClockId;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Which of the two this process is.
#[derive(Debug)]
pub enum Half {
    /// The one that the caller knows, where that is not the guardian.
    CallersEnd(CallersEnd),
    /// The one that finishes when the runner dies.
    Guardian(Box<Guardian>),
    /// The one that does the work.
    Runner(RunnerEnd),
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Nothing has been made.
    Preparing,
    /// Its outputs are being made.
    Opening,
    /// They are there.
    Opened,
    /// Its program runs.
    Started,
    /// Nothing of it is alive.
    Over,
    /// Its last line is being written.
    Sealing,
    /// Its last line is written.
    Sealed,
}

const PHASES: [Phase; 7] = [
    Phase::Preparing,
    Phase::Opening,
    Phase::Opened,
    Phase::Started,
    Phase::Over,
    Phase::Sealing,
    Phase::Sealed,
];

/// Makes two processes of this one, or three, which has no other thread yet. The number is that of the process that made
/// this one and waits for its end.
///
/// None of them can be traced or looked into by another process of the same user: what the run starts could stop one for
/// ever, or take what was removed from its environment out of its memory. The price: a debugger has to start the
/// launcher or be root's, and there are no core dumps.
///
/// # Errors
/// When there is no room for another process or for what connects them.
pub fn split() -> io::Result<(Half, Option<i32>)> {
    process::refuse_tracers();
    // A signal that comes now waits until one of them asks for it.
    let awaited = Awaited::new()?;
    let caller = std::process::id().cast_signed();
    let is_apart = Tree::would_have_strangers();
    if is_apart {
        if let Some(guardian) = process::fork()? {
            return Ok((Half::CallersEnd(CallersEnd { guardian, awaited }), None));
        }
        if !process::end_with_parent(caller) {
            return Err(io::Error::other("the process that was started has ended"));
        }
    }
    let tree = Tree::new();
    let (guardian, runner) = UnixStream::pair()?;
    let this = std::process::id().cast_signed();
    let Some(child) = process::fork()? else { return Ok((Half::Runner(RunnerEnd(runner)), Some(this))) };
    if is_apart {
        // What a terminal or a `kill` of the group sends to the caller's end comes from there, and once.
        process::lead_own_group();
    }
    let guardian = Guardian { runner: child, socket: guardian, tree, awaited };
    Ok((Half::Guardian(Box::new(guardian)), is_apart.then_some(caller)))
}

/// The process that the caller knows, in front of the guardian.
#[derive(Debug)]
pub struct CallersEnd {
    guardian: i32,
    awaited: Awaited,
}

impl CallersEnd {
    /// Passes on signals until the guardian has ended, and says how. Children of others are reaped meanwhile.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn wait(mut self) -> io::Result<Exit> {
        empty_stdin()?;
        loop {
            match self.awaited.wait()? {
                Notice::User(signal) => process::pass_on(self.guardian, signal),
                _ => {
                    if let Some(exit) = self.reap() {
                        return Ok(exit);
                    }
                }
            }
            process::continue_child(self.guardian);
        }
    }

    fn reap(&self) -> Option<Exit> {
        loop {
            match process::reap_any() {
                Reaped::Child(pid, exit) if pid == self.guardian => return Some(exit),
                Reaped::Child(..) => {}
                Reaped::NoneDead | Reaped::NoChildren => return None,
            }
        }
    }
}

/// Gives this process an empty stdin: the prompt's writer must not take it for its reader.
fn empty_stdin() -> io::Result<()> {
    let (empty, _) = io::pipe()?;
    Ok(nix::unistd::dup2_stdin(empty)?)
}

/// The runner's end of the connection.
#[derive(Debug)]
pub struct RunnerEnd(UnixStream);

impl RunnerEnd {
    /// Sends a notice for each signal that either half gets, and one when the guardian is dead.
    ///
    /// Until they part ([`StatusWriter::part`]), a terminal and a `kill` of the group reach both halves: what was heard directly
    /// and what the guardian passed on are counted apart, and each signal counts once.
    ///
    /// # Errors
    /// When the handlers cannot be installed or no thread is to be had.
    pub fn listen(self, notices: Sender<Notice>) -> io::Result<StatusWriter> {
        let seen = Arc::new(Mutex::new(SignalDedup::default()));
        let (mine, to) = (Arc::clone(&seen), notices.clone());
        signals::each_notice(move |notice| {
            let is_new = !matches!(notice, Notice::User(_)) || is_new(&mine, Source::Direct);
            !is_new || to.send(notice).is_ok()
        })?;
        let mut passed_on = self.0.try_clone()?;
        thread::Builder::new().spawn(move || {
            let mut signal = [0];
            while passed_on.read_exact(&mut signal).is_ok() {
                if is_new(&seen, Source::PassedOn) {
                    // A run that is over no longer listens.
                    let _ = notices.send(Notice::User(i32::from(signal[0])));
                }
            }
            let _ = notices.send(Notice::Abandoned);
        })?;
        Ok(StatusWriter(Arc::new(self.0)))
    }
}

/// How a signal came to the runner.
#[derive(Debug, Clone, Copy)]
enum Source {
    Direct,
    PassedOn,
}

/// How many signals came from each source; the larger number is how many there were.
#[derive(Debug, Default)]
struct SignalDedup {
    counts: [u32; 2],
}

impl SignalDedup {
    /// Takes one more from `source`, and says whether it is one more in all.
    fn take(&mut self, source: Source) -> bool {
        let before = self.counts.into_iter().max();
        self.counts[source as usize] += 1;
        self.counts.into_iter().max() > before
    }
}

fn is_new(seen: &Mutex<SignalDedup>, source: Source) -> bool {
    seen.lock().unwrap_or_else(PoisonError::into_inner).take(source)
}

/// Tells the guardian how far the run has come. That the guardian is dead is no error here: it is a notice.
#[derive(Debug, Clone)]
pub struct StatusWriter(Arc<UnixStream>);

impl StatusWriter {
    /// The run has come to `phase`, and nothing more is to be known of that.
    pub fn phase(&self, phase: Phase) {
        self.send(phase, 0, None);
    }

    /// The outputs are there, and the last line goes to `output`.
    pub fn opened(&self, output: Option<&Output>) {
        self.send(Phase::Opened, 0, output.map(AsFd::as_fd));
    }

    /// Leaves the group of the guardian, so that a KILL to that group leaves this process to finish the run. To be
    /// called when nothing is to be read from a terminal any more: only its foreground group may.
    pub fn part(&self) {
        process::lead_own_group();
    }

    /// The program runs, as `pid`, from this moment on.
    pub fn started(&self, pid: i32) {
        self.send(Phase::Started, pid, None);
    }

    /// The last line is written, and the exit status that goes with it is `status`.
    pub fn sealed(&self, status: u8) {
        self.send(Phase::Sealed, status.into(), None);
    }

    fn send(&self, phase: Phase, number: i32, output: Option<BorrowedFd<'_>>) {
        let mut word = [0; WORD];
        word[0] = phase as u8;
        word[1..5].copy_from_slice(&number.to_le_bytes());
        word[5..].copy_from_slice(&monotonic().as_micros().to_le_bytes()[..8]);
        let _ = descriptor::send(&self.0, &word, output);
    }
}

/// The time that all processes of a machine share and nobody sets.
fn monotonic() -> Duration {
    ClockId::CLOCK_MONOTONIC.now().map_or(Duration::ZERO, Duration::from)
}

/// A word of the runner: the phase, the program's number or the exit status, and when it was said, in microseconds.
const WORD: usize = 1 + 4 + 8;

/// The half that the caller knows, before it watches.
#[derive(Debug)]
pub struct Guardian {
    runner: i32,
    socket: UnixStream,
    tree: Tree,
    awaited: Awaited,
}

/// A run whose runner has ended.
#[derive(Debug)]
pub struct Watched {
    /// How the runner ended.
    pub exit: Exit,
    /// The first signal that the caller sent.
    pub signal: Option<i32>,
    /// What the runner said.
    pub report: StatusReport,
    /// What it started.
    pub tree: Tree,
}

/// What a runner has said of its run.
#[derive(Debug)]
pub struct StatusReport {
    /// How far the run had come.
    pub phase: Phase,
    /// Where its last line goes.
    pub output: Option<OwnedFd>,
    /// Its program, and when that was started.
    program: Option<(i32, Duration)>,
    /// The exit status that goes with its last line, once that is written.
    pub status: Option<i32>,
}

impl Guardian {
    /// Passes on signals until the runner has ended, and continues it when something stops it. What the runner says meanwhile waits in the socket.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn watch(mut self) -> io::Result<Watched> {
        empty_stdin()?;
        let mut first = None;
        let exit = loop {
            if let Notice::User(signal) = self.awaited.wait()? {
                first.get_or_insert(signal);
                // A runner that is gone is seen by reaping it.
                let _ = self.socket.write_all(&[u8::try_from(signal).unwrap_or(0)]);
            } else if let Some(exit) = self.tree.reap(self.runner) {
                break exit;
            }
            // A stopped one hears nothing, and could not even be finished for.
            process::continue_child(self.runner);
        };
        // A process that the runner was about to start may have a copy of its end for a moment more.
        self.socket.set_nonblocking(true)?;
        Ok(Watched { exit, signal: first, report: StatusReport::by(&self.socket), tree: self.tree })
    }
}

impl StatusReport {
    /// What there is to hear.
    fn by(socket: &UnixStream) -> StatusReport {
        let mut report = StatusReport { phase: Phase::Preparing, output: None, program: None, status: None };
        while report.hear(socket) {}
        report
    }

    /// Takes the next word; whether there was one.
    fn hear(&mut self, socket: &UnixStream) -> bool {
        let mut word = [0; WORD];
        let Ok((WORD, output)) = descriptor::receive(socket, &mut word) else { return false };
        let [phase, a, b, c, d, micros @ ..] = word;
        let Some(&phase) = PHASES.get(usize::from(phase)) else { return false };
        match phase {
            Phase::Opened => self.output = output,
            Phase::Started => {
                let at = Duration::from_micros(u64::from_le_bytes(micros));
                self.program = Some((i32::from_le_bytes([a, b, c, d]), at));
            }
            Phase::Sealed => self.status = Some(i32::from_le_bytes([a, b, c, d])),
            _ => {}
        }
        self.phase = phase;
        true
    }

    /// The time since the program was started; none when it was not.
    pub fn elapsed(&self) -> Duration {
        self.program.map_or(Duration::ZERO, |(_, at)| monotonic().saturating_sub(at))
    }
}

impl Watched {
    /// Ends what the dead runner has left alive; each of the two steps before KILL may take `grace`. Whether a process is
    /// left that did not die of KILL.
    pub fn end(&self, grace: Duration) -> bool {
        let (notify, notices) = unbounded();
        // Without a thread to be had nobody can shorten the steps.
        let _ = signals::notify_and_outlive(notify);
        let program = self.report.program.filter(|_| self.report.phase == Phase::Started);
        supervise::take_over(&self.tree, program.map(|(pid, _)| pid), grace, &notices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn a_signal_that_comes_both_ways_is_one() {
        use Source::{Direct, PassedOn};
        let news = |sources: &[Source]| {
            let mut seen = SignalDedup::default();
            sources.iter().filter(|&&source| seen.take(source)).count()
        };
        assert_eq!(news(&[Direct, PassedOn]), 1);
        assert_eq!(news(&[PassedOn, PassedOn]), 2);
        assert_eq!(news(&[Direct, Direct, PassedOn, PassedOn, PassedOn]), 3);
    }

    #[test]
    fn words_arrive_with_what_they_carry() {
        let (one, other) = UnixStream::pair().unwrap();
        let teller = StatusWriter(Arc::new(one));
        let (mut reader, writer) = io::pipe().unwrap();
        teller.phase(Phase::Opening);
        teller.opened(Some(&Output::of(writer).unwrap()));
        let before = monotonic();
        teller.started(4711);
        teller.sealed(70);
        drop(teller);
        let report = StatusReport::by(&other);
        assert_eq!((report.phase, report.status), (Phase::Sealed, Some(70)));
        let (program, at) = report.program.unwrap();
        assert_eq!(program, 4711);
        assert!(at + Duration::from_micros(1) > before && at <= monotonic());
        File::from(report.output.unwrap()).write_all(b"x").unwrap();
        let mut got = String::new();
        reader.read_to_string(&mut got).unwrap();
        assert_eq!(got, "x");
    }
}
