//! Progress files that break the rules.

use std::fs;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::{DONE, FAILED, append, failed, records, settled, told, watch};
use crate::harness::scratch::Scratch;
use crate::harness::script::{S, T, lines};

/// A watcher of one file with this content ends with `status`, having told only that.
#[track_caller]
fn fails(content: impl AsRef<[u8]>, reason: &str, line: u64) {
    let scratch = Scratch::new();
    scratch.write("A1", content);
    let ran = watch(&scratch, &["A1", "A2"]).run();
    assert_eq!(records(&ran.exits(65).stdout), [failed("A1", reason, Some(line))]);
    assert_eq!(ran.stderr_text(), "");
}

#[test]
fn lines_that_are_no_events() {
    fails(lines([T, "{", S]), "malformed-progress", 2);
    fails(lines([T, "", "{}{}"]), "malformed-progress", 3);
    fails(b"{\"type\":\"a\xe6\x87\"}\n", "malformed-progress", 1);
    for line in ["[]", "null", "42", "\"x\"", r#"[{"type":"handoff.completed"}]"#] {
        fails(lines([line]), "non-object-progress", 1);
    }
}

#[test]
fn what_stands_behind_a_sentinel_is_nobodys() {
    for behind in ["[", "[]", "{}", r#"{"type":"error","message":"x"}"#] {
        let scratch = Scratch::new();
        scratch.write("A1", lines([T, DONE, behind]));
        let ran = watch(&scratch, &["A1"]).run();
        assert_eq!(records(&ran.exits(0).stdout), settled("A1", 1, DONE, 1, 1));
    }
}

#[test]
fn a_second_sentinel_among_what_is_there_with_the_first() {
    fails(lines([T, DONE, FAILED]), "duplicate-sentinel", 3);
    fails(lines([DONE, S, "", DONE]), "duplicate-sentinel", 4);
}

#[test]
fn a_second_sentinel_that_comes_later_is_not_read() {
    let scratch = Scratch::new();
    let running = watch(&scratch, &["A1", "A2"]).start();
    append(scratch.path("A1"), lines([DONE]));
    told(&running, "watcher.settlement");
    append(scratch.path("A1"), lines([FAILED, "["]));
    append(scratch.path("A2"), lines([DONE]));
    let expected = [settled("A1", 0, DONE, 1, 2), settled("A2", 0, DONE, 2, 2)].concat();
    assert_eq!(records(&running.end().exits(0).stdout), expected);
}

/// What stands at the path of A1 is `made` so, before the watcher starts or while it watches.
#[track_caller]
fn unreadable(made: impl Fn(&Scratch)) {
    for late in [false, true] {
        let scratch = Scratch::new();
        if !late {
            made(&scratch);
        }
        let running = watch(&scratch, &["A0", "A1"]).args(["--digest-seconds", "0.05"]).start();
        if late {
            told(&running, "watcher.digest");
            made(&scratch);
        }
        let ran = running.end();
        let told: Vec<String> =
            records(&ran.exits(66).stdout).into_iter().filter(|record| !record.contains("digest")).collect();
        assert_eq!(told, [failed("A1", "unreadable-progress", None)]);
    }
}

#[test]
fn what_is_no_regular_file() {
    unreadable(|scratch| fs::create_dir(scratch.path("A1")).expect("a folder"));
    unreadable(|scratch| mkfifo(&scratch.path("A1"), Mode::from_bits_truncate(0o600)).expect("a fifo"));
    unreadable(|scratch| std::os::unix::fs::symlink("/dev/null", scratch.path("A1")).expect("a link"));
    // A link that leads to itself cannot be followed, whoever asks.
    unreadable(|scratch| std::os::unix::fs::symlink("A1", scratch.path("A1")).expect("a link"));
}

#[test]
fn with_keep_going_only_the_broken_are_left_out() {
    let scratch = Scratch::new();
    let running = watch(&scratch, &["A1", "A2", "A3", "A4"]).arg("--keep-going").start();
    append(scratch.path("A1"), "{\n");
    told(&running, "malformed");
    append(scratch.path("A2"), lines([T, DONE]));
    told(&running, "A2");
    fs::create_dir(scratch.path("A3")).expect("a folder");
    told(&running, "unreadable");
    append(scratch.path("A4"), lines([FAILED]));
    let ran = running.end();
    let expected = [
        vec![failed("A1", "malformed-progress", Some(1))],
        settled("A2", 1, DONE, 1, 3).to_vec(),
        vec![failed("A3", "unreadable-progress", None)],
        settled("A4", 0, FAILED, 2, 2).to_vec(),
    ];
    assert_eq!(records(&ran.exits(66).stdout), expected.concat());
    let ran = watch(&scratch, &["A1", "A2"]).arg("--keep-going").run();
    ran.exits(65);
}
