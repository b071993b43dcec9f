//! What each option does.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use super::{numbered, tee};
use crate::harness::filter::filter;
use crate::harness::pipes::{feed, gather, is_drained, pipe};
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, T};
use crate::harness::wait::{SOON, wait_until};

const COMPLETED: &str = r#"{"type":"handoff.completed","elapsed_seconds":9}"#;
const FAILED: &str = r#"{"type":"handoff.failed","reason":"timeout","elapsed_seconds":9}"#;

#[test]
fn stdin_goes_to_stdout_and_to_each_file() {
    let scratch = Scratch::new();
    scratch.write("a", "longer than what comes");
    let input = numbered(200);
    tee(&scratch).args(["a", "b", "-"]).stdin(&*input).run().exits(0).stdout_is(&input);
    for name in ["a", "b", "-"] {
        assert!(scratch.read(name) == input, "{name}");
    }
    tee(&scratch).stdin(&*input).run().exits(0).stdout_is(&input);
}

#[test]
fn an_open_descriptor_is_written_as_it_stands() {
    let scratch = Scratch::new();
    let shell = ["sh", "-c", r#"exec 3>f; echo before >&3; exec "$0" "$@""#];
    tee(&scratch).arg("/dev/fd/3").under(&shell).stdin("{}\n").run().exits(0).stdout_is("{}\n");
    assert_eq!(scratch.text("f"), "before\n{}\n");
    tee(&scratch).arg("/dev/stdout").stdin("{}\n").run().exits(0).stdout_is("{}\n{}\n");
}

#[test]
fn a_last_line_without_lf_is_passed_as_it_is() {
    let scratch = Scratch::new();
    tee(&scratch).arg("f").stdin("{}\n{\"a\":").run().exits(0).stdout_is("{}\n{\"a\":");
    assert_eq!(scratch.text("f"), "{}\n{\"a\":");
}

#[test]
fn files_follow_the_umask() {
    let scratch = Scratch::new();
    for (mask, mode) in [("0", 0o666), ("027", 0o640)] {
        let name = format!("f{mask}");
        let script = format!(r#"umask {mask}; exec "$0" "$@""#);
        tee(&scratch).arg(&name).under(&["sh", "-c", &script]).run().exits(0);
        assert_eq!(fs::metadata(scratch.path(&name)).expect("a file").permissions().mode() & 0o777, mode);
    }
}

#[test]
fn append_adds_to_what_is_there() {
    let scratch = Scratch::new();
    for _ in 0..2 {
        tee(&scratch).args(["-a", "f"]).stdin("{}\n").run().exits(0);
    }
    tee(&scratch).args(["--append", "f"]).stdin("[]\n").run().exits(0);
    assert_eq!(scratch.text("f"), "{}\n{}\n[]\n");
}

#[test]
fn ten_writers_append_to_one_file_and_tear_no_line() {
    const WRITERS: usize = 10;
    const LINES: usize = 150;
    let scratch = Scratch::new();
    // Lines from a few bytes to far beyond what a pipe holds.
    let line = |writer: usize, n: usize| {
        let length = [3, 60, 600, 5000, 70_000, 300_000][(writer + n) % 6] + n;
        let fill = char::from(b'a' + u8::try_from(writer).expect("a letter"));
        format!("{{\"w\":{writer},\"n\":{n},\"x\":\"{}\"}}\n", fill.to_string().repeat(length))
    };
    let mut all = Vec::new();
    for writer in 0..WRITERS {
        let input: String = (0..LINES).map(|n| line(writer, n)).collect();
        all.push(tee(&scratch).args(["-a", "f"]).stdin(input).stdout_to(Stdio::null()).start());
    }
    for running in all {
        running.end().exits(0);
    }
    let text = scratch.text("f");
    let mut next = [0; WRITERS];
    for whole in text.split_inclusive('\n') {
        let (_, rest) = whole.split_once("\"w\":").expect("a line of a writer");
        let writer: usize = rest[..1].parse().expect("a writer");
        assert!(whole == line(writer, next[writer]), "torn: {}", &whole[..whole.len().min(200)]);
        next[writer] += 1;
    }
    assert_eq!(next, [LINES; WRITERS]);
}

#[test]
fn only_json_keeps_the_rest_out_of_stdout() {
    let scratch = Scratch::new();
    let input =
        "noise\n{\"a\":1}\n\n[]\n {\"b\":{}} \r\n{\"c\":\n\u{1b}[m{}\n{}{}\n{\"type\":\"handoff.failed\"}\n";
    let objects = "{\"a\":1}\n {\"b\":{}} \r\n{\"type\":\"handoff.failed\"}\n";
    let others = "noise\n\n[]\n{\"c\":\n\u{1b}[m{}\n{}{}\n";
    tee(&scratch).args(["--only-json", "f"]).stdin(input).run().exits(0).stdout_is(objects);
    assert_eq!(scratch.text("f"), input);
    let ran = tee(&scratch).args(["--only-json", "--reject", "r", "f"]).stdin(input).run();
    ran.exits(0).stdout_is(objects);
    assert_eq!((scratch.text("f"), scratch.text("r")), (input.to_owned(), others.to_owned()));
}

#[test]
fn only_json_judges_a_last_line_without_lf_too() {
    let scratch = Scratch::new();
    tee(&scratch).arg("--only-json").stdin("{}\n{\"a\":1}").run().exits(0).stdout_is("{}\n{\"a\":1}");
    let args = ["--only-json", "--reject", "r"];
    tee(&scratch).args(args).stdin("{}\n{\"a\":").run().exits(0).stdout_is("{}\n");
    assert_eq!(scratch.text("r"), "{\"a\":");
}

#[test]
fn only_json_judges_lines_that_do_not_fit_in_memory() {
    let scratch = Scratch::new();
    let good = format!("{{\"a\":\"{}\"}}\n", "é".repeat(2_000_000));
    let bad = format!("{{\"a\":\"{}\"\n", "x".repeat(3_000_000));
    let junk = format!("{}\n", "junk ".repeat(1_000_000));
    let input = [&good, "{}\n", &bad, "{}\n", &junk, &good, &junk].map(str::to_owned).concat();
    let ran = tee(&scratch).args(["--only-json", "--reject", "r", "f"]).stdin(&*input).run();
    ran.exits(0).stdout_is([&good, "{}\n", "{}\n", &good].concat()).peak_under_mib(16);
    assert!(scratch.text("r") == [&*bad, &junk, &junk].concat());
    assert!(scratch.text("f") == input);
    let names = scratch.names();
    assert_eq!(names, ["f", "r"], "a temporary file was left");
}

#[test]
fn reject_goes_with_only_json() {
    let scratch = Scratch::new();
    let ran = tee(&scratch).args(["--reject", "r"]).stdin("{}\n").run();
    ran.exits(64).stderr_has("--only-json");
    assert!(!scratch.has("r"));
}

#[test]
fn status_follows_the_sentinel() {
    let scratch = Scratch::new();
    let status = |lines: &[&str], expected: i32| {
        let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let ran = tee(&scratch).args(["--status", "f"]).stdin(&*input).run();
        ran.exits(expected).stdout_is(&input);
        tee(&scratch).stdin(&*input).run().exits(0);
    };
    status(&[T, S, M, C, COMPLETED], 0);
    status(&[T, S, M, C, COMPLETED, "", " "], 0);
    status(&[T, FAILED], 1);
    status(&["noise", FAILED], 1);
    status(&[T, S, M, C], 65);
    status(&[], 65);
    status(&[COMPLETED, FAILED], 65);
    status(&[FAILED, T], 65);
    // Without its LF it may be any line yet.
    tee(&scratch).arg("--status").stdin(COMPLETED).run().exits(65);
}

#[test]
fn status_is_known_when_nobody_reads() {
    let scratch = Scratch::new();
    let (reader, writer) = pipe();
    drop(reader);
    let input = [&*numbered(500), FAILED.as_bytes(), b"\n"].concat();
    let ran = tee(&scratch).arg("--status").stdin(input).stdout_to(writer).run();
    ran.exits(1);
    assert_eq!(ran.stderr_text(), "");
}

#[test]
fn stamp_says_when_each_object_was_read() {
    let scratch = Scratch::new();
    let input = "\u{feff} {\"a\":[{}]}\r\n{}\n{ }\nnoise\n[{}]\n\n\t{ \"at\":1}\n{\"half\":1}";
    let ran = tee(&scratch).args(["--stamp", "f"]).stdin(input).run();
    let text = ran.exits(0).stdout_text();
    assert_eq!(scratch.text("f"), text);
    let (_, rest) = text.split_once("\"at\":\"").expect("a stamp");
    let at = &rest[..24];
    let form: String = at.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(form, "0000-00-00T00:00:00.000Z");
    let stamp = format!("\"at\":\"{at}\"");
    let expected = format!(
        "\u{feff} {{{stamp},\"a\":[{{}}]}}\r\n{{{stamp}}}\n{{{stamp} }}\nnoise\n[{{}}]\n\n\t{{{stamp}, \"at\":1}}\n{{\"half\":1}}"
    );
    assert_eq!(text, expected);
}

#[test]
fn stamp_and_only_json_go_together() {
    let scratch = Scratch::new();
    let long = format!("{{\"a\":\"{}\"}}\n", "x".repeat(2_500_000));
    let input = format!("noise\n{{}}\n{long}{{\"half");
    let args = ["--stamp", "--only-json", "--reject", "r", "f"];
    let ran = tee(&scratch).args(args).stdin(&*input).run();
    let without_stamps = |text: String| {
        let mut rest = text.as_str();
        let mut out = String::new();
        while let Some((before, after)) = rest.split_once("\"at\":\"") {
            out += before;
            rest = after[24..].strip_prefix("\"").expect("a stamp");
            rest = rest.strip_prefix(",").unwrap_or(rest);
        }
        out + rest
    };
    let stdout = ran.exits(0).peak_under_mib(16).stdout_text();
    assert_eq!(stdout.matches("\"at\":").count(), 2);
    assert!(without_stamps(stdout) == format!("{{}}\n{long}"));
    assert!(without_stamps(scratch.text("f")) == input);
    assert_eq!(scratch.text("r"), "noise\n{\"half");
}

#[test]
fn a_detached_stdout_slows_nothing_and_gets_all() {
    let scratch = Scratch::new();
    let (mut reader, writer) = pipe();
    // More than pipe and memory hold.
    let input = numbered(8000);
    let args = ["--detach-stdout", "f"];
    let running = tee(&scratch).args(args).stdin(&*input).stdout_to(writer).start();
    let file = scratch.path("f");
    let length = input.len() as u64;
    let output = std::thread::spawn(move || {
        wait_until("the file has all, and nobody has read a byte", SOON, || {
            file.metadata().is_ok_and(|about| about.len() == length)
        });
        let mut output = vec![];
        reader.read_to_end(&mut output).expect("reading");
        output
    });
    running.end().exits(0).peak_under_mib(16);
    assert!(output.join().expect("the reader") == input);
    assert_eq!(scratch.names(), ["f"], "a temporary file was left");
}

#[test]
fn without_that_a_slow_reader_slows_the_source_and_nothing_is_lost() {
    let scratch = Scratch::new();
    let ((input, source), (reader, writer)) = (pipe(), pipe());
    let lines = numbered(3000);
    let running = tee(&scratch).arg("f").stdin_from(input).stdout_to(writer).start();
    let fed = feed(source, &*lines);
    wait_until("it has begun", SOON, || scratch.has("f") && !scratch.read("f").is_empty());
    assert!(!fed.is_finished());
    let output = gather(reader);
    assert!(output.join().expect("the reader") == lines);
    running.end().exits(0);
    assert!(scratch.read("f") == lines);
}

#[test]
fn a_detached_reader_that_leaves_is_dropped() {
    let scratch = Scratch::new();
    let (reader, writer) = pipe();
    drop(reader);
    let input = numbered(3000);
    let ran = tee(&scratch).args(["--detach-stdout", "f"]).stdin(&*input).stdout_to(writer).run();
    ran.exits(0);
    assert_eq!(ran.stderr_text(), "");
    assert!(scratch.read("f") == input);
}

#[test]
fn lines_pass_while_the_input_pauses() {
    let scratch = Scratch::new();
    let (input, mut writer) = pipe();
    let args = ["--only-json", "--stamp", "--status", "f"];
    let plain = tee(&scratch).arg("g").stdin_from(input).start();
    let (judged_input, mut judged_writer) = pipe();
    let judged = tee(&scratch).args(args).stdin_from(judged_input.try_clone().expect("a pipe")).start();
    for n in 1..=3 {
        writer.write_all(b"{}\n{\"half").expect("feeding");
        judged_writer.write_all(b"{}\n").expect("feeding");
        let has = |bytes: &[u8], lines: usize| bytes.iter().filter(|&&byte| byte == b'\n').count() == lines;
        wait_until("the lines are there", SOON, || {
            has(&plain.stdout(), n) && has(&scratch.read("g"), n) && has(&judged.stdout(), n)
        });
        // What has no end yet waits for it.
        assert!(plain.stdout().ends_with(b"\n"));
        writer.write_all(b"\"}").expect("feeding");
        assert!(is_drained(&judged_input));
    }
    drop((writer, judged_writer));
    assert!(plain.end().exits(0).stdout.ends_with(b"\n{\"half\"}"));
    judged.end().exits(65);
}

#[test]
fn help_ends_with_the_exit_statuses() {
    let ran = filter("jsonl-tee").arg("--help").run();
    assert!(ran.exits(0).stdout_text().trim_end().ends_with("128+n  ended by signal n"), "{ran}");
    let ran = filter("jsonl-tee").arg("--no-such-option").run();
    ran.exits(64);
    assert_eq!(ran.stderr_lines().len(), 1);
}
