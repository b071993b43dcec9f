//! Codex itself is killed in the middle of a command.

use nix::sys::signal::Signal::SIGKILL;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use super::sleeper::{SANDBOXES, Sleeper};
use super::{launch, progress, world};
use crate::harness::codex::with_codex;
use crate::harness::running::Running;
use crate::harness::sweep::children;
use crate::launch::seconds;

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
        let shim = only_child(launcher.pid(), "node ");
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

/// Kills the process that `victim` chooses.
fn killed(version: &str, victim: impl Fn(Codex) -> Pid) {
    for sandbox in SANDBOXES {
        let sleeper = Sleeper::new();
        let world = world(version, &sleeper.scenario());
        let running = launch(&world).args(["--sandbox", sandbox]).start();
        assert!(sleeper.has_begun(&running, &world), "{sandbox}");
        kill(victim(Codex::of(&running)), SIGKILL).expect("killing Codex");
        let ran = running.end();
        sleeper.is_gone();
        ran.exits(137).took(seconds(0), seconds(30)).stderr_has("codex was killed by SIGKILL");
        progress(&world).failed(137, "killed").last("item.started", Some("command_execution"));
        assert!(!world.path("r").exists());
    }
}

fn the_native_codex(version: &str) {
    killed(version, |codex| codex.native);
}

fn the_shim_around_it(version: &str) {
    killed(version, |codex| codex.shim);
}

with_codex! { [v0_98_0 v0_156_1 v0_171_0] the_native_codex the_shim_around_it }
