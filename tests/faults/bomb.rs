//! Processes that multiply faster than they can be listed are ended all the same, every time.
//!
//! `CODEX_FILTERS_BOMB_ROUNDS` says how many rounds there are.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Uid;

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

/// What keeps the processes from taking all process numbers of the machine.
enum Fence {
    /// A cgroup of their own, which also tells how many there are.
    Cgroup(Cgroup),
    /// The most processes that this user may have when one of them starts another. It holds for nobody else.
    Limit(usize),
}

impl Fence {
    /// Whether there is one for this user: the limit does not hold for root.
    fn is_to_be_had() -> bool {
        Cgroup::is_to_be_had() || !Uid::effective().is_root()
    }

    /// One with room for so many.
    fn new(room: u32) -> Fence {
        if Cgroup::is_to_be_had() {
            return Fence::Cgroup(Cgroup::new(Some(room)));
        }
        Fence::Limit(threads_of(Uid::effective()) + usize::try_from(room).expect("a small number"))
    }

    /// The words for the bomb: the cgroup to enter, the limit to set.
    fn words(&self) -> String {
        match self {
            Fence::Cgroup(cgroup) => format!("'{}' 0", cgroup.procs().display()),
            Fence::Limit(limit) => format!("'' {limit}"),
        }
    }
}

/// How many threads a user has, as the kernel counts them for the limit.
fn threads_of(user: Uid) -> usize {
    let entries = fs::read_dir("/proc").expect("/proc").filter_map(Result::ok);
    let own = entries.filter(|entry| entry.metadata().is_ok_and(|about| about.uid() == user.as_raw()));
    own.filter_map(|process| Some(fs::read_dir(process.path().join("task")).ok()?.count())).sum()
}

#[test]
fn a_fork_bomb_is_ended_in_every_round() {
    if !Fence::is_to_be_had() {
        return eprintln!(
            "skipped: no cgroup for a limit on processes can be made here, and root has no other"
        );
    }
    if !Cgroup::is_to_be_had() {
        eprintln!(
            "skipped: those that multiply without end: no cgroup with a limit on processes can be made here"
        );
    }
    let scratch = Scratch::new();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/bomb.c");
    let bomb = scratch.path("bomb");
    let args = ["-Wall", "-Wextra", "-Werror", "-o"];
    let made = Command::new("cc").args(args).arg(&bomb).arg(source).status().expect("a C compiler");
    assert!(made.success());
    for number in 0..number("CODEX_FILTERS_BOMB_ROUNDS").unwrap_or(20) {
        let end = [End::Well, End::Limit, End::RunnerKilled][usize::try_from(number % 3).expect("0 to 2")];
        // They take all the room there is, and a room that others of this user share is not theirs to take.
        let kind = if number % 2 == 1 && Cgroup::is_to_be_had() { "bomb" } else { "relay" };
        let count = 8 + u32::try_from(number % 23).expect("a small number");
        println!("round {number}: {kind} of {count}, {end:?}");
        round(&bomb.display().to_string(), kind, count, end);
    }
}

fn round(bomb: &str, kind: &str, count: u32, end: End) {
    let scratch = Scratch::git();
    // The dead count until they are buried.
    let fence = Fence::new(if kind == "bomb" { 2 * count + 1 } else { 2000 });
    let generations = || {
        let bytes = if scratch.has("generations") { scratch.read("generations") } else { vec![] };
        bytes.try_into().map_or(0, u64::from_ne_bytes)
    };
    let how = if matches!(end, End::Well) { "well" } else { "never" };
    let command = format!("exec '{bomb}' {kind} {count} generations {} {how}", fence.words());
    let script = Script::good().no_answer().sh(&command);
    let limit = if matches!(end, End::Limit) { "1" } else { "100" };
    let running = filter("codex-launch")
        .arg("--codex")
        .arg(binary("fake-codex"))
        .args(["--progress-file=p", "--result-file=r", "--kill-grace=0.2", "--leftover-grace=0.2"])
        .args(["--timeout-seconds", limit])
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
    if let Fence::Cgroup(cgroup) = &fence {
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
