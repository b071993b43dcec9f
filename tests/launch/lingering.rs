//! A Codex that completed its turn and does not end.

use nix::sys::signal::Signal;

use super::{launch, progress, seconds};
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};
use crate::harness::wait::{SOON, wait_until};

/// Runs `script` with these further arguments; the run completes, and its sentinel says that Codex lingered.
#[track_caller]
fn lingers(script: &Script, args: &[&str]) -> Scratch {
    let scratch = Scratch::git();
    let ran = launch(&scratch, script).args(args).run();
    ran.exits(0).took(seconds(0), seconds(30)).stderr_has("codex did not end behind its completed turn");
    let progress = progress(&scratch);
    assert!(progress.completed().lingered(), "{}", progress.sentinel);
    scratch
}

#[test]
fn it_is_ended_and_the_run_is_completed() {
    for script in [Script::good().hang(), Script::good().answer("ok").hang()] {
        let scratch = lingers(&script, &["--linger-seconds", "0.3"]);
        progress(&scratch).events_are([T, S, M, C]);
        assert_eq!(scratch.text("r"), "ok");
        assert!(progress(&scratch).sentinel.ends_with(r#","output_tokens":1,"lingered":true}"#));
    }
}

#[test]
fn it_is_ended_when_it_ignores_signals_and_when_it_fails_of_them() {
    let script = Script::new().ignore(&["INT", "TERM"]).append(&Script::good()).hang();
    lingers(&script, &["--linger-seconds", "0.3", "--kill-grace", "0.4"]);
    // A word of being interrupted does not undo what was done.
    let failed =
        r#"trap 'echo "{\"type\":\"turn.failed\",\"error\":{\"message\":\"interrupted\"}}"; exit 1' INT"#;
    let script = Script::good().sh(&format!("{failed}; while :; do sleep 0.05; done"));
    lingers(&script, &["--linger-seconds", "0.3"]);
}

#[test]
fn no_time_to_linger_ends_it_at_once() {
    lingers(&Script::good().hang(), &["--linger-seconds", "0"]);
}

#[test]
fn another_turn_in_that_time_counts() {
    let scratch = Scratch::git();
    let script = Script::good().delay_ms(300).line(S).delay_ms(2_000).message("second").line(C);
    launch(&scratch, &script).args(["--linger-seconds", "1"]).run().exits(0);
    let progress = progress(&scratch);
    assert!(!progress.completed().lingered());
    progress.last("turn.completed", None);
    assert_eq!((progress.events.len(), scratch.text("r").as_str()), (7, "second"));
}

#[test]
fn one_that_says_something_again_and_again_meets_the_limit() {
    let script = || Script::good().sh("while :; do echo '{\"type\":\"item.updated\"}'; sleep 0.1; done");
    let limits = ["--linger-seconds", "1", "--timeout-seconds", "2.5"];
    let scratch = Scratch::git();
    launch(&scratch, &script()).args(limits).run().exits(124).took(seconds(2), seconds(30));
    progress(&scratch).failed_by("timeout");
    assert!(!scratch.has("r"));
    // Where the stream decides, its time is up and the run is completed.
    let scratch = Scratch::git();
    let ran = launch(&scratch, &script()).args(limits).args(["--decide", "stream"]).run();
    ran.exits(0).stderr_has("codex did not end behind its completed turn");
    assert!(progress(&scratch).completed().lingered());
    assert_eq!(scratch.text("r"), "ok");
}

#[test]
fn what_is_no_completed_turn_with_an_answer_meets_the_limit() {
    let empty = Script::new().lines([T, S]).message(" ").line(C);
    for script in
        [Script::new().lines([T, S, M]), Script::new().lines([T, S, C]), empty, Script::good().line(S)]
    {
        let scratch = Scratch::git();
        let limits = ["--linger-seconds", "0.1", "--timeout-seconds", "0.8"];
        launch(&scratch, &script.hang()).args(limits).run().exits(124);
        progress(&scratch).failed_by("timeout");
    }
}

#[test]
fn a_signal_of_the_user_still_cancels() {
    let scratch = Scratch::git();
    let running = launch(&scratch, &Script::good().hang()).start();
    wait_until("the turn is completed", SOON, || scratch.has("p") && scratch.text("p").contains(C));
    running.signal(Signal::SIGTERM);
    running.end().exits(143);
    progress(&scratch).failed_by("cancelled");
}
