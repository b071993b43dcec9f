//! Stopping a run in the middle of a command: by the limit, and by signals to the launcher.
//!
//! Facts: "Processes" in common/CODEX.md.

use nix::sys::signal::Signal::{self, SIGINT, SIGTERM};
use serde_json::json;

use super::sleeper::{SANDBOXES, Sleeper};
use super::{launch, progress, stream, world};
use crate::harness::codex::with_codex;
use crate::harness::wait::{SOON, seconds, wait_until};

fn a_signal_to_the_launcher(version: &str, signal: Signal) {
    for sandbox in SANDBOXES {
        let sleeper = Sleeper::new();
        let world = world(version, &sleeper.scenario());
        let running = launch(&world).args(["--sandbox", sandbox, "--kill-grace", "60"]).start();
        assert!(sleeper.has_begun(&running, &world), "{sandbox}");
        running.signal(signal);
        let ran = running.end();
        sleeper.is_gone();
        // Codex ends at the INT that comes first, so that nothing of the grace is spent.
        ran.exits(128 + signal as i32).took(seconds(0), seconds(30));
        progress(&world).failed_by("cancelled").last("item.started", Some("command_execution"));
        assert!(!world.path("r").exists());
    }
}

fn term(version: &str) {
    a_signal_to_the_launcher(version, SIGTERM);
}

fn int(version: &str) {
    a_signal_to_the_launcher(version, SIGINT);
}

fn the_limit(version: &str) {
    for sandbox in SANDBOXES {
        // The command has to have begun; how soon that is depends on how busy the machine is.
        let in_time = [2, 4, 8, 16, 32].into_iter().find(|limit| the_limit_of(version, sandbox, *limit));
        assert!(in_time.is_some(), "the command never began in time");
    }
}

/// Runs into a limit, and says whether the command slept by then.
fn the_limit_of(version: &str, sandbox: &str, limit: u64) -> bool {
    let sleeper = Sleeper::new();
    let world = world(version, &sleeper.scenario());
    let launcher = launch(&world).args(["--sandbox", sandbox, "--timeout-seconds", &limit.to_string()]);
    let running = launcher.start();
    let begun = sleeper.has_begun(&running, &world);
    let ran = running.end();
    sleeper.is_gone();
    ran.exits(124).took(seconds(limit), seconds(limit + 20));
    let progress = progress(&world);
    assert!((limit..limit + 20).contains(&progress.failed_by("timeout").elapsed_seconds()));
    assert!(!world.path("r").exists());
    begun
}

/// Killed in the middle of a sandboxed command, Codex leaves the folders over which its sandbox has mounted something.
fn empty_folders_of_the_sandbox_are_removed(version: &str) {
    let sleeper = Sleeper::new();
    let world = world(version, &sleeper.scenario());
    let running = launch(&world).args(["--kill-grace", "0"]).start();
    assert!(sleeper.has_begun(&running, &world));
    let guarded =
        || [".agents", ".codex", ".aws"].into_iter().filter(|name| world.workspace().join(name).exists());
    let during: Vec<_> = guarded().collect();
    running.signal(SIGTERM);
    running.end().exits(143);
    sleeper.is_gone();
    assert!(!during.is_empty(), "the sandbox has made no folder");
    assert_eq!(guarded().count(), 0, "{during:?}");
    assert!(world.workspace().join(".git").is_dir());
}

fn at_any_moment(version: &str) {
    // Soon after the first of these events Codex hears no INT, and no later one either (0.156.1, 0.171.0).
    for moment in ["", "\"thread.started\"", "\"turn.started\"", "\"agent_message\""] {
        let world = world(version, &json!({"answers": [[{"message": "Half."}, "hang"]]}));
        let running = launch(&world).args(["--kill-grace", "1"]).start();
        wait_until("the moment has come", SOON, || {
            world.path("p").exists() && stream(&world).contains(moment)
        });
        running.signal(SIGTERM);
        running.end().exits(143).took(seconds(0), seconds(30));
        progress(&world).failed_by("cancelled");
        assert!(!world.path("r").exists());
    }
}

with_codex! { [v0_156_1 v0_171_0] at_any_moment empty_folders_of_the_sandbox_are_removed }
with_codex! { [v0_98_0 v0_156_1 v0_171_0] term int the_limit }
