//! Processes that the kernel holds, and paths that never answer: they hold the launcher up no longer than is said.

use nix::sys::signal::Signal::SIGTERM;
use nix::sys::signal::{Signal, kill};
use serde_json::json;

use super::{bare, compile, launch, progress, seconds};
use crate::harness::filter::Filter;
use crate::harness::mounts::{is_root, own_mounts};
use crate::harness::ran::Ran;
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::script::{S, Script, T};
use crate::harness::skipped::skipped;
use crate::harness::sweep::is_alive;
use crate::harness::wait::{SOON, wait_until};
use std::time::Duration;

/// Has the launcher started by `shell` in a file system tree of its own, where that is allowed.
fn in_own_mounts(launcher: Filter, shell: &str) -> Option<Filter> {
    let Some(words) = own_mounts() else {
        skipped("nothing may be mounted here");
        return None;
    };
    let words: Vec<&str> = words.iter().copied().chain(["sh", "-c", shell]).collect();
    Some(launcher.under(&words))
}

#[test]
fn a_stranger_whose_files_in_proc_never_answer_holds_nobody_up() {
    // Whoever opens one of these files waits for a writer that never comes.
    let shell = r#"
        mkfifo never
        env -u CODEX_FILTERS_TEST_ID sleep 300 < /dev/null > /dev/null 2>&1 &
        echo -n $! > stranger.part; mv stranger.part stranger
        for file in stat status cmdline environ comm task/$!/stat task/$!/children; do
            mount --bind never /proc/$!/$file || exit 99
        done
        exec "$0" "$@""#;
    let orphan = json!({"session": "own", "orphan": true, "life": "sleep", "seconds": 300});
    let cases = [(Script::good(), 0), (Script::new().lines([T, S]).hang(), 124)];
    for (script, status) in cases {
        let scratch = Scratch::git();
        let script = Script::new().spawn(orphan.clone()).append(&script);
        let launcher = launch(&scratch, &script).args(["--timeout-seconds", "1", "--kill-grace", "1"]);
        let Some(launcher) = in_own_mounts(launcher, shell) else { return };
        let ran = launcher.run();
        kill(scratch.pid("stranger"), Signal::SIGKILL).expect("a stranger");
        ran.exits(status).took(seconds(0), seconds(20)).stderr_lacks("leftovers");
    }
}

/// A program that mounts a file system which holds whoever executes the one program in it.
const DEAD: &str = include_str!("../harness/dead_mount.c");

/// Has the launcher started where `dead.mount` is a file system that holds its users, of which `program` says which.
fn beside_dead_mount(scratch: &Scratch, launcher: Filter, program: &str) -> Option<Filter> {
    if !is_root() || !std::fs::exists("/dev/fuse").unwrap_or(false) {
        skipped("no file system of a program may be mounted here");
        return None;
    }
    scratch.write("dead.c", DEAD);
    compile(scratch, "dead");
    let shell = format!(
        r#"
        mkdir dead.mount
        env -u CODEX_FILTERS_TEST_ID ./dead dead.mount {program} < /dev/null > /dev/null 2>&1 &
        echo -n $! > server.part; mv server.part server
        while [ ! -e mounted ]; do kill -0 $! || exit 99; sleep 0.01; done
        exec "$0" "$@""#
    );
    in_own_mounts(launcher, &shell)
}

/// The server of the dead file system, which is killed also when a test fails: until then nobody whom it holds can end.
struct Server<'a>(&'a Scratch);

impl Drop for Server<'_> {
    fn drop(&mut self) {
        if self.0.has("server") {
            // It may have ended.
            let _ = kill(self.0.pid("server"), Signal::SIGKILL);
            std::fs::remove_file(self.0.path("server")).expect("to forget its number");
        }
    }
}

/// Waits until a launcher that a dead file system could hold has ended, within `time`, and only then lets the file system
/// answer. What it was held by dies with that.
#[track_caller]
fn end_before_the_server(scratch: &Scratch, running: Running, time: Duration) -> Ran {
    wait_until("the launcher has ended", time, || !is_alive(running.pid()));
    drop(Server(scratch));
    running.end()
}

#[test]
fn paths_that_never_answer_do_not_keep_a_signal_from_ending_the_launcher() {
    let cases: [(&[&str], &str); 5] = [
        (&["--progress-file", "dead.mount/p"], ""),
        (&["--result-file", "dead.mount/r"], ""),
        (&["--add-dir", "dead.mount"], ""),
        (&[], "dead.mount"),
        (&["--cd", "dead.mount"], ""),
    ];
    for (args, temporary) in cases {
        let scratch = Scratch::git();
        let mut launcher = bare(&scratch, &Script::good()).args(args).linger(SOON);
        if !temporary.is_empty() {
            launcher = launcher.env("TMPDIR", temporary);
        }
        let Some(launcher) = beside_dead_mount(&scratch, launcher, "") else { return };
        let running = launcher.start();
        let _server = Server(&scratch);
        scratch.wait_for("held");
        let is_told = args.first() == Some(&"--cd");
        if is_told {
            let line = "waiting for --cd dead.mount\n";
            wait_until("a line says so", SOON, || running.stderr().contains(line));
        }
        running.signal(SIGTERM);
        let ran = end_before_the_server(&scratch, running, seconds(2));
        ran.exits(143).stderr_has("codex-launch: cancelled before the launch\n");
        assert_eq!(ran.stderr_lines().len(), 1 + usize::from(is_told), "{ran}");
    }
}

#[test]
fn a_path_that_never_answers_refuses_the_launch() {
    let scratch = Scratch::git();
    let launcher = bare(&scratch, &Script::good()).args(["--progress-file", "dead.mount/p"]).linger(SOON);
    let launcher = launcher.args(["--timeout-seconds", "1"]);
    let Some(launcher) = beside_dead_mount(&scratch, launcher, "") else { return };
    let running = launcher.start();
    let _server = Server(&scratch);
    scratch.wait_for("held");
    let ran = end_before_the_server(&scratch, running, seconds(15));
    ran.exits(66);
    assert_eq!(ran.stderr_lines(), ["codex-launch: --progress-file dead.mount/p: no answer in 5s"], "{ran}");
}

#[test]
fn a_prompt_that_is_never_read_to_its_end_does_not_keep_a_signal_from_ending_the_launcher() {
    let scratch = Scratch::git();
    let launcher = launch(&scratch, &Script::good()).args(["--prompt-file", "dead.mount/file"]).linger(SOON);
    let Some(launcher) = beside_dead_mount(&scratch, launcher, "/bin/sleep") else { return };
    let running = launcher.start();
    let _server = Server(&scratch);
    scratch.wait_for("held");
    // A launcher that has ended by itself said why, which is seen at its end.
    let line = "waiting for the prompt, from dead.mount/file\n";
    let is_told = || running.stderr().contains(line) || !is_alive(running.pid());
    wait_until("a line says so", SOON, is_told);
    running.signal(SIGTERM);
    let ran = end_before_the_server(&scratch, running, seconds(20));
    ran.stderr_has(line);
    ran.exits(143).stderr_has("codex-launch: cancelled before the launch\n");
    assert!(!scratch.has("p"));
}

#[test]
fn a_process_that_a_dead_file_system_holds_is_named_in_time() {
    let command = "env -u CODEX_FILTERS_TEST_ID setsid dead.mount/file 300 & while [ ! -e held ]; do sleep 0.01; done; sleep 300";
    for (is_cancelled, status) in [(false, 124), (true, 143)] {
        let scratch = Scratch::git();
        let limit = if is_cancelled { "100" } else { "1" };
        let launcher = launch(&scratch, &Script::new().lines([T, S]).sh(command));
        let launcher = launcher.args(["--timeout-seconds", limit, "--kill-grace", "1"]);
        let Some(launcher) = beside_dead_mount(&scratch, launcher, "/bin/sleep") else { return };
        let running = launcher.start();
        scratch.wait_for("held");
        if is_cancelled {
            running.signal(SIGTERM);
        }
        let ran = running.end();
        kill(scratch.pid("server"), Signal::SIGKILL).expect("the server");
        // One that does not die of KILL is waited for 10 s.
        ran.exits(status).took(seconds(0), seconds(25)).stderr_has("(file) did not die of KILL");
        progress(&scratch).failed_by(if is_cancelled { "cancelled" } else { "timeout" }).events_are([T, S]);
    }
}
