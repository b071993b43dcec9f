//! `check`: what it finds in finished files.

use std::process::Stdio;

use nix::sys::signal::Signal;

use super::{COMPLETED, FAILED, sentinel};
use crate::harness::pipes::pipe;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, T, lines};

#[test]
fn each_file_gets_a_line_and_the_worst_is_the_status() {
    let scratch = Scratch::new();
    let reason = |reason: &str| format!(r#"{{"type":"handoff.failed","reason":{reason}}}"#);
    for (name, content) in [
        ("completed", lines([T, S, M, C, COMPLETED])),
        ("timeout", lines([T, S, FAILED])),
        ("no-reason", lines([&reason("null")])),
        ("new-reason", lines([&reason("\"of tomorrow\"")])),
        (
            "cause",
            lines([
                r#"{"type":"handoff.failed","reason":"error","rc":1,"elapsed_seconds":3,"cause":"usage-limit","retry":"later"}"#,
            ]),
        ),
        (
            "lingered",
            lines([r#"{"type":"handoff.completed","elapsed_seconds":3,"output_tokens":1,"lingered":true}"#]),
        ),
        ("blank-lines", lines(["", T, " ", COMPLETED, "\r"])),
        ("unsealed", lines([T, S, M, C])),
        ("empty", String::new()),
        ("fragment", format!("{}{}", lines([T, S]), &COMPLETED[..10])),
        ("no-lf", lines([T, S, COMPLETED]).trim_end().to_owned()),
        ("two", lines([T, FAILED, FAILED])),
        ("line-after", lines([T, COMPLETED, S])),
        ("junk-after", lines([T, COMPLETED, "junk"])),
        ("junk", lines([T, "junk", COMPLETED])),
        ("array", lines([T, "[]", COMPLETED])),
        ("twice-wrong", lines([T, "[]", "junk"])),
    ] {
        scratch.write(name, content);
    }
    let check = |names: &[&str], status: i32, expected: &str| {
        let ran = sentinel(&scratch, "check").args(names).run();
        assert_eq!(ran.exits(status).stdout_is(expected).stderr_text(), "");
    };
    check(&["completed"], 0, "completed: completed\n");
    check(&["timeout", "completed"], 1, "timeout: failed: timeout\ncompleted: completed\n");
    check(&["no-reason", "new-reason"], 1, "no-reason: failed: unknown\nnew-reason: failed: of tomorrow\n");
    check(&["cause", "lingered"], 1, "cause: failed: error: usage-limit\nlingered: completed\n");
    check(&["blank-lines"], 0, "blank-lines: completed\n");
    check(
        &["unsealed", "empty"],
        65,
        "unsealed: line 4: the file ends without a sentinel\nempty: line 1: the file ends without a sentinel\n",
    );
    check(&["fragment", "no-lf"], 65, "fragment: line 3: no line end\nno-lf: line 3: no line end\n");
    check(
        &["two", "line-after", "junk-after"],
        65,
        "two: line 3: a second sentinel\nline-after: line 3: after the sentinel\njunk-after: line 3: not JSON in valid UTF-8\n",
    );
    check(
        &["junk", "array", "twice-wrong"],
        65,
        "junk: line 2: not JSON in valid UTF-8\narray: line 2: not a JSON object\ntwice-wrong: line 2: not a JSON object\n",
    );
    check(
        &["completed", "junk", "timeout"],
        65,
        "completed: completed\njunk: line 2: not JSON in valid UTF-8\ntimeout: failed: timeout\n",
    );
}

#[test]
fn a_file_that_cannot_be_read_is_worst_and_the_others_are_checked() {
    let scratch = Scratch::new();
    scratch.write("f", lines([T, COMPLETED]));
    let ran = sentinel(&scratch, "check").args(["missing", "f", "."]).run();
    ran.exits(66).stdout_is("missing: cannot be read\nf: completed\n.: cannot be read\n");
    let told = [
        "jsonl-sentinel: missing: read: no such file or directory",
        "jsonl-sentinel: .: read: is a directory",
    ];
    assert_eq!(ran.stderr_lines(), told);
}

#[test]
fn a_reader_that_leaves_and_closed_descriptors_are_quiet() {
    let scratch = Scratch::new();
    scratch.write("f", lines([T, COMPLETED]));
    let (reader, writer) = pipe();
    drop(reader);
    let ran = sentinel(&scratch, "check").args(["f", "f"]).stdout_to(writer).run();
    assert_eq!(ran.exits(128 + Signal::SIGPIPE as i32).stderr_text(), "");
    for closed in [">&-", "2>&-", "<&- >&- 2>&-"] {
        let script = format!(r#"exec "$0" "$@" {closed}"#);
        let ran = sentinel(&scratch, "check").arg("f").under(&["sh", "-c", &script]).run();
        assert_eq!(ran.exits(0).stderr_text(), "", "{closed}");
    }
    let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let ran = sentinel(&scratch, "check").arg("f").stdout_to(full).stdin_from(Stdio::null()).run();
    ran.exits(74);
    assert_eq!(ran.stderr_lines(), ["jsonl-sentinel: standard output: write: no space left on device"]);
}
