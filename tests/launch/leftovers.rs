//! What a completed run leaves: it may end by itself, and then it is ended.

use nix::sys::signal::{Signal, kill};
use serde_json::json;

use super::{launch, progress, seconds};
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::script::{F, S, Script, T};
use crate::harness::sweep::is_alive;
use crate::harness::wait::{SOON, wait_until};

/// A good run that leaves `sh -c COMMAND` in a session of its own.
fn leaving(command: &str) -> Script {
    Script::good().no_answer().sh(&format!("setsid sh -c '{command}' < /dev/null > /dev/null 2>&1 & exit 0"))
}

/// The line that says what became of leftovers, if there is one.
fn said(ran: &Ran) -> Option<String> {
    let lines: Vec<String> =
        ran.stderr_lines().into_iter().filter(|line| line.contains("left behind: ")).collect();
    assert!(lines.len() < 2, "{ran}");
    lines.into_iter().next()
}

#[test]
fn what_ends_by_itself_in_time_has_done_its_work() {
    for time in ["0.3", "1.5"] {
        let scratch = Scratch::git();
        let script = leaving(&format!("sleep {time}; echo done > {}", scratch.path("done").display()));
        let launcher = launch(&scratch, &script);
        // On a busy machine the grace may be over before the time is.
        let ran = launcher.args(["--leftover-grace", "20"]).run();
        ran.exits(0).took(seconds(0), seconds(19));
        assert_eq!((scratch.text("done").as_str(), said(&ran)), ("done\n", None));
        progress(&scratch).completed();
    }
}

#[test]
fn what_does_not_is_ended_and_named_in_one_line() {
    let scratch = Scratch::git();
    let pid = scratch.path("pid").display().to_string();
    let script = leaving(&format!("printf %s $$ > {pid}.part; mv {pid}.part {pid}; exec sleep 300"));
    let ran = launch(&scratch, &script).run();
    ran.exits(0).took(seconds(2), seconds(20));
    let named = format!("codex-launch: left behind: ended after 2s: {} sleep", scratch.text("pid"));
    assert_eq!(said(&ran), Some(named), "{ran}");
    assert!(!is_alive(scratch.pid("pid")));
    progress(&scratch).completed();
    assert_eq!(scratch.text("r"), "ok");
}

#[test]
fn without_a_grace_they_are_ended_at_once_and_named() {
    let scratch = Scratch::git();
    let pid = scratch.path("pid").display().to_string();
    let script = Script::good()
        .no_answer()
        .sh(&format!("setsid sleep 300 < /dev/null > /dev/null 2>&1 & printf %s $! > {pid}; exit 0"));
    let ran = launch(&scratch, &script).args(["--leftover-grace", "0"]).run();
    ran.exits(0);
    // Its name may still be that of the shell.
    let named = format!("codex-launch: left behind: ended at once: {} ", scratch.text("pid"));
    assert!(said(&ran).is_some_and(|line| line.starts_with(&named)), "{ran}");
    assert!(!is_alive(scratch.pid("pid")));
    progress(&scratch).completed();
}

#[test]
fn many_are_named_in_one_line_that_does_a_terminal_no_harm() {
    let scratch = Scratch::git();
    let name = "a\u{1b}[2J\u{202e}";
    std::os::unix::fs::symlink("/bin/sleep", scratch.path(name)).expect("a program");
    let script =
        Script::good().no_answer().sh("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do ./a* 300 & done; exit 0");
    let ran = launch(&scratch, &script).args(["--leftover-grace", "0.5"]).run();
    let line = said(&ran).expect("a line");
    assert_eq!(line.matches(r" a\u{1b}[2J\u{202e}").count(), 10, "{line}");
    assert!(line.ends_with(", and 2 more"), "{line}");
}

#[test]
fn those_of_a_run_that_failed_or_was_cut_short_are_ended_at_once() {
    let left = || Script::new().spawn(json!({"life": "sleep", "seconds": 300}));
    let failed = left().lines([T, S, F]).exit(1);
    let crashed = left().append(&Script::good()).exit(3);
    let cut = left().append(&Script::new().lines([T, S])).hang();
    for (script, status) in [(failed, 1), (crashed, 3), (cut, 124)] {
        let scratch = Scratch::git();
        let args = ["--leftover-grace", "60", "--timeout-seconds", "5", "--kill-grace", "1"];
        let ran = launch(&scratch, &script).args(args).run();
        ran.exits(status).took(seconds(0), seconds(30));
        assert_eq!(said(&ran), None);
    }
}

#[test]
fn they_live_on_where_that_is_asked_for() {
    let scratch = Scratch::git();
    let left = json!({"life": "sleep", "seconds": 300, "pid": scratch.path("pid"), "pipes": "hold", "session": "own"});
    // The test's own end takes what carries its mark for a fault.
    let left = |env| {
        let mut left = left.clone();
        left["env"] = env;
        left
    };
    let script = Script::new().spawn(left(json!("none"))).append(&Script::good());
    let ran = launch(&scratch, &script).arg("--keep-leftovers").run();
    ran.exits(0).took(seconds(0), seconds(20));
    let pid = scratch.pid("pid");
    assert!(is_alive(pid), "{ran}");
    assert_eq!(
        said(&ran),
        Some(format!("codex-launch: left behind: lives on, as --keep-leftovers asks for: {pid} fake-codex"))
    );
    progress(&scratch).completed();
    // Nothing of the launcher is held by it.
    launch(&scratch, &Script::good()).arg("--force").run().exits(0);
    kill(pid, Signal::SIGKILL).expect("ending what this test started");
    wait_until("it is gone", SOON, || !is_alive(pid));

    // Those of a run that failed do not.
    let scratch = Scratch::git();
    let left = json!({"life": "sleep", "seconds": 300});
    let ran = launch(&scratch, &Script::good().spawn(left).exit(3)).arg("--keep-leftovers").run();
    ran.exits(3);
    assert_eq!(said(&ran), None);
}
