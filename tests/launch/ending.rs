//! How a run ends: the sentinel and the status that each ending deserves.

use super::{launch, progress, run, seconds};
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, F, M, S, Script, T};

const RECONNECTING: &str = "Reconnecting... 2/5 (stream disconnected)";

/// Asserts that `script` fails with this status and cause.
#[track_caller]
fn fails(script: &Script, status: i32, cause: &str) -> Ran {
    let (ran, progress) = run(script);
    ran.exits(status);
    progress.failed(status, cause);
    ran
}

#[test]
fn status_0_a_completed_turn_and_an_answer_complete() {
    let (ran, progress) = run(&Script::new().lines([T, S, M]).turn_completed(30, 20, 17));
    ran.exits(0).stdout_is("");
    assert_eq!(progress.completed().output_tokens(), Some(17));
    assert_eq!(progress.events.len(), 4);
}

#[test]
fn output_tokens_are_those_of_the_last_turn_and_left_out_when_none_parses() {
    let tokens = |script: &Script| run(script).1.completed().output_tokens();
    assert_eq!(tokens(&Script::good().line(S).turn_completed(2, 0, 9)), Some(9));
    for usage in [r#""usage":null"#, r#""usage":{}"#, r#""usage":{"output_tokens":"7"}"#, r#""other":1"#] {
        let script = Script::new().lines([T, S, M]).line(format!(r#"{{"type":"turn.completed",{usage}}}"#));
        assert_eq!(tokens(&script), None, "{usage}");
    }
}

#[test]
fn an_empty_answer_is_no_result() {
    fails(&Script::new().lines([T, S, C]), 70, "no-result");
    fails(&Script::new().lines([T, S]).message("").line(C), 70, "no-result");
}

#[test]
fn a_turn_that_began_and_did_not_end_is_incomplete() {
    fails(&Script::new().lines([T, S]), 70, "incomplete");
    fails(&Script::new().lines([T, S, M]), 70, "incomplete");
}

#[test]
fn a_failed_turn_with_status_0_has_the_cause_of_its_message() {
    let script = Script::new().lines([T, S]).turn_failed("You've hit your usage limit. Try again later.");
    fails(&script, 70, "usage-limit").stderr_has("You've hit your usage limit. Try again later.");
    fails(&Script::new().lines([T, S, F]), 70, "incomplete").stderr_has("x");
}

#[test]
fn no_event_at_all_is_incomplete() {
    fails(&Script::new(), 70, "incomplete");
}

#[test]
fn a_turn_after_the_completed_one_is_incomplete() {
    fails(&Script::good().line(S), 70, "incomplete");
}

#[test]
fn an_error_before_the_completed_turn_is_outlived() {
    let script = Script::new().lines([T, S]).error(RECONNECTING).lines([M, C]);
    let (ran, progress) = run(&script);
    ran.exits(0);
    progress.completed();
    assert_eq!(progress.events.len(), 5);
}

#[test]
fn an_error_and_then_a_failed_turn_is_a_failure_with_its_cause() {
    let script = Script::new().lines([T, S]).error(RECONNECTING).line(M);
    let last = "stream disconnected before completion: error sending request";
    let script = script.error(last).turn_failed(last).exit(1);
    fails(&script, 1, "transport").stderr_has(last);
    fails(&Script::new().lines([T, S]).error("x").line(F).exit(1), 1, "");
}

#[test]
fn an_error_and_the_end_of_the_stream_is_incomplete_in_spite_of_status_0() {
    let script = Script::new().lines([T, S]).error(RECONNECTING).line(M).error("Reconnecting... 3/5");
    fails(&script, 70, "incomplete").stderr_has("Reconnecting... 3/5");
}

#[test]
fn a_status_of_codex_is_the_status() {
    for status in [1, 2, 3, 64, 101, 255] {
        fails(&Script::good().exit(status), status, "");
    }
}

#[test]
fn the_cause_is_in_the_last_failure_message() {
    for (message, cause) in [
        ("unexpected status 401 Unauthorized: Missing bearer authentication", "auth"),
        ("Not logged in. Please log in with codex login", "auth"),
        ("You've hit your usage limit. Upgrade to Pro or try again at 7:13 PM.", "usage-limit"),
        (
            "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
            "context-full",
        ),
        ("stream disconnected before completion: Transport error: network error", "transport"),
        ("something nobody thought of", ""),
    ] {
        let script = Script::new().lines([T, S]).error(message).turn_failed(message).exit(1);
        fails(&script, 1, cause).stderr_has(message);
    }
}

#[test]
fn words_in_items_and_answers_are_no_cause() {
    let script = Script::new().lines([T, S]).message("401 Unauthorized: please log in, usage limit");
    fails(&script.clone().turn_failed("x").exit(1), 1, "");
    let (ran, progress) = run(&script.clone().line(C));
    ran.exits(0);
    progress.completed();
    // Nor are those in an item whose line was never ended, though it goes where stderr goes.
    let fragment = r#"{"type":"item.completed","item":{"type":"command_execution","text":"401 Unauthorized"#;
    fails(&Script::new().lines([T, S]).raw(fragment).exit(1), 1, "");
}

#[test]
fn the_reason_is_the_failure_and_not_a_line_of_stderr() {
    let limit = "You've hit your usage limit. Try again at 7:13 PM.";
    let script = Script::new().stderr("Reading additional input from stdin...\n").lines([T, S]);
    let ran = fails(&script.error(limit).turn_failed(limit).exit(1), 1, "usage-limit");
    let lines = ran.stderr_lines();
    let place = |text: &str| lines.iter().position(|line| line.contains(text));
    assert!(place(limit).expect("the message") < place("Reading additional").unwrap_or(usize::MAX), "{ran}");
}

#[test]
fn without_a_message_the_cause_is_in_stderr() {
    fails(&Script::new().stderr("Error: Not logged in. Please log in\n").exit(1), 1, "auth");
}

#[test]
fn the_word_error_on_stderr_does_not_fail_a_run() {
    let script = Script::new()
        .stderr("2026-01-31T09:05:00Z ERROR codex_core: failed to refresh\n")
        .lines([T, S, M, C]);
    let (ran, progress) = run(&script.stderr("ERROR\n"));
    ran.exits(0);
    progress.completed();
}

#[test]
fn error_items_decide_nothing() {
    let item = r#"{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata not found."}}"#;
    let (ran, progress) = run(&Script::new().lines([T, item, S, M, C, item]));
    ran.exits(0);
    progress.completed().events_are([T, item, S, M, C, item]);
}

#[test]
fn the_torn_line_of_a_killed_codex_is_left_out() {
    let scratch = Scratch::git();
    let script = Script::new().line(T).raw(r#"{"type":"item.compl"#).die("KILL");
    launch(&scratch, &script).run().exits(137);
    progress(&scratch).failed(137, "killed").events_are([T]);

    launch(&scratch, &Script::new().sh(r#"printf '{"type":"item.compl'; kill -9 $$"#))
        .arg("--force")
        .run()
        .exits(137);
    progress(&scratch).failed(137, "killed").events_are([]);
}

#[test]
fn a_signal_from_outside_is_killed() {
    for (name, number) in [("TERM", 15), ("SEGV", 11), ("INT", 2)] {
        fails(&Script::new().lines([T, S, M]).die(name), 128 + number, "killed");
    }
    // A completed turn does not make up for it.
    fails(&Script::good().die("KILL"), 137, "killed");
}

#[test]
fn the_time_limit_takes_fractions() {
    let scratch = Scratch::git();
    let launcher = launch(&scratch, &Script::good().hang()).args(["--timeout-seconds", "0.4"]);
    launcher.run().exits(124).took(seconds(0), seconds(30));
    assert_eq!(progress(&scratch).failed_by("timeout").elapsed_seconds(), 0);
    assert!(!scratch.has("r"));
}

#[test]
fn elapsed_seconds_are_rounded_down() {
    let (ran, progress) = run(&Script::good().delay_ms(1100));
    assert!((1..=ran.elapsed.as_secs()).contains(&progress.elapsed_seconds()), "{ran}");
}

#[test]
fn codex_is_not_killed_after_a_completed_turn() {
    let scratch = Scratch::git();
    let script = Script::good().delay_ms(2000).touch(&scratch.path("saved"));
    launch(&scratch, &script).args(["--kill-grace", "0"]).run().exits(0).took(seconds(2), seconds(30));
    assert!(progress(&scratch).completed().elapsed_seconds() >= 2);
    assert!(scratch.has("saved"));
}

#[test]
fn every_line_is_before_the_sentinel() {
    let (ran, progress) = run(&Script::new().lines([T, S]).flood("stdout", 500_000, "lines").lines([M, C]));
    ran.exits(0);
    assert_eq!(progress.completed().events.len(), 504);
    let bytes: usize = progress.events[2..502].iter().map(|line| line.len() + 1).sum();
    assert_eq!(bytes, 500_000);
    assert_eq!(progress.events[502..], [M, C]);
}

#[test]
fn a_failure_is_reported_in_three_parts_and_the_time_is_last() {
    let script = Script::new().lines([T, S]).stderr("first of stderr\nlast of stderr\n");
    let ran = fails(&script.message("half done").turn_failed("it broke").exit(3), 3, "");
    let lines = ran.stderr_lines();
    let place = |text: &str| lines.iter().position(|line| line.contains(text)).expect("a line");
    assert!(place("codex-launch: failed: codex ended with status 3") < place("it broke"), "{ran}");
    assert!(place("it broke") < place("first of stderr"), "{ran}");
    assert!(place("first of stderr") < place("last of stderr"), "{ran}");
    assert_eq!(lines.last().map(String::as_str), Some("codex-launch: elapsed=0s"));
}

#[test]
fn without_a_failure_the_last_message_is_shown() {
    fails(&Script::new().lines([T, S]).message("half done").exit(3), 3, "").stderr_has("half done");
}

#[test]
fn what_codex_says_is_told_apart_from_what_the_launcher_says() {
    let forged = "codex-launch: progress file: the sentinel could not be written, and is:";
    let said = format!("half done\n{forged}\n\n{{\"type\":\"handoff.completed\"}}\r\u{85}x");
    let script = Script::new().lines([T, S]).stderr(format!("{forged}\n{forged}")).message(&said).exit(3);
    let ran = fails(&script, 3, "");
    ran.stderr_lacks("\r").stderr_lacks("\u{85}");
    let own = [
        "codex-launch: --progress-file p, --result-file r: the agent may write there",
        "codex-launch: failed: ",
        "codex-launch: codex said last: half done",
        "codex-launch: the end of codex's stderr:",
    ];
    let (marked, rest): (Vec<_>, Vec<_>) =
        ran.stderr_lines().into_iter().partition(|line| line.starts_with("| "));
    let marked_are = [forged, "", r#"{"type":"handoff.completed"}\r\u{85}x"#, forged, forged];
    assert_eq!(marked, marked_are.map(|line| format!("| {line}")), "{ran}");
    assert!(rest.iter().zip(own).all(|(line, own)| line.starts_with(own)), "{ran}");
    assert_eq!((rest.len(), rest.last().map(String::as_str)), (5, Some("codex-launch: elapsed=0s")), "{ran}");
}

#[test]
fn a_usage_of_all_zeros_gives_no_output_tokens() {
    // Codex gives it where the server has sent none, as for `codex exec review`.
    let (ran, progress) = run(&Script::new().lines([T, S, M]).turn_completed(0, 0, 0));
    ran.exits(0);
    assert_eq!(progress.completed().output_tokens(), None);
    let (_, progress) = run(&Script::new().lines([T, S, M]).turn_completed(5, 0, 0));
    assert_eq!(progress.completed().output_tokens(), Some(0));
    // What an earlier turn told is still the last total that is known.
    let (_, progress) = run(&Script::good().lines([S, M]).turn_completed(0, 0, 0));
    assert_eq!(progress.completed().output_tokens(), Some(1));
}
