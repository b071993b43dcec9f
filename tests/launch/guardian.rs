//! The launcher's two processes: each finishes the run when the other one is killed.

use std::fs;
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::signal::Signal::{SIGCONT, SIGINT, SIGKILL, SIGSTOP, SIGTERM};
use nix::sys::signal::{kill, killpg};
use nix::unistd::Pid;

use super::stopping::{busy, stubborn, writes_down};
use super::{bare, launch, progress, seconds};
use crate::harness::filter::{Filter, filter};
use crate::harness::progress::Progress;
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T, lines};
use crate::harness::skipped::skipped;
use crate::harness::sweep::{is_alive, is_stopped};
use crate::harness::wait::{SOON, wait_until};

/// A launcher with a folder of its own for temporary files, and a grace of a second.
fn watched(scratch: &Scratch, script: &Script) -> Filter {
    fs::create_dir(scratch.path("tmp")).expect("a folder");
    launch(scratch, script).env("TMPDIR", scratch.path("tmp")).args(["--kill-grace", "1"]).linger(seconds(30))
}

/// What is in the folder for temporary files.
fn temporary(scratch: &Scratch) -> Vec<fs::DirEntry> {
    let entries = fs::read_dir(scratch.path("tmp")).expect("a folder");
    entries.map(|entry| entry.expect("an entry")).collect()
}

/// Asserts that nobody knows how the run ended, and that nothing is left of it.
#[track_caller]
fn lost(scratch: &Scratch, status: i32) {
    progress(scratch).failed(status, "lost").events_are([T, S]);
    assert_eq!(temporary(scratch).len(), 0);
    assert!(!scratch.has("r"));
}

/// Returns when the run is under way and its first events are in the progress file: what the runner has not read yet
/// dies with it.
fn is_under_way(scratch: &Scratch) {
    scratch.wait_for("ready");
    wait_until("the events are there", SOON, || scratch.text("p") == lines([T, S]));
}

#[track_caller]
fn kill_now(pid: Pid) {
    kill(pid, SIGKILL).expect("killing a half");
}

#[test]
fn a_progress_file_that_is_gone_by_then_is_written_anew() {
    let scratch = Scratch::git();
    let running = watched(&scratch, &busy(&scratch)).start();
    is_under_way(&scratch);
    fs::remove_file(scratch.path("p")).expect("to remove it");
    kill_now(running.runner());
    let ran = running.end();
    ran.exits(125).stderr_has("written anew");
    lost(&scratch, 125);
}

#[test]
fn the_guardian_finishes_when_the_runner_is_killed() {
    let scratch = Scratch::git();
    let running = watched(&scratch, &busy(&scratch)).start();
    is_under_way(&scratch);
    assert_eq!(temporary(&scratch).len(), 1);
    kill_now(running.runner());
    let ran = running.end();
    ran.exits(125).took(seconds(0), seconds(30));
    let [_, reason, elapsed] = ran.stderr_lines().try_into().expect("three lines");
    assert_eq!(
        reason,
        "codex-launch: failed: one of the launcher's two processes was killed by SIGKILL (lost)"
    );
    assert!(elapsed.starts_with("codex-launch: elapsed="), "{elapsed}");
    lost(&scratch, 125);
}

#[test]
fn the_runner_finishes_when_the_guardian_is_killed() {
    let scratch = Scratch::git();
    let running = watched(&scratch, &busy(&scratch)).start();
    is_under_way(&scratch);
    kill_now(running.pid());
    let ran = running.end();
    assert_eq!(ran.status.code(), None);
    ran.stderr_has("failed: one of the launcher's two processes was killed (lost)\n");
    lost(&scratch, 137);
}

#[test]
fn both_climb_the_ladder() {
    for victim in [|running: &Running| running.runner(), Running::pid] {
        let scratch = Scratch::git();
        let running = watched(&scratch, &writes_down(&scratch)).start();
        scratch.wait_for("ready");
        kill_now(victim(&running));
        running.end();
        assert_eq!(scratch.text("got"), "INT\nTERM\n");
    }
}

#[test]
fn both_killed_leave_no_sentinel_and_the_file_says_so() {
    let scratch = Scratch::git();
    let running = watched(&scratch, &busy(&scratch)).start();
    is_under_way(&scratch);
    let runner = running.runner();
    // Neither can see the other one die.
    kill(running.pid(), SIGSTOP).expect("stopping a half");
    kill_now(runner);
    kill_now(running.pid());
    wait_until("both are dead", SOON, || !is_alive(running.pid()) && !is_alive(runner));
    let check = filter("jsonl-sentinel").args(["check", "p"]).dir(scratch.dir()).run();
    check.exits(65).stdout_is("p: line 2: the file ends without a sentinel\n");
    drop(scratch);
    running.abandon();
}

#[test]
fn a_runner_that_is_killed_before_the_launch_leaves_nothing() {
    let scratch = Scratch::git();
    let (reader, _writer) = std::io::pipe().expect("a pipe");
    let running = watched(&scratch, &Script::good()).stdin_from(reader).start();
    kill_now(running.runner());
    running.end().exits(125).took(seconds(0), seconds(30));
    assert!(!scratch.has("p") && temporary(&scratch).is_empty());
}

#[test]
fn a_guardian_that_is_killed_before_the_launch_leaves_nothing() {
    let scratch = Scratch::git();
    let (reader, _writer) = std::io::pipe().expect("a pipe");
    let running = watched(&scratch, &Script::good()).stdin_from(reader).start();
    running.runner();
    kill_now(running.pid());
    running.end().stderr_has("codex-launch: the launcher was killed before the launch\n");
    assert!(!scratch.has("p") && temporary(&scratch).is_empty());
}

#[test]
fn where_descendants_cannot_be_found_the_group_is_ended_by_either() {
    for (victim, status) in [(Running::runner as fn(&Running) -> Pid, 125), (Running::pid, 137)] {
        let scratch = Scratch::git();
        let script = Script::new().lines([T, S]).touch(&scratch.path("ready")).hang();
        let running = watched(&scratch, &script).env("CODEX_FILTERS_PORTABLE", "1").start();
        is_under_way(&scratch);
        kill_now(victim(&running));
        running.end().took(seconds(0), seconds(30));
        lost(&scratch, status);
    }
}

#[test]
fn to_a_pipe_the_sentinel_is_a_line_of_its_own() {
    let scratch = Scratch::git();
    let script = Script::new().lines([T, S]).hang();
    let launcher = bare(&scratch, &script).args(["--progress-file", "-", "--result-file", "r"]);
    let running = launcher.args(["--kill-grace", "1"]).start();
    wait_until("the events are there", SOON, || running.stdout() == lines([T, S]).into_bytes());
    kill_now(running.runner());
    let ran = running.end();
    // The line before it may have been torn, so it begins with an LF.
    let printed = ran.exits(125).stdout_text();
    let sentinel = printed.strip_prefix(&(lines([T, S]) + "\n")).expect("an LF");
    Progress::parse(sentinel.as_bytes()).failed(125, "lost");
}

#[test]
fn a_file_that_the_shell_opened_for_writing_alone_gets_its_sentinel() {
    for redirection in ["> p", ">> p"] {
        let scratch = Scratch::git();
        let launcher = bare(&scratch, &busy(&scratch)).args(["--progress-file", "-", "--result-file", "r"]);
        let become_it = format!(r#"exec "$0" "$@" {redirection}"#);
        let running = launcher.args(["--kill-grace", "1"]).under(&["sh", "-c", &become_it]).start();
        is_under_way(&scratch);
        kill_now(running.runner());
        running.end().exits(125);
        progress(&scratch).failed(125, "lost").events_are([T, S]);
    }
}

#[test]
fn without_a_progress_file_the_loss_is_said_and_there_is_no_answer() {
    let scratch = Scratch::git();
    scratch.write("r", "an old answer");
    let running = bare(&scratch, &busy(&scratch)).args(["--result-file", "r", "--kill-grace", "1"]).start();
    scratch.wait_for("ready");
    kill_now(running.runner());
    running.end().exits(125).stderr_has("was killed by SIGKILL (lost)\n");
    assert!(!scratch.has("r"));
}

#[test]
fn a_pipe_that_takes_nothing_does_not_hold_the_guardian_up() {
    let scratch = Scratch::git();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let script = Script::new().lines([T, S]).flood("stdout", 1 << 20, "lines").hang();
    let launcher = bare(&scratch, &script).args(["--progress-file", "-", "--result-file", "r"]);
    let running = launcher.args(["--kill-grace", "1"]).stdout_to(writer).start();
    let has_something = || {
        let mut fds = [PollFd::new(reader.as_fd(), PollFlags::POLLIN)];
        nix::poll::poll(&mut fds, PollTimeout::ZERO) == Ok(1)
    };
    wait_until("the pipe has something", SOON, has_something);
    kill_now(running.runner());
    let ran = running.end();
    ran.exits(125).took(seconds(0), seconds(30));
    drop(reader);
}

#[test]
fn a_kill_of_the_whole_group_leaves_the_one_that_finishes() {
    let scratch = Scratch::git();
    let running = watched(&scratch, &busy(&scratch)).start();
    is_under_way(&scratch);
    killpg(running.pid(), SIGKILL).expect("killing a group");
    running.end();
    lost(&scratch, 137);
}

#[test]
fn a_signal_to_the_group_is_one_signal() {
    let scratch = Scratch::git();
    let running = launch(&scratch, &writes_down(&scratch)).args(["--kill-grace", "1"]).start();
    scratch.wait_for("ready");
    killpg(running.pid(), SIGINT).expect("signalling a group");
    running.end().exits(130);
    progress(&scratch).failed_by("cancelled");
    assert_eq!(scratch.text("got"), "INT\nTERM\n");
}

#[test]
fn a_signal_that_timeout_sends_twice_is_one_signal() {
    let scratch = Scratch::git();
    let go = scratch.path("go");
    let launcher = launch(&scratch, &writes_down(&scratch)).args(["--kill-grace", "1"]);
    // timeout(1) signals its child and then the group that both are in.
    let running = launcher.under(&["timeout", "86400"]).start();
    scratch.wait_for("ready");
    running.signal(SIGTERM);
    running.end();
    assert!(!go.exists());
    progress(&scratch).failed_by("cancelled");
    assert_eq!(scratch.text("got"), "INT\nTERM\n");
}

#[test]
fn two_signals_to_the_runner_alone_are_two() {
    let scratch = Scratch::git();
    let running = launch(&scratch, &stubborn(&scratch)).args(["--kill-grace", "100"]).start();
    scratch.wait_for("ready");
    let runner = running.runner();
    kill(runner, SIGTERM).expect("signalling the runner");
    scratch.wait_for("asked");
    kill(runner, SIGINT).expect("signalling the runner");
    running.end().exits(143).took(seconds(0), seconds(25));
    progress(&scratch).failed_by("cancelled");
}

#[test]
fn a_stopped_half_goes_on_where_it_was() {
    for victim in [Running::runner as fn(&Running) -> Pid, Running::pid] {
        let scratch = Scratch::git();
        let (ready, go) = (scratch.path("ready"), scratch.path("go"));
        let script = Script::new().lines([T, S]).touch(&ready).await_file(&go).lines([M, C]);
        let running = watched(&scratch, &script).start();
        scratch.wait_for("ready");
        let half = victim(&running);
        kill(half, SIGSTOP).expect("stopping a half");
        scratch.write("go", "");
        kill(half, SIGCONT).expect("continuing a half");
        running.end().exits(0);
        progress(&scratch).completed().events_are([T, S, M, C]);
        assert_eq!(scratch.text("r"), "ok");
    }
}

#[test]
fn a_stopped_runner_hears_a_signal_all_the_same() {
    let scratch = Scratch::git();
    let running = watched(&scratch, &busy(&scratch)).start();
    is_under_way(&scratch);
    kill(running.runner(), SIGSTOP).expect("stopping a half");
    running.signal(SIGTERM);
    running.end().exits(143).took(seconds(0), seconds(30));
    progress(&scratch).failed_by("cancelled").events_are([T, S]);
}

#[test]
fn a_stopped_runner_is_continued_and_keeps_its_limit() {
    let scratch = Scratch::git();
    let running = watched(&scratch, &busy(&scratch)).args(["--timeout-seconds", "2"]).start();
    is_under_way(&scratch);
    kill(running.runner(), SIGSTOP).expect("stopping a half");
    running.end().exits(124).took(seconds(2), seconds(30));
    progress(&scratch).failed_by("timeout").events_are([T, S]);
}

#[test]
fn a_stopped_guardian_holds_back_neither_limit_nor_sentinel_nor_caller() {
    let scratch = Scratch::git();
    let running = watched(&scratch, &busy(&scratch)).args(["--timeout-seconds", "1"]).start();
    scratch.wait_for("ready");
    kill(running.pid(), SIGSTOP).expect("stopping a half");
    running.end().exits(124).took(seconds(1), seconds(20));
    progress(&scratch).failed_by("timeout").events_are([T, S]);
}

#[test]
fn a_run_that_stops_both_is_ended_when_one_is_continued() {
    let scratch = Scratch::git();
    // The command stops what it descends from: first the guardian, which would continue the other one.
    let command = "guardian=$(sed -n 's/^PPid:\\t//p' /proc/$PPID/status); kill -STOP $guardian $PPID; echo > ready; \
                   while :; do sleep 1; done";
    let script = Script::new().lines([T, S]).sh(command);
    let running = watched(&scratch, &script).args(["--timeout-seconds", "100"]).start();
    scratch.wait_for("ready");
    let runner = running.runner();
    wait_until("both are stopped", SOON, || is_stopped(running.pid()) && is_stopped(runner));
    running.signal(SIGTERM);
    running.signal(SIGCONT);
    running.end().exits(143).took(seconds(0), seconds(30));
    progress(&scratch).failed_by("cancelled");
}

/// A field of a file of /proc, in its unit.
fn number(file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name}"));
    line.trim().trim_end_matches(" kB").parse().unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[test]
fn the_guardian_is_small_and_asleep() {
    let scratch = Scratch::git();
    let (half, go) = (scratch.path("half"), scratch.path("go"));
    let script = Script::new().lines([T, S]).touch(&scratch.path("ready")).flood("stdout", 20 << 20, "lines");
    let script = script.touch(&half).await_file(&go).lines([M, C]);
    let running = watched(&scratch, &script).start();
    scratch.wait_for("ready");
    let proc = format!("/proc/{}", running.pid());
    let threads = || {
        let tasks =
            fs::read_dir(format!("{proc}/task")).expect("tasks").map(|task| task.expect("a task").path());
        tasks
            .map(|task| number(&task.join("status").display().to_string(), "voluntary_ctxt_switches:"))
            .sum::<u64>()
    };
    let (mut before, mut looks) = (0, 0);
    wait_until("it has heard all there is to hear", SOON, || {
        let now = threads();
        looks = if now == before { looks + 1 } else { 0 };
        before = now;
        looks == 20
    });
    let before = threads();
    scratch.wait_for("half");
    assert_eq!(threads(), before, "it has run while the runner worked");
    let rollup = format!("{proc}/smaps_rollup");
    if fs::File::open(&rollup).is_ok() {
        let private = number(&rollup, "Private_Clean:") + number(&rollup, "Private_Dirty:");
        assert!(private < 1024, "{private} KiB of private memory");
    } else {
        skipped("the guardian's memory: only root may look into it");
    }
    scratch.write("go", "");
    running.end().exits(0);
}
