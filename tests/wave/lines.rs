//! Streams as users of such tools met them.

use std::fs;
use std::io::{BufWriter, Write};

use super::{DONE, append, failed, records, settled, told, watch};
use crate::harness::private::PRIVATE;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, T, lines};

/// A watcher of one file with this content tells of a completed agent with so many events.
#[track_caller]
fn completes(content: impl AsRef<[u8]>, events: u64) {
    let scratch = Scratch::new();
    scratch.write("A1", content);
    let ran = watch(&scratch, &["A1"]).run();
    assert_eq!(records(&ran.exits(0).stdout), settled("A1", events, DONE, 1, 1));
}

/// The same for a file that breaks the rules on this line.
#[track_caller]
fn fails(content: impl AsRef<[u8]>, reason: &str, line: u64) {
    let scratch = Scratch::new();
    scratch.write("A1", content);
    let ran = watch(&scratch, &["A1"]).run();
    assert_eq!(records(&ran.exits(65).stdout), [failed("A1", reason, Some(line))]);
}

#[test]
fn two_ids_in_one_object() {
    let search = r#"{"id":"item_1","type":"web_search","id":"ws_1","query":"","action":{"type":"other"}}"#;
    let event = |kind: &str| format!(r#"{{"type":"item.{kind}","item":{search}}}"#);
    completes(lines([T, S, &event("started"), &event("completed"), DONE]), 4);
}

#[test]
fn lines_of_any_length_pass_in_flat_memory() {
    let scratch = Scratch::new();
    let mut file = BufWriter::new(fs::File::create(scratch.path("A1")).expect("a file"));
    let long = |file: &mut BufWriter<fs::File>, length: usize| {
        let head = r#"{"type":"item.completed","item":{"type":"command_execution","aggregated_output":""#;
        file.write_all(head.as_bytes()).expect("writing");
        let chunk = vec![b'x'; 1 << 20];
        for left in (0..length).step_by(chunk.len()) {
            file.write_all(&chunk[..chunk.len().min(length - left)]).expect("writing");
        }
        file.write_all(b"\"}}\n").expect("writing");
    };
    long(&mut file, 20_000_000);
    (0..300).for_each(|_| long(&mut file, 100_000));
    long(&mut file, 1 << 30);
    file.write_all(lines([C, DONE]).as_bytes()).expect("writing");
    file.into_inner().expect("writing");
    let ran = watch(&scratch, &["A1"]).run();
    ran.peak_under_mib(16);
    assert_eq!(records(&ran.exits(0).stdout), settled("A1", 303, DONE, 1, 1));
}

#[test]
fn bytes_that_are_no_text_and_escapes_that_are() {
    let with = |text: &[u8]| {
        let line = [br#"{"type":"item.completed","item":{"type":"agent_message","text":""#, text, b"\"}}"];
        [lines([T]).as_bytes(), &line.concat(), b"\n", lines([DONE]).as_bytes()].concat()
    };
    fails(with(b"a\xe6\x87"), "malformed-progress", 2);
    completes(with(br"cut \ud83d"), 2);
}

#[test]
fn a_line_may_come_in_parts() {
    let text = lines([T, DONE]);
    let in_sentinel = lines([T]).len() + 20;
    for cut in [10, in_sentinel, text.len() - 1] {
        let scratch = Scratch::new();
        let running = watch(&scratch, &["A1"]).args(["--digest-seconds", "0.05"]).start();
        append(scratch.path("A1"), &text[..cut]);
        told(&running, "\"progressFileExists\":true");
        append(scratch.path("A1"), &text[cut..]);
        let told: Vec<String> = records(&running.end().exits(0).stdout);
        assert_eq!(told[told.len() - 2..], settled("A1", 1, DONE, 1, 1), "cut at {cut}");
    }
}

#[test]
fn cuts_within_a_character_make_no_difference() {
    for before in [65_535, 65_534, 8_191, 8_190] {
        let head = r#"{"type":"item.completed","item":{"type":"reasoning","text":""#;
        let text = format!("{head}{}\u{6f22}\"}}}}\n{DONE}\n", "x".repeat(before - head.len()));
        completes(text, 1);
    }
    let scratch = Scratch::new();
    let running = watch(&scratch, &["A1"]).start();
    for byte in format!("{{\"type\":\"error\",\"message\":\"\u{6f22}{PRIVATE}\"}}\n{DONE}\n").as_bytes() {
        append(scratch.path("A1"), [*byte]);
    }
    assert_eq!(records(&running.end().exits(0).stdout), settled("A1", 1, DONE, 1, 1));
}

#[test]
fn only_lf_ends_a_line() {
    completes(lines(["{\"type\":\"x\",\"y\":\"a\u{2028}b\u{2029}c\u{85}d\"}", DONE]), 1);
    fails(lines([T, "{\"type\":\"x\",\"y\":\"a\u{b}b\"}", DONE]), "malformed-progress", 2);
    fails(lines([T, "{\"type\":\"x\",\"y\":\"a\u{c}b\"}", DONE]), "malformed-progress", 2);
}

#[test]
fn a_bom_crlf_and_blank_lines() {
    completes(format!("\u{feff}{T}\r\n\r\n  \n{S}\r\n{DONE}\r\n\n"), 2);
    completes(format!("\u{feff}{DONE}\n"), 0);
}

#[test]
fn odd_fields_are_ordinary_events() {
    let odd = [
        r#"{"type":"item.completed","item":null}"#,
        r#"{"type":"item.completed","item":{"type":"command_execution","exit_code":null,"status":7}}"#,
        r#"{"type":"turn.completed"}"#,
        r#"{"type":"turn.completed","usage":null}"#,
        r#"{"type":"turn.completed","usage":{"output_tokens":"7","more":[1]}}"#,
        r#"{"type":"item.plan.delta"}"#,
        r#"{"type":"request_user_input"}"#,
        r#"{"type":null}"#,
        "{}",
    ];
    let nested =
        |depth: usize| format!("{{\"type\":\"x\",\"y\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    let mut text = lines(odd);
    text += &lines([&nested(200), &nested(100_000), DONE]);
    completes(text, 11);
}

#[test]
fn what_only_looks_like_a_sentinel_settles_nothing() {
    let quoted = serde_json::json!(DONE).to_string();
    let item = |kind: &str, field: &str| {
        format!(r#"{{"type":"item.completed","item":{{"type":"{kind}","{field}":{quoted}}}}}"#)
    };
    completes(
        lines([
            T,
            &item("command_execution", "aggregated_output"),
            &item("agent_message", "text"),
            &format!(r#"{{"type":"x","item":{DONE}}}"#),
            r#"{"type":["handoff.completed"]}"#,
            r#"{"item":{"type":"handoff.completed"}}"#,
            r#"{"type":"handoff.started"}"#,
            r#"{"type":"handoff.completed2"}"#,
            S,
            DONE,
        ]),
        9,
    );
}

#[test]
fn only_the_sentinel_settles() {
    completes(lines([T, S, C, S, M, C, M, S, DONE]), 8);
}

#[test]
fn duplicate_keys_and_long_numbers() {
    completes(lines([r#"{"b":1.10,"a":123456789012345678901,"a":"\u0041","s":"\/"}  "#, DONE]), 1);
}

#[test]
fn every_sample_is_read() {
    let samples = format!("{}/tests/data/samples", env!("CARGO_MANIFEST_DIR"));
    let folders = fs::read_dir(samples).expect("the samples").map(|entry| entry.expect("an entry").path());
    let files =
        folders.filter(|path| path.is_dir()).flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let mut count = 0;
    for file in files {
        let text = fs::read(file.expect("an entry").path()).expect("a sample");
        let events = text.iter().filter(|&&byte| byte == b'\n').count() as u64;
        completes([&text, lines([DONE]).as_bytes()].concat(), events);
        count += 1;
    }
    assert!(count > 50, "{count} samples");
}
