//! Stopping a run: the limit, signals to the launcher, and how long that takes.

use nix::sys::signal::Signal::{self, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use serde_json::json;

use super::{bare, launch, progress, seconds};
use crate::harness::ran::Ran;
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};
use crate::harness::wait::{SOON, wait_until};

/// A run that says `ready` and hangs, with descendants of both kinds.
pub(super) fn busy(scratch: &Scratch) -> Script {
    let script = Script::new().lines([T, S]);
    let script =
        script.spawn(json!({"ignore": ["INT", "TERM"], "pipes": "hold", "life": "sleep", "seconds": 300}));
    let script = script.spawn(json!({"session": "own", "orphan": true, "life": "sleep", "seconds": 300}));
    script.touch(&scratch.path("ready")).hang()
}

/// A run that ignores INT and TERM, and makes the file `asked` at the first INT.
pub(super) fn stubborn(scratch: &Scratch) -> Script {
    let command = format!(
        "trap 'echo > {}' INT; trap '' TERM; echo > {}; while :; do sleep 0.05; done",
        scratch.path("asked").display(),
        scratch.path("ready").display()
    );
    Script::new().lines([T, S]).sh(&command)
}

/// A run that writes down in `got` which of INT and TERM it gets, and goes on.
pub(super) fn writes_down(scratch: &Scratch) -> Script {
    // The shell tells of children that a signal ended, and would end itself where nobody reads its stderr any more.
    let command = format!(
        "exec 2> /dev/null; trap 'echo INT >> {0}' INT; trap 'echo TERM >> {0}' TERM; echo > {1}; while :; do sleep 0.05; done",
        scratch.path("got").display(),
        scratch.path("ready").display()
    );
    Script::new().lines([T, S]).sh(&command)
}

/// Asserts that a signal ended the run as cancelled, and that nothing was taken for a process that KILL does not end.
#[track_caller]
fn cancelled(scratch: &Scratch, running: Running, signal: Signal) -> Ran {
    let ran = running.end();
    ran.exits(128 + signal as i32).stderr_lacks("leftovers");
    progress(scratch).failed_by("cancelled").events_are([T, S]);
    assert!(!scratch.has("r"));
    ran
}

#[test]
fn each_signal_cancels_and_leaves_nothing() {
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
        let scratch = Scratch::git();
        let running = launch(&scratch, &busy(&scratch)).args(["--kill-grace", "0.5"]).start();
        scratch.wait_for("ready");
        running.signal(signal);
        let ran = cancelled(&scratch, running, signal);
        assert_eq!(ran.stderr_lines().last().map(String::as_str), Some("codex-launch: elapsed=0s"));
    }
}

#[test]
fn a_second_signal_shortens_the_wait() {
    let scratch = Scratch::git();
    let running = launch(&scratch, &stubborn(&scratch)).args(["--kill-grace", "100"]).start();
    scratch.wait_for("ready");
    running.signal(SIGTERM);
    scratch.wait_for("asked");
    running.signal(SIGINT);
    cancelled(&scratch, running, SIGTERM).took(seconds(0), seconds(25));
}

#[test]
fn two_signals_at_once_shorten_the_wait_too() {
    let scratch = Scratch::git();
    let running = launch(&scratch, &stubborn(&scratch)).args(["--kill-grace", "100"]).start();
    scratch.wait_for("ready");
    running.signal(SIGTERM);
    running.signal(SIGINT);
    let ran = running.end();
    ran.took(seconds(0), seconds(25));
    progress(&scratch).failed_by("cancelled");
    assert!([130, 143].contains(&ran.status.code().unwrap_or_default()), "{ran}");
}

#[test]
fn the_grace_is_spent_on_int_and_term() {
    // INT, half of the grace, TERM, half of the grace, KILL: the child writes down what it gets.
    let scratch = Scratch::git();
    let running = launch(&scratch, &writes_down(&scratch)).args(["--kill-grace", "2"]).start();
    scratch.wait_for("ready");
    running.signal(SIGTERM);
    cancelled(&scratch, running, SIGTERM).took(seconds(2), seconds(20));
    assert_eq!(scratch.text("got"), "INT\nTERM\n");
}

#[test]
fn a_child_that_ends_at_int_is_not_waited_for_any_longer() {
    let scratch = Scratch::git();
    let running = launch(&scratch, &busy(&scratch)).args(["--kill-grace", "40"]).start();
    scratch.wait_for("ready");
    running.signal(SIGTERM);
    // Its descendant that ignores INT and TERM gets what the ladder has for it, or KILL at once: both are allowed.
    cancelled(&scratch, running, SIGTERM).took(seconds(0), seconds(55));
}

#[test]
fn started_in_the_background_of_a_script_int_and_term_still_work() {
    for signal in [SIGINT, SIGQUIT, SIGTERM] {
        let scratch = Scratch::git();
        let script =
            Script::new().portrait(&scratch.path("portrait")).lines([T, S]).touch(&scratch.path("ready"));
        let launcher = launch(&scratch, &script.hang()).args(["--kill-grace", "40"]);
        // What a shell without job control does before it starts a command with `&` (POSIX.1-2017, 2.9.3.1).
        let running = launcher.under(&["sh", "-c", r#"trap '' INT QUIT; exec "$0" "$@""#]).start();
        scratch.wait_for("ready");
        running.signal(signal);
        // INT ends the child at once, so it works there too.
        cancelled(&scratch, running, signal).took(seconds(0), seconds(19));
        let ignored = scratch.json("portrait")["ignored"].clone();
        assert!(!ignored.as_array().expect("signals").contains(&json!(SIGINT as i32)), "{ignored}");
    }
}

#[test]
fn under_nohup_a_hangup_is_ignored_and_term_works() {
    let scratch = Scratch::git();
    let go = scratch.path("go");
    let script = Script::new().lines([T, S]).touch(&scratch.path("ready")).await_file(&go).lines([M, C]);
    let running = launch(&scratch, &script).under(&["nohup"]).start();
    scratch.wait_for("ready");
    running.signal(SIGHUP);
    scratch.write("go", "");
    running.end().exits(0);
    progress(&scratch).completed().events_are([T, S, M, C]);

    let scratch = Scratch::git();
    let running = launch(&scratch, &busy(&scratch)).args(["--kill-grace", "0.5"]).under(&["nohup"]).start();
    scratch.wait_for("ready");
    running.signal(SIGHUP);
    running.signal(SIGTERM);
    cancelled(&scratch, running, SIGTERM);
}

#[test]
fn a_child_that_stops_itself_meets_the_limit() {
    for script in
        [Script::new().lines([T, S]).step("stop", json!({})), Script::new().lines([T, S]).sh("kill -STOP $$")]
    {
        let scratch = Scratch::git();
        let launcher = launch(&scratch, &script).args(["--timeout-seconds", "1", "--kill-grace", "1"]);
        launcher.run().exits(124).took(seconds(1), seconds(20));
        progress(&scratch).failed_by("timeout").events_are([T, S]);
    }
}

#[test]
fn a_child_that_ignores_all_signals_meets_the_limit() {
    let scratch = Scratch::git();
    let script = Script::new().lines([T, S]).ignore(&["INT", "TERM", "HUP", "QUIT"]).hang();
    let launcher = launch(&scratch, &script).args(["--timeout-seconds", "1", "--kill-grace", "1"]);
    launcher.run().exits(124).took(seconds(2), seconds(20));
    progress(&scratch).failed_by("timeout");
}

#[test]
fn a_child_that_closed_its_streams_still_runs() {
    let scratch = Scratch::git();
    let close = |script: Script, which: &str| script.step("close", json!({"which": which}));
    let script = close(close(Script::good(), "stdout"), "stderr").delay_ms(300).touch(&scratch.path("done"));
    launch(&scratch, &script).run().exits(0);
    progress(&scratch).completed();
    assert!(scratch.has("done"));

    let script = close(close(Script::good(), "stdout"), "stderr").hang();
    launch(&scratch, &script).args(["--force", "--timeout-seconds", "0.5"]).run().exits(124);
    progress(&scratch).failed_by("timeout");
}

#[test]
fn a_child_that_goes_on_printing_meets_the_limit() {
    let scratch = Scratch::git();
    let script =
        Script::new().lines([T, S]).spawn(json!({"pipes": "hold", "life": "chatter", "seconds": 300})).hang();
    let launcher = bare(&scratch, &script).args(["--timeout-seconds", "0.5", "--kill-grace", "0.5"]);
    launcher.run().exits(124).took(seconds(0), seconds(20));
}

#[test]
fn silence_is_not_judged() {
    let scratch = Scratch::git();
    let script = Script::new()
        .lines([T, S])
        .touch(&scratch.path("ready"))
        .await_file(&scratch.path("go"))
        .lines([M, C]);
    let running = launch(&scratch, &script).start();
    scratch.wait_for("ready");
    wait_until("both lines are in the file", SOON, || scratch.text("p") == format!("{T}\n{S}\n"));
    scratch.write("go", "");
    running.end().exits(0);
}

#[test]
fn a_signal_while_the_prompt_is_awaited_ends_the_launcher() {
    for signal in [SIGINT, SIGTERM] {
        let scratch = Scratch::git();
        let calls = scratch.path("calls");
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let running =
            launch(&scratch, &Script::good()).env("FAKE_CODEX_CALLS", &calls).stdin_from(reader).start();
        // The login is asked about while the prompt is read.
        scratch.wait_for("calls");
        running.signal(signal);
        running.end().exits(128 + signal as i32);
        assert!(!scratch.has("r"));
        assert!(!scratch.text("calls").contains("exec"));
        drop(writer);
    }
}

#[test]
fn a_signal_while_the_login_is_asked_about_ends_the_launcher() {
    let scratch = Scratch::git();
    let launcher = launch(&scratch, &Script::good()).env("FAKE_CODEX_LOGIN", "hang");
    let running = launcher.env("FAKE_CODEX_CALLS", scratch.path("calls")).start();
    let asked = || scratch.has("calls") && scratch.text("calls") == "login status\n";
    wait_until("the login is asked about", SOON, asked);
    running.signal(SIGTERM);
    running.end().exits(143);
    assert!(asked(), "{}", scratch.text("calls"));
}

#[test]
fn empty_folders_that_a_killed_sandbox_leaves_are_removed() {
    let names = [".agents", ".codex", ".aws"];
    let make = |folders: &[&std::path::Path], end: &str| {
        let all =
            folders.iter().flat_map(|folder| names.map(|name| format!("'{}/{name}'", folder.display())));
        Script::new().lines([T, S]).sh(&format!("mkdir -p {} && {end}", all.collect::<Vec<_>>().join(" ")))
    };
    for (end, status) in [("exec sleep 300", 124), ("kill -9 $$", 137)] {
        let (scratch, temporary) = (Scratch::git(), Scratch::new());
        for folder in ["work", "work/.aws", "added", "added/.codex"] {
            std::fs::create_dir(scratch.path(folder)).expect("a folder");
        }
        scratch.write("added/.codex/config", "");
        let elsewhere = Scratch::new();
        let (work, added) = (scratch.path("work"), scratch.path("added"));
        std::os::unix::fs::symlink(elsewhere.dir(), added.join(".agents")).expect("a link");
        let script = make(&[&work, &added, temporary.dir()], end);
        let launcher = launch(&scratch, &script).env("TMPDIR", temporary.dir());
        let launcher = launcher.args(["--cd", "work", "--add-dir", "added", "--timeout-seconds", "2"]);
        launcher.run().exits(status);
        assert!(temporary.names().is_empty(), "{:?}", temporary.names());
        // What was there before stays.
        assert!(
            work.join(".aws").is_dir() && !work.join(".codex").exists() && !work.join(".agents").exists()
        );
        assert!(added.join(".codex/config").exists() && added.join(".agents").is_symlink());
        assert!(!added.join(".aws").exists() && elsewhere.dir().is_dir());
    }
    // A run that came to its end leaves what it made.
    let scratch = Scratch::git();
    let script = Script::good().no_answer().sh("mkdir .codex");
    launch(&scratch, &script).run().exits(0);
    assert!(scratch.path(".codex").is_dir());
}
