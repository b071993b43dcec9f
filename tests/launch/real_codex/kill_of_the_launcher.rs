//! KILL of one of the launcher's two processes in the middle of a command.
//!
//! Facts: "Processes" in common/CODEX.md.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal::SIGKILL;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use super::signals_to_codex::Codex;
use super::sleeper::{SANDBOXES, Sleeper};
use super::{launch, progress, stream, world};
use crate::harness::codex::with_codex;
use crate::harness::running::Running;
use crate::harness::sweep::is_alive;
use crate::harness::wait::{SOON, seconds, wait_until};

/// What `--kill-grace` is without being said, and a second.
const PROMISED: Duration = Duration::from_secs(5 + 1);

/// Kills the half that `victim` chooses while a command runs: soon there is a sentinel, with this status, and neither
/// the command nor Codex.
fn loses(version: &str, victim: fn(&Running) -> Pid, status: i32) {
    for sandbox in SANDBOXES {
        let sleeper = Sleeper::new();
        let world = world(version, &sleeper.scenario());
        let running = launch(&world).args(["--sandbox", sandbox]).linger(seconds(30)).start();
        assert!(sleeper.has_begun(&running, &world), "{sandbox}");
        let codex = Codex::of(&running);
        let killed = Instant::now();
        kill(victim(&running), SIGKILL).expect("killing a half");
        wait_until("there is a sentinel", SOON, || stream(&world).contains("\"handoff."));
        assert!(killed.elapsed() < PROMISED, "{:?}", killed.elapsed());
        sleeper.is_gone();
        assert!(!is_alive(codex.shim) && !is_alive(codex.native), "{sandbox}");
        running.end();
        progress(&world).failed(status, "lost").last("item.started", Some("command_execution"));
        assert!(!world.path("r").exists());
    }
}

fn the_one_that_the_caller_knows(version: &str) {
    loses(version, Running::pid, 137);
}

fn the_one_that_does_the_work(version: &str) {
    loses(version, Running::runner, 125);
}

with_codex! { [v0_156_1 v0_171_0] the_one_that_the_caller_knows the_one_that_does_the_work }
