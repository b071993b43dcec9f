//! A signal to Codex itself in the middle of a command.
//!
//! Facts: "How a run ends", "Processes" in common/CODEX.md.

use nix::sys::signal::Signal::{self, SIGINT, SIGKILL, SIGTERM};
use nix::sys::signal::kill;
use nix::unistd::Pid;

use super::sleeper::{SANDBOXES, Sleeper};
use super::{launch, progress, world};
use crate::harness::codex::with_codex;
use crate::harness::running::Running;
use crate::harness::sweep::children;
use crate::harness::wait::seconds;

/// The two processes that are Codex.
pub(super) struct Codex {
    /// The one that the launcher starts, `node`.
    pub(super) shim: Pid,
    /// Its child, which does the work.
    pub(super) native: Pid,
}

impl Codex {
    /// The Codex of a launcher, in the middle of its run.
    #[track_caller]
    pub(super) fn of(launcher: &Running) -> Codex {
        let shim = only_child(launcher.runner(), "node ");
        Codex { shim, native: only_child(shim, "/") }
    }
}

#[track_caller]
fn only_child(parent: Pid, beginning: &str) -> Pid {
    let children = children(parent);
    let [child] = children.as_slice() else { panic!("not one child of {parent}: {children:?}") };
    assert!(child.command.starts_with(beginning) && child.command.contains("exec --json"), "{child:?}");
    child.pid
}

/// Sends a signal to the process that `victim` chooses while a command runs. The run has failed with this status and
/// for this cause, and the command is gone.
fn ends(version: &str, victim: impl Fn(Codex) -> Pid, signal: Signal, (status, cause): (i32, &str)) {
    for sandbox in SANDBOXES {
        let sleeper = Sleeper::new();
        let world = world(version, &sleeper.scenario());
        let running = launch(&world).args(["--sandbox", sandbox]).start();
        assert!(sleeper.has_begun(&running, &world), "{sandbox}");
        kill(victim(Codex::of(&running)), signal).expect("signalling Codex");
        let ran = running.end();
        sleeper.is_gone();
        ran.exits(status).took(seconds(0), seconds(30));
        progress(&world).failed(status, cause).last("item.started", Some("command_execution"));
        assert!(!world.path("r").exists());
    }
}

fn kill_the_native_codex(version: &str) {
    ends(version, |codex| codex.native, SIGKILL, (137, "killed"));
}

fn kill_the_shim_around_it(version: &str) {
    ends(version, |codex| codex.shim, SIGKILL, (137, "killed"));
}

fn term(version: &str) {
    // Only 0.171.0 dies of it; the others end as if all were well.
    let ending = if version == "0.171.0" { (143, "killed") } else { (70, "incomplete") };
    ends(version, |codex| codex.native, SIGTERM, ending);
}

fn int(version: &str) {
    let ending = if version == "0.98.0" { (70, "incomplete") } else { (1, "") };
    ends(version, |codex| codex.native, SIGINT, ending);
}

with_codex! { [v0_98_0 v0_156_1 v0_171_0] kill_the_native_codex kill_the_shim_around_it term int }
