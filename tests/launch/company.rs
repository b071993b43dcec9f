//! Processes beside the run, behind it and in its way.

use std::process::Command;

use nix::sys::signal::Signal::{SIGALRM, SIGKILL, SIGUSR1, SIGUSR2};
use nix::sys::signal::kill;
use serde_json::json;

use super::stopping::busy;
use super::{FILES, compile, launch, over, progress, seconds};
use crate::harness::filter::binary;
use crate::harness::scratch::Scratch;
use crate::harness::script::{S, Script, T};
use crate::harness::sweep::is_alive;
use crate::harness::wait::{SOON, wait_until};

/// A process in a session of its own whose first thread has ended and whose second one lives on. The first argument is
/// the file for its process id. It ends by itself, because no sweep sees it: /proc shows it as dead.
const HEADLESS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *live(void *nothing) { sleep(120); return nothing; }
int main(int argc, char **argv) {
    pthread_t second;
    FILE *file;
    if (argc != 2 || setsid() < 0 || pthread_create(&second, 0, live, 0)) return 1;
    if (!(file = fopen("pid.part", "w"))) return 1;
    fprintf(file, "%d", (int)getpid());
    if (fclose(file) || rename("pid.part", argv[1])) return 1;
    pthread_exit(0);
}
"#;

#[test]
fn one_whose_first_thread_has_ended_is_ended() {
    let scratch = Scratch::git();
    scratch.write("headless.c", HEADLESS);
    compile(&scratch, "headless");
    let command = "./headless pid < /dev/null > /dev/null 2>&1 & while [ ! -e go ]; do sleep 0.01; done";
    let running = launch(&scratch, &Script::good().no_answer().sh(command)).start();
    scratch.wait_for("pid");
    let pid = scratch.pid("pid");
    let threads = || std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    // Seen from outside it is a zombie.
    wait_until("its first thread has ended", SOON, || !is_alive(pid));
    assert_eq!(threads(), 2);
    scratch.write("go", "");
    let ran = running.end();
    let left = threads();
    if left > 1 {
        let _ = kill(pid, SIGKILL);
    }
    ran.exits(0).took(seconds(0), seconds(30));
    assert!(left <= 1, "{left} threads are left");
    progress(&scratch).completed();
}

#[test]
fn a_daemon_of_the_login_is_not_waited_for_and_does_not_survive() {
    for (status, expected) in [(1, 69), (0, 0)] {
        let scratch = Scratch::git();
        // It holds the pipes that the answer comes through. Another process makes the program, because while this one
        // has it open for writing, a child of another test could hold that descriptor, and it could not be executed.
        let codex = format!(
            r#"#!/bin/sh
[ "$1" = login ] || exec {} "$@"
(trap '' TERM; exec setsid sleep 300) &
echo "Not logged in" >&2
exit {status}
"#,
            binary("fake-codex").display()
        );
        let make = ["-c", r#"printf %s "$1" > codex; chmod 755 codex"#, "sh", &codex];
        let made = Command::new("sh").args(make).current_dir(scratch.dir()).status().expect("a shell");
        assert!(made.success());
        let ran = over("./codex", &scratch, &Script::good()).args(FILES).run();
        ran.exits(expected).took(seconds(0), seconds(30));
        if status == 0 {
            progress(&scratch).completed();
        } else {
            ran.stderr_has("Not logged in");
            assert_eq!(scratch.names(), [".git", "codex", "script"]);
        }
    }
}

#[test]
fn signals_that_nobody_means_cancel_too_and_leave_nothing() {
    for signal in [SIGUSR1, SIGUSR2, SIGALRM] {
        let scratch = Scratch::git();
        let script = Script::new()
            .lines([T, S])
            .spawn(json!({"ignore": ["INT", "TERM"], "pipes": "hold", "life": "sleep", "seconds": 300}))
            .spawn(json!({"session": "own", "orphan": true, "life": "sleep", "seconds": 300}))
            .touch(&scratch.path("ready"))
            .hang();
        let running = launch(&scratch, &script).args(["--kill-grace", "0.5"]).start();
        scratch.wait_for("ready");
        running.signal(signal);
        running.end().exits(128 + signal as i32);
        progress(&scratch).failed_by("cancelled").events_are([T, S]);
        assert!(!scratch.has("r"));
    }
}

#[test]
fn no_signal_that_can_be_taken_ends_the_guardian() {
    // SEGV and the like are no fault of its own when somebody sends them, and two of the last are real-time signals.
    for signal in ["ABRT", "VTALRM", "PROF", "SEGV", "TRAP", "SYS", "XCPU", "XFSZ", "STKFLT", "34", "50"] {
        let scratch = Scratch::git();
        let running = launch(&scratch, &busy(&scratch)).args(["--kill-grace", "0.2"]).start();
        scratch.wait_for("ready");
        let sent = format!("kill -{signal} {}; kill -l {signal}", running.pid());
        let sent = Command::new("bash").args(["-c", &sent]).output().expect("bash");
        let text = String::from_utf8(sent.stdout).expect("text");
        let number: i32 = signal.parse().unwrap_or_else(|_| text.trim().parse().expect("a number"));
        let ran = running.end();
        assert_eq!(ran.status.code(), Some(128 + number), "{signal}\n{ran}");
        progress(&scratch).failed_by("cancelled").events_are([T, S]);
    }
}

#[test]
fn many_processes_that_never_stay_the_same_are_ended() {
    // Each starts its successor in a new session and ends, over and over, as long as there is the folder of this test.
    let scratch = Scratch::git();
    let file = scratch.path("generations");
    let next = format!("echo x >> {0}; [ -e {0} ] && setsid sh -c \"$F\" &", file.display());
    let command = format!(
        "for n in $(seq 20); do setsid sh -c \"$F\" & done; while [ $(wc -l < {}) -lt 200 ]; do sleep 0.01; done",
        file.display()
    );
    let script = Script::good().no_answer().sh(&format!("echo x > {}; {command}", file.display()));
    let ran = launch(&scratch, &script).env("F", next).limit(seconds(120)).run();
    ran.exits(0).took(seconds(0), seconds(90)).stderr_lacks("leftovers");
    progress(&scratch).completed();
    let generations = scratch.read("generations").len();
    // Nobody is left to write one more: that the sweep sees nobody might be chance.
    for _ in 0..20 {
        std::thread::yield_now();
        assert_eq!(scratch.read("generations").len(), generations);
    }
}
