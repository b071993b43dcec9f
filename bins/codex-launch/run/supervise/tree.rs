//! The process tree of a run: finds, signals and reaps every descendant.
//!
//! Codex starts each shell command in a session of its own, and such a command survives a signal to Codex's group
//! (measured with 0.156.1 and 0.171.0). A process can leave its tree in three ways. What the Linux kernel says of each:
//!
//! 1. *A new session or group* (setsid, setpgid) changes no parent. Parent links lead to it as before.
//! 2. *A new parent.* An orphan becomes the child of its nearest living ancestor that is a subreaper, which this process
//!    is (PR_SET_CHILD_SUBREAPER, prctl(2)). So each process of the run stays a descendant of this one for as long as it
//!    lives. No process can take itself or another one out of that: a parent cannot be chosen.
//! 3. *A new pid namespace.* A process that is put into another one (unshare, setns) has a number in ours too, and stays
//!    the child of its parent, so it is found and ended. The first process of a namespace that the run made is a
//!    descendant, and its end is the end of all in it. What ends is rule 2: inside a namespace orphans go to a subreaper
//!    of that namespace or to its first process, and where that one was there before the run, they are no descendants of
//!    this process any more (find_new_reaper, kernel/exit.c). Entering such a namespace takes the rights to it: those of
//!    root, or of the user who made it.
//!
//! The converse holds where this process had no children when it became a subreaper, and was none before: then each
//! child that it ever gets, it started, or it is an orphan whose ancestors it started. So "descendant of this process"
//! and "process of the run" are the same, nothing else need be known of a process, and nobody else's is ever signalled.
//! `guardian::fork` sees to that.
//!
//! Whether anybody is left is not a question for /proc, in which a process that starts its successor and ends, over and
//! over, can be missed: a living descendant hangs, through living or dead parents, on a child of this process. So
//! waitpid(2) knows: "no children", once the dead are reaped, is exact.
//!
//! Where the kernel does not do this, there is the program's process group alone, and [`Tree::why_group_alone`] says why.

use common::sys::process::{self, Exit, Reaped};
use common::sys::process_table::{self, Process, ProcessTable};
use nix::errno::Errno;
use nix::sys::signal::Signal;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// How long one KILL to everything goes after processes that replace themselves meanwhile.
const BURST: Duration = Duration::from_millis(20);

/// How often processes in other pid namespaces are stopped before they are killed. Each round but the last finds a process
/// that was forked meanwhile.
const MOST_STOPS: usize = 20;

/// How many dead are reaped at a time. Processes that replace themselves without end can die faster than that.
const MOST_REAPED: usize = 1000;

/// How long [`Tree::kill_descendants`] goes on: most processes die of KILL at once, and one that the kernel holds is not
/// waited for longer than two seconds.
const KILLING: Duration = Duration::from_secs(2);
const KILLING_PAUSE: Duration = Duration::from_millis(2);

/// The processes of one run.
#[derive(Debug)]
pub struct Tree {
    table: &'static dyn ProcessTable,
    /// Why descendants cannot be found, where they cannot: then only the program's group is known.
    why_group_alone: Option<String>,
}

/// A living process of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descendant {
    /// Its number.
    pub pid: i32,
    /// The name of its program, as `ps` shows it. The process chose it, so it may hold any character.
    pub name: String,
    /// Whether this process may signal it. It may not when another user owns it, as what `sudo` starts.
    pub may_be_signalled: bool,
}

impl Tree {
    /// The descendants of this process, which becomes their subreaper. It has none yet.
    pub fn new() -> Tree {
        let table = process_table::here();
        let why_group_alone = table.become_subreaper().err().map(|error| error.to_string());
        Tree { table, why_group_alone }
    }

    /// Whether this process could get children that it did not start: it has some already, or orphans of others are
    /// reparented to it. [`Tree::new`] must not be called in such a process.
    pub(crate) fn has_preexisting() -> bool {
        process_table::here().has_children_of_others()
    }

    /// Reaps the dead, and says how `program` ended if it is among them. Where only the group is known, `program` is not
    /// reaped, so that the group's number stays its own.
    pub(crate) fn reap(&self, program: i32) -> Option<Exit> {
        if !self.finds_descendants() {
            return process::peek(program);
        }
        // The dead come in the order in which this process got them, so the program is among the first.
        let mut dead = (0..MOST_REAPED).map_while(|_| match process::reap_any() {
            Reaped::Child(pid, exit) => Some((pid, exit)),
            Reaped::NoneDead | Reaped::NoChildren => None,
        });
        dead.find(|&(pid, _)| pid == program).map(|(_, exit)| exit)
    }

    /// Whether no process of the run is alive. The dead are reaped first, so the program must have been.
    pub(super) fn is_alone(&self) -> bool {
        reap_all() == Reaped::NoChildren
    }

    /// Sends `signal` to every living process of the run.
    pub(super) fn signal_all(&self, signal: Signal) {
        for process in self.processes() {
            // One that is gone or may not be signalled is seen by looking again.
            let _ = self.table.signal(&process, Some(signal));
        }
    }

    /// Kills those in other pid namespaces, children no later than their parents: who is orphaned there may go to a first
    /// process that is none of the run's. So they are stopped first, until there are none that were not.
    pub(super) fn kill_nested(&self) {
        let mut stopped = HashSet::new();
        for _ in 0..MOST_STOPS {
            let mut nested = self.processes();
            nested.retain(|process| self.table.is_nested(process));
            let before = stopped.len();
            stopped.extend(nested.iter().map(|process| process.pid));
            let signal = if stopped.len() == before { Signal::SIGKILL } else { Signal::SIGSTOP };
            for process in &nested {
                let _ = self.table.signal(process, Some(signal));
            }
            if signal == Signal::SIGKILL {
                return;
            }
        }
    }

    /// Sends KILL to every living process of the run, and for a moment to those that come after: a process that
    /// starts its successor and ends is soon a child of this one, and children can be listed faster than it lives.
    /// The dead are reaped, so the program must have been.
    pub(super) fn kill_all(&self) {
        let start = Instant::now();
        while self.finds_descendants() && reap_all() == Reaped::NoneDead && start.elapsed() < BURST {
            let Some(children) = self.table.children() else { break };
            children.into_iter().for_each(process::kill_child);
        }
        self.signal_all(Signal::SIGKILL);
    }

    /// Ignores SIGCHLD: the kernel reaps whatever ends, and exit statuses are lost. From then on the lists of children
    /// have only the living: where thousands die in the time that one such list takes, no living one would be found among
    /// them.
    pub(super) fn ignore_sigchld(&self) {
        if self.finds_descendants() {
            process::ignore_sigchld();
            // No more of them come.
            while matches!(process::reap_any(), Reaped::Child(..)) {}
        }
    }

    /// Kills every descendant of this process, where nothing was launched yet and nothing is to be saved. Whether one is
    /// left.
    pub fn kill_descendants(&self) -> bool {
        self.ignore_sigchld();
        let start = Instant::now();
        while self.finds_descendants() && !self.is_alone() && start.elapsed() < KILLING {
            self.kill_all();
            std::thread::sleep(KILLING_PAUSE);
        }
        self.finds_descendants() && !self.is_alone()
    }

    /// Whether `program`, which another process started, is gone with its group; nobody tells how it ended.
    pub(super) fn is_out_of_sight(&self, program: i32) -> bool {
        !self.finds_descendants() && !process::is_child(program) && !process::has_group(program)
    }

    /// Whether a run that another process began can be ended by `program`: the group is its own.
    pub(super) fn can_take_over(&self, program: i32) -> bool {
        if self.finds_descendants() { process::is_child(program) } else { process::has_group(program) }
    }

    /// Whether descendants can be found, or else only the group.
    pub(super) fn finds_descendants(&self) -> bool {
        self.why_group_alone.is_none()
    }

    /// Why only the program's process group can be ended, where descendants cannot be found.
    pub fn why_group_alone(&self) -> Option<&str> {
        self.why_group_alone.as_deref()
    }

    /// The living processes of the run; none where they cannot be found. Each is named by number and program.
    pub fn descendants(&self) -> Vec<Descendant> {
        let describe = |process: Process| {
            Some(Descendant {
                pid: process.pid,
                name: self.table.name(&process)?,
                may_be_signalled: self.table.signal(&process, None) != Err(Errno::EPERM),
            })
        };
        self.processes().into_iter().filter_map(describe).collect()
    }

    fn processes(&self) -> Vec<Process> {
        if self.finds_descendants() { self.table.descendants() } else { Vec::new() }
    }
}

/// Reaps all dead children, if they are not too many: what is there afterwards.
fn reap_all() -> Reaped {
    let mut looks = (0..MOST_REAPED).map(|_| process::reap_any());
    looks.find(|found| !matches!(found, Reaped::Child(..))).unwrap_or(Reaped::NoneDead)
}

impl Default for Tree {
    fn default() -> Tree {
        Tree::new()
    }
}
