//! Processes that multiply faster than they can be listed are ended all the same, every time.
//!
//! `CODEX_FILTERS_BOMB_ROUNDS` says how many rounds there are.

use std::process::Command;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};

use super::number;
use super::world::Cgroup;
use crate::harness::filter::{binary, filter};
use crate::harness::progress::Progress;
use crate::harness::scratch::Scratch;
use crate::harness::script::{S, Script, T};
use crate::harness::wait::{SOON, wait_until};

/// How a round ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// Codex ends with status 0 and leaves them.
    Well,
    /// The time limit.
    Limit,
    /// The half of the launcher that does the work is killed.
    RunnerKilled,
}

#[test]
fn a_fork_bomb_is_ended_in_every_round() {
    let scratch = Scratch::new();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/bomb.c");
    let bomb = scratch.path("bomb");
    let args = ["-Wall", "-Wextra", "-Werror", "-o"];
    let made = Command::new("cc").args(args).arg(&bomb).arg(source).status().expect("a C compiler");
    assert!(made.success());
    for number in 0..number("CODEX_FILTERS_BOMB_ROUNDS").unwrap_or(20) {
        let end = [End::Well, End::Limit, End::RunnerKilled][usize::try_from(number % 3).expect("0 to 2")];
        // Without a limit on its processes the second kind would take the machine with it.
        let kind = if number % 2 == 1 && Cgroup::is_to_be_had() { "bomb" } else { "relay" };
        let count = 8 + u32::try_from(number % 23).expect("a small number");
        println!("round {number}: {kind} of {count}, {end:?}");
        round(&bomb.display().to_string(), kind, count, end);
    }
}

fn round(bomb: &str, kind: &str, count: u32, end: End) {
    let scratch = Scratch::git();
    // The dead count until they are buried: there must be process numbers left for others on this machine.
    let room = if kind == "bomb" { 2 * count + 1 } else { 2000 };
    let cgroup = Cgroup::is_to_be_had().then(|| Cgroup::new(Some(room)));
    let procs = cgroup.as_ref().map_or(String::new(), |cgroup| cgroup.procs().display().to_string());
    let generations = || {
        let bytes = if scratch.has("generations") { scratch.read("generations") } else { vec![] };
        bytes.try_into().map_or(0, u64::from_ne_bytes)
    };
    let how = if matches!(end, End::Well) { "well" } else { "never" };
    let command = format!("exec '{bomb}' {kind} {count} generations '{procs}' {how}");
    let script = Script::good().no_answer().sh(&command);
    let limit = if matches!(end, End::Limit) { "1" } else { "100" };
    let running = filter("codex-launch")
        .arg("--codex")
        .arg(binary("fake-codex"))
        .args(["--progress-file=p", "--result-file=r", "--kill-grace=0.2", "--timeout-seconds", limit])
        .env("FAKE_CODEX_SCRIPT", script.write_to(&scratch))
        .dir(scratch.dir())
        .stdin("do it")
        .start();
    if matches!(end, End::RunnerKilled) {
        let runner = running.runner();
        wait_until("the bomb has gone off", SOON, || generations() >= u64::from(count));
        kill(runner, Signal::SIGKILL).expect("killing a half");
    }
    let ran = running.end();
    let at_the_end = generations();
    // What is exact, and what there is to see without it.
    if let Some(cgroup) = &cgroup {
        assert_eq!(cgroup.living(), 0, "{kind} of {count}, {end:?}\n{ran}");
    }
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(generations(), at_the_end, "{kind} of {count}, {end:?}\n{ran}");
    }
    assert!(at_the_end >= u64::from(count), "{at_the_end} generations\n{ran}");
    ran.took(Duration::ZERO, Duration::from_secs(40)).stderr_lacks("leftovers");
    let progress = Progress::read(scratch.path("p"));
    assert_eq!(progress.events[..2], [T, S]);
    match end {
        End::Well => progress.completed(),
        End::Limit => progress.failed_by("timeout"),
        End::RunnerKilled => progress.failed(125, "lost"),
    };
    ran.exits(match end {
        End::Well => 0,
        End::Limit => 124,
        End::RunnerKilled => 125,
    });
}
