//! Lines of any length, in little memory.

use std::time::Duration;

use super::{completed, message};
use crate::harness::filter::filter;
use crate::harness::pipes::{feed_line, pipe};
use crate::harness::script::{C, M, S, lines};

/// How much of a message is kept.
const MESSAGE_CAP: usize = 1 << 20;

/// A line with the members of an item, one of them a text of about `length` bytes.
fn long(head: &str, length: usize) -> String {
    completed(&format!("{head}\"{}\"", r"a\n\u00e9é".repeat(length / 10)))
}

#[test]
fn what_follows_a_long_line_is_shown() {
    let output = r#""type":"command_execution","command":"seq","exit_code":1,"aggregated_output":"#;
    let shown = "Using shell — seq\nShell failed with status 1 — seq\n";
    let rest = lines([M, C, r#"{"type":"handoff.completed","elapsed_seconds":1}"#]);
    let end = "ok\nTokens: in 1 (cached 0), out 1\nCompleted in 1s\n";
    let ran = filter("codex-render").stdin(long(output, 20 << 20) + &rest).run();
    let too_long = "  (its output is longer than can be shown)\n";
    ran.exits(0).stdout_is(format!("{shown}{too_long}{end}")).peak_under_mib(16);
    let ran = filter("codex-render").stdin(long(output, 100_000).repeat(300) + &rest).run();
    let last_lines = "  ééa\n".repeat(4) + "  éé\n";
    ran.exits(0).stdout_is(format!("{shown}{last_lines}").repeat(300) + end);
}

#[test]
fn a_line_of_a_gibibyte_is_classified_in_little_memory() {
    const GIB: u64 = 1 << 30;
    let heads = [
        r#"{"type":"item.completed","item":{"type":"command_execution","command":"seq","aggregated_output":""#,
        r#"{"type":"item.completed","item":{"type":"agent_message","text":""#,
    ];
    let cut = format!("{}…\n", "x".repeat(MESSAGE_CAP));
    for (head, shown) in heads.into_iter().zip(["Using shell — seq\n", &cut]) {
        let (input, writer) = pipe();
        let fed = feed_line(writer, head, GIB, r#""}}"#, lines([M]));
        let ran = filter("codex-render").stdin_from(input).run();
        ran.exits(0).stdout_is(format!("{shown}ok\n")).peak_under_mib(16);
        fed.join().expect("the feeder");
    }
}

#[test]
fn what_is_shown_of_a_text_has_a_limit_and_is_cut_at_a_character() {
    let whole = "é".repeat(MESSAGE_CAP / 2);
    let ran = filter("codex-render").stdin(message(&whole)).run();
    ran.exits(0).stdout_is(format!("{whole}\n"));
    let ran = filter("codex-render").stdin(message(&format!("x{whole}"))).run();
    ran.exits(0).stdout_is(format!("x{}…\n", &whole[..MESSAGE_CAP - 2]));
    let ran = filter("codex-render").arg("--answer").stdin(message(&format!("x{whole}"))).run();
    ran.exits(1).stdout_is("");
    assert_eq!(ran.stderr_lines(), ["codex-render: answer: longer than 1048576 bytes: not kept"]);
}

#[test]
fn commands_are_cut_at_a_character_wherever_the_limit_falls() {
    let text = "漢字👩‍💻—é".repeat(300);
    for before in 0..100 {
        let command = format!("{}{text}", "x".repeat(before));
        let line = completed(&format!(r#""type":"command_execution","command":"{command}","exit_code":0"#));
        let kept = &command[..command.floor_char_boundary(4096)];
        filter("codex-render").stdin(line).run().exits(0).stdout_is(format!("Using shell — {kept}…\n"));
    }
}

#[test]
fn failures_are_cut_where_they_are_kept() {
    let failed = |text: &str| format!("{{\"type\":\"turn.failed\",\"error\":{{\"message\":\"{text}\"}}}}\n");
    for (message, shown) in [
        ("y".repeat(4092), "y".repeat(4092)),
        (format!("{}—!", "x".repeat(4094)), format!("{}…", "x".repeat(4094))),
        ("é".repeat(3000), format!("{}…", "é".repeat(2048))),
    ] {
        filter("codex-render").stdin(failed(&message)).run().exits(0).stdout_is(format!("Failed: {shown}\n"));
    }
}

#[test]
fn long_lists_take_little_memory() {
    let step = r#"{"text":"a","completed":true}"#;
    let plan = |steps: String| completed(&format!(r#""type":"todo_list","items":[{steps}]"#));
    let shown: String = (1..=30_000).map(|number| format!(" {number}. a ✓")).collect();
    let ran = filter("codex-render").stdin(plan([step].repeat(30_000).join(","))).run();
    ran.exits(0).stdout_is(format!("Plan:{shown}\n")).peak_under_mib(16);
    let ran = filter("codex-render").stdin(plan("0,".repeat(500_000) + step)).run();
    ran.exits(0).stdout_is("Plan: 1. a ✓\n").peak_under_mib(16);
    let ran = filter("codex-render").stdin(plan([step].repeat(40_000).join(","))).run();
    ran.exits(0).stdout_is("Plan: more steps than can be shown\n").peak_under_mib(16);
    let change = r#"{"path":"a","kind":"add"}"#;
    let files =
        completed(&format!(r#""type":"file_change","changes":[{}]"#, [change].repeat(50_000).join(",")));
    let ran = filter("codex-render").stdin(files).run();
    ran.exits(0).stdout_is("Edited more files than can be shown\n").peak_under_mib(16);
}

#[test]
fn escapes_take_little_memory() {
    let text = r"\u001b".repeat(MESSAGE_CAP);
    let ran = filter("codex-render").stdin(message(&text)).run();
    ran.exits(0).stdout_is(format!("{}\n", r"\u{1b}".repeat(MESSAGE_CAP))).peak_under_mib(16);
}

#[test]
fn nesting_of_any_depth_is_passed_over() {
    let nested = |depth: usize| format!("{{\"x\":{}{}}}\n", "[".repeat(depth), "]".repeat(depth));
    let stream = nested(200) + &nested(100_000) + &lines([S, M]);
    let ran = filter("codex-render").arg("--verbose").stdin(stream).run();
    ran.exits(0).stdout_is("ok\n");
    let counted = "left out: lines that are no JSON objects: 0; events of unknown types: 2";
    assert_eq!(ran.stderr_lines(), [format!("codex-render: {counted}")]);
}

#[test]
fn bytes_that_are_not_utf8_are_read_about_as_fast_as_text() {
    let run = |pattern: &[u8]| filter("codex-render").arg("--verbose").stdin(pattern.repeat(1 << 22)).run();
    let ordinary = run(b"text\n");
    let ran = run(b"\xff\xe6\x87\xff\n");
    ran.exits(65).stderr_has("lines that are no JSON objects: 4194304");
    // The machine may be busy with something else meanwhile.
    ran.took(Duration::ZERO, 10 * ordinary.elapsed + Duration::from_secs(1));
}
