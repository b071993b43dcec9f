//! A command of the agent that would go on for an hour, under a name that no other process of the machine has.

use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::Signal::SIGKILL;
use nix::sys::signal::kill;
use serde_json::{Value, json};

use super::stream;
use crate::harness::codex::World;
use crate::harness::running::Running;
use crate::harness::sweep::{Process, is_alive, with_words};
use crate::harness::wait::{SOON, wait_until};

/// The sandboxes in which the agent may start anything. They differ in what outlives Codex: under
/// `danger-full-access` a command's own children do, under `workspace-write` newer ones die with a namespace.
pub(super) const SANDBOXES: [&str; 2] = ["danger-full-access", "workspace-write"];

/// A `sleep` of a number of seconds that is nobody else's.
pub(super) struct Sleeper {
    seconds: String,
}

impl Sleeper {
    pub(super) fn new() -> Sleeper {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        Sleeper { seconds: format!("3333.{}{next:04}", std::process::id()) }
    }

    /// The command.
    pub(super) fn command(&self) -> String {
        format!("sleep {}", self.seconds)
    }

    /// A model that has Codex sleep as a part of something longer.
    pub(super) fn scenario(&self) -> Value {
        // Codex asks again when the command takes long.
        json!({"answers": [{"command": format!("bash -c '{}; echo done'", self.command())}, "hang"]})
    }

    /// All of them on this machine.
    pub(super) fn processes(&self) -> Vec<Process> {
        with_words(&["sleep", &self.seconds])
    }

    /// Returns when it sleeps, or the launcher has ended; whether it sleeps.
    pub(super) fn has_begun(&self, launcher: &Running, world: &World) -> bool {
        let mut begun = false;
        wait_until("the command sleeps, or the launcher has ended", SOON, || {
            // To look at all processes is much work, and Codex has to start meanwhile.
            begun = stream(world).contains("\"command_execution\"") && !self.processes().is_empty();
            begun || !is_alive(launcher.pid())
        });
        begun
    }

    /// None is left.
    #[track_caller]
    pub(super) fn is_gone(&self) {
        let left = self.processes();
        assert!(left.is_empty(), "{left:?}");
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        // Those of a test that fails. Not all of them carry the mark of their launcher.
        for process in self.processes() {
            // It may have ended by itself.
            let _ = kill(process.pid, SIGKILL);
        }
    }
}
