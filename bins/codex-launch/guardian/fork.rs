//! Splits the launcher into its processes.
//!
//! The *guardian* forks the *runner* before there is anything to lose. From then on it passes on signals, and its exit
//! status is the runner's. The runner does the work, and reports to the guardian how far the run has come.
//!
//! Which of the two finishes a run is decided by which of them is dead, and not by timing: the guardian acts once it has
//! reaped the runner, and the runner acts once the guardian has closed its socket. Orphaned descendants of the runner are
//! reparented to the guardian, so it finds what the runner started. A guardian that was started beside the runner, and
//! not as its parent, could not find those processes.
//!
//! The guardian is the process that the caller started, unless that one can get children which do not belong to the run:
//! a shell that became this program with `exec` may have left some (`exec codex-launch > >(tee log)`), and the first
//! process of a container, or a process that was a subreaper already, gets the orphans of others. Such a process becomes
//! the *caller's end*: it is no subreaper, so orphans of its children go where they would have gone without it. It forks
//! the guardian, passes on signals and the exit status. When it is killed, the kernel kills the guardian, and the runner
//! finishes as it does after the guardian's death.

use super::signals::RunnerEnd;
use super::watch::{Guardian, empty_stdin};
use crate::run::supervise::{Exit, Tree};
use common::edge::signals::{Awaited, Notice};
use common::sys::process::{self, Reaped};
use std::io;
use std::os::unix::net::UnixStream;

/// Which of the processes this one is.
#[derive(Debug)]
pub enum Half {
    /// The one that the caller started, where that is not the guardian.
    CallersEnd(CallersEnd),
    /// The one that finishes the run when the runner dies.
    Guardian(Box<Guardian>),
    /// The one that does the work.
    Runner(RunnerEnd),
}

/// Forks this process, which has one thread, into two or three. The number is that of the process that forked this one and
/// waits for its end.
///
/// None of them can be traced or inspected by another process of the same user: the run could stop one for ever, or read
/// from its memory what was removed from its environment. The price: a debugger has to start the launcher or be root's,
/// and there are no core dumps.
///
/// # Errors
/// When there is no process or no socket to be had.
pub fn split(awaited: Awaited) -> io::Result<(Half, Option<i32>)> {
    process::refuse_tracers();
    let caller = std::process::id().cast_signed();
    let is_apart = Tree::has_preexisting();
    if is_apart {
        if let Some(guardian) = process::fork()? {
            return Ok((Half::CallersEnd(CallersEnd { guardian, awaited }), None));
        }
        if !process::end_with_parent(caller) {
            return Err(io::Error::other("the process that was started has ended"));
        }
    }
    let tree = Tree::new();
    let guardian = std::process::id().cast_signed();
    let (ours, runners) = UnixStream::pair()?;
    let Some(child) = process::fork()? else {
        return Ok((Half::Runner(RunnerEnd::new(runners, guardian)), Some(guardian)));
    };
    if is_apart {
        // Signals to the group reach the caller's end, which passes them on: here they would be counted twice.
        process::lead_own_group();
    }
    let guardian = Guardian::new(child, ours, tree, awaited);
    Ok((Half::Guardian(Box::new(guardian)), is_apart.then_some(caller)))
}

/// The process that the caller started, in front of the guardian.
#[derive(Debug)]
pub struct CallersEnd {
    guardian: i32,
    awaited: Awaited,
}

impl CallersEnd {
    /// Passes on signals until the guardian has ended, and returns how it ended. Reaps the children of others meanwhile.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn wait(mut self) -> io::Result<Exit> {
        empty_stdin();
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
