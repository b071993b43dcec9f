//! Processes beside the run, behind it and in its way.

use std::process::Command;

use nix::sys::signal::Signal::{SIGALRM, SIGKILL, SIGUSR1, SIGUSR2};
use nix::sys::signal::kill;
use serde_json::json;

use super::{FILES, launch, over, progress, seconds};
use crate::harness::filter::binary;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};
use crate::harness::sweep::{children, is_alive};
use crate::harness::wait::{SOON, wait_until};

#[test]
fn a_stranger_that_is_adopted_during_the_run_is_left_alone() {
    // A background job of the shell that became the launcher ends in the midst of the run, and leaves its server.
    let scratch = Scratch::git();
    let before = r#"
        (
            sleep 300 < /dev/null > /dev/null 2>&1 &
            echo -n $! > server.part; mv server.part server
            while [ ! -e ready ]; do sleep 0.01; done
        ) &
        exec "$0" "$@""#;
    let script = Script::new().lines([T, S]).touch(&scratch.path("ready")).await_file(&scratch.path("go"));
    let running = launch(&scratch, &script.lines([M, C])).under(&["sh", "-c", before]).start();
    scratch.wait_for("server");
    let server = scratch.pid("server");
    let is_adopted = || children(running.pid()).iter().any(|child| child.pid == server);
    wait_until("the server is the launcher's", SOON, is_adopted);
    scratch.write("go", "");
    wait_until("the sentinel is there", SOON, || scratch.text("p").contains("handoff."));
    let survived = is_alive(server);
    // It may be gone already, and that is what the test would say.
    let _ = kill(server, SIGKILL);
    wait_until("it is gone", SOON, || !is_alive(server));
    running.end().exits(0);
    progress(&scratch).completed().events_are([T, S, M, C]);
    assert!(survived, "a stranger was ended");
}

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
    let args = ["-pthread", "-o", "headless", "headless.c"];
    let made = Command::new("cc").args(args).current_dir(scratch.dir()).status().expect("a C compiler");
    assert!(made.success());
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
