//! Streams as users of such tools met them, through `jsonl-tee` and `jsonl-sentinel`: what must pass
//! passes byte for byte, and what is a sentinel, or is none, is told apart.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::time::Duration;

use crate::harness::filter::filter;
use crate::harness::pipes::{count, feed_line, is_drained, pipe};
use crate::harness::progress::Progress;
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, F, M, S, T, lines};
use crate::harness::wait::{SOON, wait_until};

/// A sentinel that a launcher has written.
const DONE: &str = r#"{"type":"handoff.completed","elapsed_seconds":9,"output_tokens":1}"#;

/// A good run with `line` in its middle.
fn around(line: impl AsRef<[u8]>) -> Vec<u8> {
    [lines([T, S]).as_bytes(), line.as_ref(), b"\n", lines([M, C]).as_bytes()].concat()
}

/// What became of a stream.
struct Passed {
    /// How `seal` ended, and with which sentinel behind the stream.
    sealed: Ran,
    sentinel: String,
    /// What `check` finds in the sealed file.
    finding: String,
}

/// Sends `input` through `jsonl-tee` and `jsonl-sentinel seal`, asserts that both pass it on byte for byte, and that
/// `wait` sees the same sentinel that `seal` wrote.
#[track_caller]
fn pass(input: impl AsRef<[u8]>) -> Passed {
    let input = input.as_ref();
    let scratch = Scratch::new();
    let tee = filter("jsonl-tee").arg("copy").dir(scratch.dir()).stdin(input).run();
    tee.exits(0).stdout_is(input);
    assert!(scratch.read("copy") == input, "the file is not the input");
    assert_eq!(tee.stderr_text(), "");

    let sealed = filter("jsonl-sentinel").arg("seal").stdin(input).run();
    assert!(sealed.stdout.starts_with(input), "not passed on as it was\n{sealed}");
    let sentinel = String::from_utf8(sealed.stdout[input.len()..].to_vec()).expect("a sentinel in UTF-8");
    assert_eq!(sealed.stderr_text(), "");

    scratch.write("f", &sealed.stdout);
    let check = filter("jsonl-sentinel").args(["check", "f"]).dir(scratch.dir()).run();
    let finding = check.stdout_text().trim_start_matches("f: ").trim_end().to_owned();
    if !sentinel.is_empty() {
        let wait = filter("jsonl-sentinel").args(["wait", "f"]).dir(scratch.dir()).run();
        assert_eq!(wait.stdout_text(), sentinel.trim_start_matches('\n'));
    }
    Passed { sealed, sentinel, finding }
}

impl Passed {
    /// The run completed, and the file is in order.
    #[track_caller]
    fn completed(&self) {
        self.sealed.exits(0);
        Progress::parse(self.sentinel.as_bytes()).completed();
        assert_eq!(self.finding, "completed");
    }

    /// The run completed, and the file has something in it that `check` minds.
    #[track_caller]
    fn completed_but(&self, finding: &str) {
        self.sealed.exits(0);
        Progress::parse(self.sentinel.trim_start_matches('\n').as_bytes()).completed();
        assert_eq!(self.finding, finding);
    }
}

#[test]
fn a_web_search_has_two_ids() {
    let item = |kind: &str| {
        format!(
            r#"{{"type":"item.{kind}","item":{{"id":"item_1","type":"web_search","id":"ws_1","query":"","action":{{"type":"other"}}}}}}"#
        )
    };
    pass(around(format!("{}\n{}", item("started"), item("completed")))).completed();
}

#[test]
fn long_lines_hide_nothing_behind_them() {
    let output = |length: usize| {
        let text = r"a\n\u00e9é".repeat(length / 10);
        format!(
            r#"{{"type":"item.completed","item":{{"id":"item_0","type":"command_execution","aggregated_output":"{text}"}}}}"#
        )
    };
    let long = pass(around(output(20 << 20)));
    long.completed();
    long.sealed.peak_under_mib(16);
    pass(around(vec![output(100_000); 300].join("\n"))).completed();
}

#[test]
fn a_line_of_a_gibibyte_passes_in_little_memory() {
    const GIB: u64 = 1 << 30;
    let (head, tail) = (r#"{"type":"item.completed","item":{"aggregated_output":""#, r#""}}"#);
    let rest = format!("{S}\n{M}\n{C}\n{DONE}\n");
    let whole = GIB + 1 + rest.len() as u64;
    for (name, args, status) in [
        ("jsonl-tee", &["--status", "/dev/null"][..], 0),
        ("jsonl-tee", &["--only-json", "--status"], 0),
        ("jsonl-sentinel", &["seal"], 0),
        ("jsonl-sentinel", &["check", "/dev/stdin"], 0),
    ] {
        let ((input, writer), (reader, output)) = (pipe(), pipe());
        let fed = feed_line(writer, head, GIB, tail, rest.clone());
        let passed = count(reader);
        let filter = filter(name).args(args).stdin_from(input).stdout_to(output);
        // It takes some seconds; a machine may have much else to do.
        let ran = filter.limit(Duration::from_secs(600)).run();
        ran.exits(status).peak_under_mib(16);
        fed.join().expect("the feeder");
        let (length, last) = passed.join().expect("the reader");
        if args[0] == "check" {
            assert_eq!(last, b"/dev/stdin: completed\n");
        } else {
            assert_eq!(length, whole);
            assert!(last.ends_with(rest.as_bytes()));
        }
    }
}

#[test]
fn bytes_that_are_not_utf8_pass_and_are_malformed() {
    let raw = [&br#"{"type":"x","text":"a"#[..], b"\xe6\x87", br#""}"#].concat();
    pass(around(raw)).completed_but("line 3: not JSON in valid UTF-8");
    pass(around(r#"{"type":"x","text":"cut \ud83d"}"#)).completed();
}

#[test]
fn a_line_in_two_parts_is_one_line() {
    let scratch = Scratch::new();
    let ((input, mut writer), (sealed_input, mut sealed_writer)) = (pipe(), pipe());
    let tee =
        filter("jsonl-tee").arg(scratch.path("f")).stdin_from(input.try_clone().expect("a pipe")).start();
    let seal =
        filter("jsonl-sentinel").arg("seal").stdin_from(sealed_input.try_clone().expect("a pipe")).start();
    let wait = filter("jsonl-sentinel").arg("wait").args([scratch.path("f"), scratch.path("g")]).start();
    let whole = lines([T, S, M, C]);
    let whole = whole.as_bytes();
    let cut = whole.len() - 20;
    for part in [&whole[..cut], &whole[cut..]] {
        writer.write_all(part).expect("feeding");
        sealed_writer.write_all(part).expect("feeding");
        wait_until("both have read it", SOON, || is_drained(&input) && is_drained(&sealed_input));
    }
    drop((writer, sealed_writer));
    tee.end().exits(0).stdout_is(whole);
    let sealed = seal.end();
    assert!(sealed.exits(0).stdout.starts_with(whole));

    // The cuts are inside the sentinel, and between its brace and the LF.
    let mut file = File::options().append(true).open(scratch.path("f")).expect("the file");
    let sentinel = &sealed.stdout[whole.len()..];
    for part in [&sentinel[..10], &sentinel[10..sentinel.len() - 1]] {
        file.write_all(part).expect("writing");
        assert_eq!(wait.stdout(), b"");
    }
    // It has seen these parts when it has seen what was written to the other file after them.
    scratch.write("g", lines([DONE]));
    let expected = |name: &str| format!("{}\t", scratch.path(name).display());
    wait_until("the other file's sentinel is seen", SOON, || !wait.stdout().is_empty());
    assert_eq!(wait.stdout(), format!("{}{DONE}\n", expected("g")).as_bytes());
    file.write_all(b"\n").expect("writing");
    let both =
        [expected("g").as_bytes(), lines([DONE]).as_bytes(), expected("f").as_bytes(), sentinel].concat();
    wait.end().exits(0).stdout_is(both);
}

#[test]
fn a_character_may_lie_across_any_boundary() {
    for boundary in [8192, 65_536] {
        for before in 1..=3 {
            let head = r#"{"type":"x","text":""#;
            let prefix = format!("{T}\n{S}\n{head}");
            let text = "x".repeat(boundary - prefix.len() - before);
            pass(around(format!("{head}{text}漢字\"}}"))).completed();
        }
    }
}

#[test]
fn one_byte_at_a_time_is_as_good_as_one_piece() {
    let input = around(r#"{"type":"x","text":"naïve — 漢字 👩‍💻"}"#);
    for (name, args) in [("jsonl-tee", &["--only-json"][..]), ("jsonl-sentinel", &["seal"])] {
        let (reader, mut writer) = pipe();
        let running = filter(name).args(args).stdin_from(reader.try_clone().expect("a pipe")).start();
        for byte in &input {
            writer.write_all(&[*byte]).expect("feeding");
            wait_until("it is read", SOON, || is_drained(&reader));
        }
        drop(writer);
        let ran = running.end();
        assert!(ran.exits(0).stdout.starts_with(&input));
    }
}

#[test]
fn only_lf_ends_a_line() {
    pass(around("{\"type\":\"x\",\"text\":\"\u{2028} \u{2029} \u{85}\"}")).completed();
    for control in ['\u{b}', '\u{c}'] {
        pass(around(format!("{{\"type\":\"x\",\"text\":\"{control}\"}}")))
            .completed_but("line 3: not JSON in valid UTF-8");
    }
}

#[test]
fn a_bom_crlf_and_blank_lines_are_tolerated() {
    pass(format!("\u{feff}{T}\r\n\r\n{S}\r\n \t\r\n\n{M}\r\n{C}\r\n")).completed();
    let sealed = pass(format!("\u{feff}{S}\r\n{M}\r\n{C}\r\n{DONE}\r\n\r\n"));
    sealed.sealed.exits(0);
    assert_eq!((sealed.sentinel.as_str(), sealed.finding.as_str()), ("", "completed"));
    pass(format!("\u{feff}{DONE}\n")).sealed.exits(0);
}

#[test]
fn odd_fields_and_new_types_are_ordinary() {
    let nested = |depth: usize| format!(r#"{{"x":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    for line in [
        r#"{"type":"item.completed","item":null}"#,
        r#"{"type":"item.completed","item":{"type":"command_execution","exit_code":null}}"#,
        r#"{"type":"turn.completed"}"#,
        r#"{"type":"turn.completed","usage":null}"#,
        r#"{"type":"turn.completed","usage":{"output_tokens":"7","new":{}}}"#,
        r#"{"type":"item.plan.delta"}"#,
        r#"{"type":"request_user_input"}"#,
        r#"{"type":"item.completed","item":{"type":"collab_tool_call"}}"#,
        r#"{"type":"handoff.started"}"#,
        r#"{"type":7}"#,
        "{}",
        &nested(200),
        &nested(100_000),
    ] {
        pass(around(line)).completed();
    }
}

#[test]
fn what_is_no_object_passes_and_is_found() {
    for line in ["[]", "null", "42", r#""x""#] {
        pass(around(line)).completed_but("line 3: not a JSON object");
    }
    for line in ["{", "{}{}", "Reading additional input from stdin...", "\u{1b}[?2004h{}"] {
        pass(around(line)).completed_but("line 3: not JSON in valid UTF-8");
    }
}

#[test]
fn the_text_of_a_sentinel_is_no_sentinel() {
    let quoted = DONE.replace('"', "\\\"");
    let line = |item: &str| format!(r#"{{"type":"item.completed","item":{item}}}"#);
    for line in [
        line(&format!(r#"{{"type":"command_execution","aggregated_output":"{quoted}\n"}}"#)),
        line(&format!(r#"{{"type":"agent_message","text":"{quoted}"}}"#)),
        line(DONE),
        format!(r#"{{"type":"x","nested":[{DONE}]}}"#),
        r#"{"x":{"type":"handoff.completed"}}"#.to_owned(),
        format!("[{DONE}]"),
        format!("{DONE}{DONE}"),
        r#"{"type":"handoff.completed.not"}"#.to_owned(),
    ] {
        let scratch = Scratch::new();
        let file = scratch.write("f", lines([T, S, &line, C]));
        let wait = filter("jsonl-sentinel").args(["wait", "--timeout-seconds", "0.1"]).arg(&file).run();
        wait.exits(124).stdout_is("").stderr_has("found no sentinel in ");
        filter("jsonl-tee").arg("--status").stdin_file(&file).run().exits(65);
        assert_eq!(pass(around(&line)).sentinel.lines().count(), 1);
    }
}

#[test]
fn only_the_sentinel_settles() {
    pass(lines([T, S, M, C, S, M, C])).completed();
    let sealed = pass(lines([T, C, S, M, C, "{}", DONE]));
    sealed.sealed.exits(0);
    assert_eq!((sealed.sentinel.as_str(), sealed.finding.as_str()), ("", "completed"));
    let open = pass(lines([T, S, M, C, S, M]));
    Progress::parse(open.sentinel.as_bytes()).failed(70, "incomplete");
    let failed = pass(lines([T, S, M, C, S, F]));
    Progress::parse(failed.sentinel.as_bytes()).failed(1, "");
}

#[test]
fn jsonl_tee_passes_numbers_and_duplicate_keys_byte_for_byte() {
    pass(around(r#"{"b":1.10,"a":123456789012345678901,"a":"\u0041","s":"\/"}  "#)).completed();
}

#[test]
fn what_drives_a_terminal_is_shown_escaped() {
    let evil = "\\u001b]52;c;eA==\\u0007\\u001b[2J\\u001b[A\\r\u{202e}\u{9b}";
    pass(around(format!(r#"{{"type":"x","command":"{evil}"}}"#))).completed();
    let scratch = Scratch::new();
    let name = "a\u{1b}[2J\n.jsonl";
    scratch.write(name, lines([&format!(r#"{{"type":"handoff.failed","reason":"{evil}"}}"#)]));
    let check = filter("jsonl-sentinel").args(["check", name, "\u{9b}"]).dir(scratch.dir()).run();
    check.exits(66).stdout_is(concat!(
        r"a\u{1b}[2J\n.jsonl: failed: \u{1b}]52;c;eA==\u{7}\u{1b}[2J\u{1b}[A\r\u{202e}\u{9b}",
        "\n",
        r"\u{9b}: cannot be read",
        "\n"
    ));
    check.stderr_has(r"\u{9b}: read: ").stderr_lacks("\u{9b}");
}

#[test]
fn a_reason_is_cut_at_a_character() {
    let text = "漢字 — 👩‍💻 naïve — ".repeat(5);
    let mut input = String::new();
    let scratch = Scratch::new();
    for width in 0..=100 {
        let reason: String = text.chars().take(width).collect();
        input.clear();
        writeln!(input, r#"{{"type":"handoff.failed","reason":"{reason}"}}"#).expect("writing to a string");
        let file = scratch.write("f", &input);
        let check = filter("jsonl-sentinel").arg("check").arg(&file).run();
        let shown = check.exits(1).stdout_text();
        let shown = shown.split_once("failed: ").expect("a finding").1.trim_end_matches('\n').to_owned();
        assert!(reason.starts_with(&shown) && (shown == reason || shown.len() > 60), "{shown}");
    }
}
