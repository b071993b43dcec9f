//! Processes that the kernel holds: they hold the launcher up no longer than is said.

use nix::sys::signal::Signal::SIGTERM;
use nix::sys::signal::{Signal, kill};
use serde_json::json;

use super::{compile, launch, progress, seconds};
use crate::harness::filter::Filter;
use crate::harness::mounts::{is_root, own_mounts};
use crate::harness::scratch::Scratch;
use crate::harness::script::{S, Script, T};
use crate::harness::skipped::skipped;

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

#[test]
fn a_process_that_a_dead_file_system_holds_is_named_in_time() {
    if !is_root() || !std::fs::exists("/dev/fuse").unwrap_or(false) {
        skipped("no file system of a program may be mounted here");
        return;
    }
    let shell = r#"
        mkdir dead.mount
        env -u CODEX_FILTERS_TEST_ID ./dead dead.mount /bin/sleep < /dev/null > /dev/null 2>&1 &
        echo -n $! > server.part; mv server.part server
        while [ ! -e mounted ]; do kill -0 $! || exit 99; sleep 0.01; done
        exec "$0" "$@""#;
    let command = "env -u CODEX_FILTERS_TEST_ID setsid dead.mount/file 300 & while [ ! -e held ]; do sleep 0.01; done; sleep 300";
    for (is_cancelled, status) in [(false, 124), (true, 143)] {
        let scratch = Scratch::git();
        scratch.write("dead.c", DEAD);
        compile(&scratch, "dead");
        let limit = if is_cancelled { "100" } else { "1" };
        let launcher = launch(&scratch, &Script::new().lines([T, S]).sh(command));
        let launcher = launcher.args(["--timeout-seconds", limit, "--kill-grace", "1"]);
        let Some(launcher) = in_own_mounts(launcher, shell) else { return };
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
