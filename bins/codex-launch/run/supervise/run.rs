//! The event loop of a supervised run: passes events to the plan and does what it decides.

use super::plan::{Action, Ended, Happening, Leftovers, Limits, Plan};
use super::pulse::Pulse;
use super::tree::{Descendant, Tree};
use common::edge::signals::Notice;
use common::sys::process::{self, Exit};
use crossbeam_channel::{Receiver, RecvTimeoutError};
use nix::sys::signal::Signal;
use std::time::{Duration, Instant};

/// Time between two looks, without a notice, whether the leftover processes are gone: a process deep in the tree is reaped
/// by its own parent, of which no notice comes.
const LOOK: Duration = Duration::from_millis(2);

/// Time between two looks, without a notice, whether the program has ended. The notice of a child's end is not lost, as far
/// as is known: this is a safety net.
const NET: Duration = Duration::from_secs(5);

/// Time between two looks, without a notice, whether the leftover processes have ended by themselves. Each of them is or
/// becomes a child of this process, whose end is a notice: a safety net too.
const GLANCE: Duration = Duration::from_millis(50);

/// A run that is over.
#[derive(Debug)]
pub struct Over {
    /// How it came to its end.
    pub ended: Ended<Exit>,
    /// The processes that the program left although its work was done: those that were ended after their grace or, with
    /// `--keep-leftovers`, those that live on.
    pub leftovers: Vec<Descendant>,
}

/// Waits until the program with process number `pid`, started at `started`, and everything the run has started are
/// gone, ending them when a limit or a notice says so.
pub fn run(
    tree: &Tree,
    pid: i32,
    started: Instant,
    mut limits: Limits,
    pulse: Option<&Pulse>,
    notices: &Receiver<Notice>,
) -> Over {
    if !tree.finds_descendants() && limits.leftovers != Leftovers::Keep {
        // Nobody could say when they have ended, so every run would wait for them.
        limits.leftovers = Leftovers::Grace(Duration::ZERO);
    }
    let (plan, status_counts) = (Plan::new(limits), limits.status_counts);
    let leftovers = Vec::new();
    let mut run = Run { tree, pid, reaped: false, killed: false, plan, status_counts, leftovers };
    loop {
        let now = started.elapsed();
        let done = pulse.and_then(|pulse| pulse.done_since(started));
        run.step(Happening::Done(done), now);
        run.look(now);
        run.step(Happening::Tick, now);
        if let Some(ended) = run.plan.ended() {
            return Over { ended, leftovers: run.leftovers };
        }
        let wait = run.plan.due().saturating_sub(now).min(run.pause());
        match notices.recv_timeout(wait) {
            Ok(Notice::User(signal)) => run.step(Happening::User(signal), started.elapsed()),
            Ok(Notice::Halt) => run.step(Happening::Halt, started.elapsed()),
            Ok(Notice::Abandoned) => run.step(Happening::Abandon, started.elapsed()),
            Ok(Notice::Child | Notice::Done) | Err(RecvTimeoutError::Timeout) => {}
            // No notice can come any more; time still passes.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(wait),
        }
    }
}

/// Ends the processes of a run whose runner died: the program `pid`, if it may be there, by the same steps as at a time
/// limit, and all that the run started. Returns whether a process is left that did not die of KILL.
pub fn take_over(tree: &Tree, pid: Option<i32>, grace: Duration, notices: &Receiver<Notice>) -> bool {
    match pid.filter(|&pid| tree.can_take_over(pid)) {
        Some(pid) => {
            let limits = Limits {
                time: Duration::ZERO,
                grace,
                linger: Duration::MAX,
                leftovers: Leftovers::Grace(Duration::ZERO),
                status_counts: true,
            };
            run(tree, pid, Instant::now(), limits, None, notices).ended.left
        }
        None => tree.kill_descendants(),
    }
}

struct Run<'a> {
    tree: &'a Tree,
    pid: i32,
    /// Whether the program was reaped: from then on its number may belong to another process.
    reaped: bool,
    /// Whether what the program left was sent KILL.
    killed: bool,
    plan: Plan<Exit>,
    /// Whether a status other than 0 is a failure.
    status_counts: bool,
    leftovers: Vec<Descendant>,
}

impl Run<'_> {
    /// How long to wait for a notice.
    fn pause(&self) -> Duration {
        match (self.plan.is_looking(), self.plan.is_leaving()) {
            (false, _) => NET,
            (_, true) => GLANCE,
            _ => LOOK,
        }
    }

    /// Looks whether the program has ended and, if so, whether anything is left.
    fn look(&mut self, now: Duration) {
        let unseen = || self.tree.is_out_of_sight(self.pid).then_some(Exit::Signal(Signal::SIGKILL as i32));
        let exit = self.tree.reap(self.pid).or_else(unseen);
        let looking = self.plan.is_looking();
        if let (Some(exit), false) = (exit, looking) {
            self.reaped = self.tree.finds_descendants();
            let happening = match self.is_alone() {
                true => Happening::Gone,
                false if self.status_counts && exit != Exit::Code(0) => Happening::Failed,
                false => Happening::Exited,
            };
            self.step(happening(exit), now);
        } else if looking && self.is_alone() {
            self.step(Happening::Alone, now);
        }
    }

    /// Whether nothing is left. Where only the group is known nothing can be seen of it, as long as the program
    /// that leads it is not reaped; so it is taken to be there until it was sent KILL.
    fn is_alone(&self) -> bool {
        if self.tree.finds_descendants() { self.tree.is_alone() } else { self.killed }
    }

    fn step(&mut self, happening: Happening<Exit>, now: Duration) {
        let was_leaving = self.plan.is_leaving();
        let action = self.plan.step(happening, now);
        let is_alone = happening == Happening::Alone;
        let grace_is_over = was_leaving && !self.plan.is_leaving() && self.plan.is_done() && !is_alone;
        let had_no_grace = matches!(happening, Happening::Exited(_)) && self.plan.is_clearing();
        if grace_is_over || had_no_grace {
            self.leftovers = self.tree.descendants();
        }
        match action {
            None => {}
            Some(Action::Interrupt) => self.ask(Signal::SIGINT),
            Some(Action::Terminate) => self.ask(Signal::SIGTERM),
            Some(Action::TerminateLeftovers) => {
                self.signal_group(Signal::SIGTERM);
                self.tree.signal_all(Signal::SIGTERM);
            }
            Some(Action::Kill) => {
                if !self.killed {
                    self.tree.kill_nested();
                }
                self.signal_group(Signal::SIGKILL);
                if self.reaped {
                    self.tree.ignore_sigchld();
                    self.tree.kill_all();
                } else {
                    // That would reap the program too, once it is dead, and how it ended is still to be learned.
                    self.tree.signal_all(Signal::SIGKILL);
                }
                self.killed = self.plan.is_looking();
            }
        }
    }

    /// Sends `signal` to the group, and CONT after it: a stopped process acts on no signal but KILL.
    fn ask(&self, signal: Signal) {
        self.signal_group(signal);
        self.signal_group(Signal::SIGCONT);
    }

    fn signal_group(&self, signal: Signal) {
        if !self.reaped {
            process::signal_group(self.pid, signal);
        }
    }
}
