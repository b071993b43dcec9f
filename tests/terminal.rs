//! What the filters print to a terminal cannot drive it; what they print into a pipe or a file is exact.

use serde_json::Value;

use crate::harness::filter::{Filter, filter};
use crate::harness::scratch::Scratch;
use crate::harness::terminal::{Terminal, on_a_terminal};

/// Characters that drive a terminal and that JSON allows unescaped: DEL, CSI, OSC, a right-to-left override.
const DRIVING: &str = "\u{7f}\u{9b}2J\u{9d}52;c;eA==\u{9c}\u{202e}";

const SENTINEL: &str = r#"{"type":"handoff.completed","elapsed_seconds":9,"output_tokens":1}"#;

/// Whether `text` has nothing that drives a terminal, LF and TAB left aside.
fn is_harmless(text: &str) -> bool {
    let drives = |c: char| c.is_control() && c != '\n' && c != '\t' || ('\u{202a}'..='\u{202e}').contains(&c);
    !text.contains(drives)
}

fn values(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

/// Records of `filter` are exact in a pipe, harmless on a terminal, and the same JSON in both. `filter` must print
/// [`DRIVING`] in one of them.
#[track_caller]
fn records_are_the_same(status: i32, filter: impl Fn() -> Filter) {
    let ran = filter().run();
    let piped = ran.exits(status).stdout_text();
    assert!(piped.contains(DRIVING), "not exact in a pipe: {piped:?}");
    let (ran, shown) = on_a_terminal(filter());
    ran.exits(status);
    assert!(is_harmless(&shown), "{shown:?}");
    assert_eq!(values(&shown), values(&piped));
}

fn message(text: &str) -> String {
    let item = serde_json::json!({"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": text}});
    format!("{item}\n")
}

#[test]
fn an_answer_is_harmless_on_a_terminal_and_exact_elsewhere() {
    let answer = format!("one\t\u{1b}[2J\r\n{DRIVING}\n");
    let render = || filter("codex-render").arg("--answer").stdin(message(&answer));
    render().run().exits(0).stdout_is(&answer);
    let (ran, shown) = on_a_terminal(render());
    ran.exits(0);
    assert!(is_harmless(&shown), "{shown:?}");
    assert!(shown.starts_with("one\t\\u{1b}[2J\\r\n\\u{7f}\\u{9b}2J"), "{shown:?}");
}

#[test]
fn records_of_usage_diff() {
    let scratch = Scratch::new();
    let thread = format!("{{\"type\":\"thread.started\",\"thread_id\":\"{DRIVING}\"}}\n");
    let turn = "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}\n";
    scratch.write(DRIVING, thread + turn);
    records_are_the_same(0, || filter("usage-diff").arg(DRIVING).dir(scratch.dir()));
    let (ran, shown) = on_a_terminal(filter("usage-diff").args(["--table", DRIVING]).dir(scratch.dir()));
    ran.exits(0);
    assert!(is_harmless(&shown), "{shown:?}");
}

#[test]
fn records_of_wave_watch() {
    let scratch = Scratch::new();
    scratch.write("p", format!("{SENTINEL}\n"));
    let watch =
        || filter("wave-watch").args(["--ui", "never", "--agent", DRIVING, "9", "p"]).dir(scratch.dir());
    // Times differ from run to run.
    let piped = watch().run().exits(0).stdout_text();
    assert!(piped.contains(DRIVING), "{piped:?}");
    let (ran, shown) = on_a_terminal(watch());
    ran.exits(0);
    assert!(is_harmless(&shown), "{shown:?}");
    let ids = |lines: &str| -> Vec<Value> {
        values(lines).iter().map(|record| record["agentId"].clone()).collect()
    };
    assert_eq!(ids(&shown), ids(&piped));
}

#[test]
fn a_dry_run_of_the_launcher() {
    let scratch = Scratch::git();
    records_are_the_same(0, || {
        let launch = filter("codex-launch").args(["--codex", "/bin/true", "--dry-run", "--model", DRIVING]);
        launch.dir(scratch.dir()).stdin("do it")
    });
}

#[test]
fn a_sentinel_that_somebody_else_wrote() {
    let scratch = Scratch::new();
    let sentinel = format!("{{\"type\":\"handoff.failed\",\"reason\":\"{DRIVING}\"}}\n");
    scratch.write("p", &sentinel);
    records_are_the_same(1, || filter("jsonl-sentinel").args(["wait", "p"]).dir(scratch.dir()));
    scratch.write("long", sentinel.replace('}', &format!(",\"x\":\"{}\"}}", "\u{9b}\u{e9}".repeat(200_000))));
    records_are_the_same(1, || filter("jsonl-sentinel").args(["wait", "long"]).dir(scratch.dir()));
    let (ran, shown) = on_a_terminal(filter("jsonl-sentinel").args(["check", "p"]).dir(scratch.dir()));
    ran.exits(1);
    assert!(is_harmless(&shown), "{shown:?}");
}

#[test]
fn a_stream_that_is_sealed_or_copied() {
    let scratch = Scratch::new();
    let stream = format!("{}{}\n", message(&format!("\u{1b}{DRIVING}")), SENTINEL);
    records_are_the_same(0, || filter("jsonl-sentinel").arg("seal").stdin(stream.as_str()));
    records_are_the_same(0, || filter("jsonl-tee").arg("f").dir(scratch.dir()).stdin(stream.as_str()));
    records_are_the_same(0, || {
        filter("jsonl-tee").args(["--detach-stdout", "f"]).dir(scratch.dir()).stdin(stream.as_str())
    });
    assert_eq!(scratch.text("f"), stream);
}

#[test]
fn what_is_no_json_is_shown_escaped_and_what_is_no_utf8_replaced() {
    let (ran, shown) = on_a_terminal(filter("jsonl-tee").stdin(b"\x1b[2J\x9b\xff\r\n\xe2\x82"));
    ran.exits(0);
    assert_eq!(shown, "\\u001b[2J\u{fffd}\u{fffd} \n\u{fffd}");
}

#[test]
fn a_terminal_among_the_files_of_a_copy() {
    let scratch = Scratch::new();
    let (terminal, descriptor) = Terminal::open();
    let tee = filter("jsonl-tee").args(["f", "/dev/stderr"]).dir(scratch.dir()).stdin(format!("{DRIVING}\n"));
    tee.stderr_to(descriptor).run().exits(0).stdout_is(format!("{DRIVING}\n"));
    assert_eq!(scratch.text("f"), format!("{DRIVING}\n"));
    let shown = terminal.text();
    assert!(is_harmless(&shown) && shown.contains("\\u009b2J"), "{shown:?}");
}
