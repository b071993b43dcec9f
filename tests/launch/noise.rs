//! What Codex prints that is no event.

use super::{launch, progress, run, seconds};
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T, lines};

const NOISE: [&[u8]; 5] =
    [b"Reading additional input from stdin...", b"", b"\x1b[?2004h{\"type\":\"x\"}", b"{}{}", b"\xa4\xa4"];

/// A good run with noise before, between and after its lines.
fn noisy() -> Script {
    NOISE.iter().fold(Script::new().line(NOISE[0]).lines([T, S]), Script::line).lines([M, C])
}

#[test]
fn noise_is_not_in_the_progress_file_and_the_rest_is_unharmed() {
    let (ran, progress) = run(&noisy());
    ran.exits(0);
    progress.completed().events_are([T, S, M, C]);
}

#[test]
fn noise_goes_where_stderr_goes() {
    let scratch = Scratch::git();
    launch(&scratch, &noisy().stderr("an error\n")).args(["--stderr-file", "e"]).run().exits(0);
    let text = scratch.read("e");
    let has = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
    for part in [NOISE[0], NOISE[2], NOISE[3], NOISE[4], b"an error\n"] {
        assert!(has(part), "{} in {}", part.escape_ascii(), text.escape_ascii());
    }
    assert!(!has(b"thread.started"));
}

#[test]
fn noise_is_shown_with_a_failure_and_counted() {
    let (ran, progress) = run(&noisy().stderr("an error\n").exit(1));
    progress.failed(1, "").events_are([T, S, M, C]);
    ran.exits(1).stderr_has("an error").stderr_has("{}{}").stderr_has("2004h").stderr_lacks("\u{1b}");
    ran.stderr_has("6 lines");
}

#[test]
fn a_line_that_was_cut_does_no_harm_to_the_next() {
    let message = |text: &[u8]| {
        [br#"{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"#, text].concat()
    };
    let null = String::from_utf8(message(b"null}}")).expect("UTF-8");
    let script = Script::new().lines([T, S]).line(message(b"\"cut \xe2\x82")).line(&null).lines([M, C]);
    let (ran, progress) = run(&script);
    ran.exits(0);
    progress.completed().events_are([T, S, &null, M, C]);
}

#[test]
fn not_objects_are_noise() {
    for line in
        ["[]", "null", "42", "\"x\"", "{", "{\"a\":1}}", "{\"a\":\"\u{b}\"}", "{'a':1}", "{\"a\":1,}", "NaN"]
    {
        let (ran, progress) = run(&Script::new().lines([T, line, S, M, C]));
        ran.exits(0);
        progress.completed().events_are([T, S, M, C]);
    }
    for bytes in
        [&b"{\"a\":\"\xe6\x87\"}"[..], b"{\"a\":\"\x00\"}", b"{\"a\":\"\xed\xa0\x80\"}", b"{\"\xff\":1}"]
    {
        let (ran, progress) = run(&Script::new().lines([T, S]).line(bytes).lines([M, C]));
        ran.exits(0);
        progress.completed().events_are([T, S, M, C]);
    }
}

#[test]
fn a_fragment_at_the_end_is_noise() {
    for fragment in [r#"{"type":"item.compl"#, "{}{}", "x", " "] {
        let (ran, progress) = run(&Script::good().raw(fragment));
        ran.exits(0);
        progress.completed().events_are([T, S, M, C]);
    }
}

#[test]
fn a_flood_of_empty_lines_is_not_passed_on_line_by_line() {
    const LINES: usize = 32 << 20;
    let scratch = Scratch::git();
    let (start, end) = (lines([T, S]), lines([M, C]));
    scratch.write("start", &start);
    scratch.write("end", &end);
    let flood = format!("cat start; yes '' | head -c {LINES}; cat end");
    let ran = launch(&scratch, &Script::new().no_answer().sh(&flood)).args(["--stderr-file", "e"]).run();
    // A copy, a lock and a message to another thread for each of them would take some minutes.
    ran.exits(0).took(seconds(0), seconds(30)).peak_under_mib(16);
    ran.stderr_has(&format!("{LINES} lines of codex were not events"));
    progress(&scratch).completed().events_are([T, S, M, C]);
    let noise = scratch.read("e");
    assert!(noise.len() == LINES && noise.iter().all(|&byte| byte == b'\n'), "{} bytes", noise.len());
}
