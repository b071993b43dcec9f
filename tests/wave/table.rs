//! The live table on stderr.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use nix::pty::{OpenptyResult, Winsize, openpty};

use super::{DONE, FAILED, append, records, settled, watch};
use crate::harness::filter::Filter;
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::script::{T, lines};
use crate::harness::wait::{SOON, wait_until};

/// Runs a watcher with a terminal as stderr, and what `stdout` makes of that terminal as stdout; gives all that came
/// to the terminal.
#[track_caller]
fn on_a_terminal(watcher: Filter, stdout: impl FnOnce(&OwnedFd) -> Option<Stdio>) -> (Ran, String) {
    let size = Winsize { ws_row: 24, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
    let OpenptyResult { master, slave } = openpty(&size, None).expect("a terminal");
    let stdout = stdout(&slave);
    let reader = std::thread::spawn(move || {
        let (mut all, mut chunk) = (vec![], [0; 4096]);
        let mut master = std::fs::File::from(master);
        // A terminal that nobody has open any more is an error to its reader.
        while let Ok(count @ 1..) = master.read(&mut chunk) {
            all.extend_from_slice(&chunk[..count]);
        }
        String::from_utf8_lossy(&all).into_owned()
    });
    let watcher = watcher.stderr_to(slave);
    let ran = match stdout {
        Some(stdout) => watcher.stdout_to(stdout),
        None => watcher,
    }
    .run();
    (ran, reader.join().expect("the terminal's reader"))
}

/// A command that would clear the screen, set the clipboard and turn its line around.
const DRIVING: &str = r#"{"type":"item.completed","item":{"type":"command_execution","command":"ls \u001b[2J\u001b]52;c;eA==\u0007\r\u202e\u009b \\ 漢字","status":"completed"}}"#;

#[test]
fn a_terminal_gets_the_table_when_stdout_is_none() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([DRIVING, DONE]));
    let (ran, seen) = on_a_terminal(watch(&scratch, &["A1"]), |_| None);
    assert_eq!(records(&ran.exits(0).stdout), settled("A1", 1, DONE, 1, 1));
    let row =
        "A1 completed      0s of 1200s 1 events  command_execution completed ls \\u{1b}[2J\\u{1b}]52;c;eA==";
    assert!(seen.contains(row), "{seen}");
    assert!(seen.contains("██████████ 100% 1 of 1 settled"), "{seen}");
}

#[test]
fn only_the_table_itself_drives_the_terminal() {
    let scratch = Scratch::new();
    let driving = "A\u{1b}[2J\u{202e}";
    scratch.write("f", lines([DRIVING, DONE]));
    let watcher = watch(&scratch, &[]).args(["--agent", driving, "1200", "f"]);
    let (ran, seen) = on_a_terminal(watcher, |_| None);
    ran.exits(0);
    // Up, down, and clear the line, what painting a table over takes, a colour, and that rows do not wrap.
    let is_painting = |part: &str| {
        let end = part.trim_start_matches(|c: char| c.is_ascii_digit());
        end.starts_with(['A', 'B', 'K', 'm']) || part.starts_with("?7l") || part.starts_with("?7h")
    };
    let mut parts = seen.split('\u{1b}');
    let first = parts.next().expect("a part");
    let parts: Vec<&str> = parts.collect();
    assert!(parts.iter().all(|part| part.strip_prefix('[').is_some_and(is_painting)), "{seen:?}");
    let drives = |c: char| c != '\n' && c != '\r' && (c.is_control() || c == '\u{202e}');
    assert!(![first].iter().chain(&parts).any(|part| part.contains(drives)), "{seen:?}");
}

fn shared(slave: &OwnedFd) -> Option<Stdio> {
    Some(Stdio::from(slave.try_clone().expect("a descriptor")))
}

#[test]
fn where_the_records_go_to_the_terminal_a_line_says_how_to_get_the_table() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([DONE]));
    let (ran, seen) = on_a_terminal(watch(&scratch, &["A1"]), shared);
    ran.exits(0);
    let seen = seen.replace('\r', "");
    let (says, told) = seen.split_once('\n').expect("a line");
    assert_eq!(
        says,
        "wave-watch: no live table between records: write the records to a file (> wave.jsonl), or give --ui always"
    );
    assert_eq!(records(told), settled("A1", 0, DONE, 1, 1));
}

#[test]
fn no_table_and_no_word_of_it_where_none_is_wanted() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([DONE]));
    let (ran, seen) = on_a_terminal(watch(&scratch, &["A1"]).args(["--ui", "never"]), |_| None);
    ran.exits(0);
    assert_eq!(seen, "");
    let (ran, seen) = on_a_terminal(watch(&scratch, &["A1"]).args(["--ui", "never"]), shared);
    ran.exits(0);
    assert_eq!(records(seen.replace('\r', "")), settled("A1", 0, DONE, 1, 1));
    let quiet = watch(&scratch, &["A1"]).run();
    assert_eq!(quiet.exits(0).stderr_text(), "");
}

#[test]
fn records_on_the_tables_terminal_stand_above_it() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([T, DONE]));
    let watcher = watch(&scratch, &["A1", "A2"]).args(["--ui", "always", "--digest-seconds", "0.3"]);
    let (ran, seen) = on_a_terminal(watcher.args(["--start-seconds", "0.5"]), shared);
    ran.exits(1);
    let rows = screen(&seen);
    let told: Vec<String> = rows.iter().filter(|row| row.starts_with('{')).cloned().collect();
    assert_eq!(told.len(), 5, "two that settle, and a digest: {rows:#?}");
    assert!(told.iter().all(|row| serde_json::from_str::<serde_json::Value>(row).is_ok()), "{rows:#?}");
    // What is left of the table is its last picture.
    assert!(rows[5].starts_with("A2 failed ") && rows[5].ends_with(" not-started"), "{rows:#?}");
    assert!(rows[6].starts_with("A1 completed "), "{rows:#?}");
    assert_eq!(rows[7..], ["██████████ 100% 2 of 2 settled, 1 failed"]);
}

/// What a terminal of any width shows after `seen`: lines, and the table's ways to paint over some of them.
#[track_caller]
fn screen(seen: &str) -> Vec<String> {
    let (mut rows, mut at) = (vec![String::new()], 0);
    let mut rest = seen;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\r' => {}
            '\n' => {
                at += 1;
                rows.resize(rows.len().max(at + 1), String::new());
            }
            '\u{1b}' => {
                let end = rest.find(|c: char| c.is_ascii_alphabetic()).expect("an end");
                let number = rest[1..end].parse().unwrap_or(1);
                match &rest[end..=end] {
                    "A" => at -= number,
                    "B" => at += number,
                    "K" => rows[at].clear(),
                    "m" | "l" | "h" => {}
                    other => panic!("{other}"),
                }
                rest = &rest[end + 1..];
            }
            c => rows[at].push(c),
        }
    }
    rows.retain(|row| !row.is_empty());
    rows
}

#[test]
fn rows_do_not_wrap_while_they_are_drawn_and_do_again_at_the_end() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([T, DONE]));
    let (ran, seen) =
        on_a_terminal(watch(&scratch, &["A1", "A2"]).args(["--start-seconds", "0.3"]), |_| None);
    ran.exits(1);
    let pictures: Vec<&str> = seen.split("\u{1b}[?7l").collect();
    assert!(pictures.len() > 2, "{seen:?}");
    assert!(!pictures[0].contains("A1"), "{seen:?}");
    for picture in &pictures[1..] {
        let (rows, after) = picture.split_once("\u{1b}[?7h").expect("its end");
        assert!(rows.contains("A1 ") && rows.contains("settled"), "{seen:?}");
        assert!(!after.contains("A1"), "{seen:?}");
    }
}

#[test]
fn colours_tell_states_unless_they_are_not_wanted() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([T, DONE]));
    scratch.write("A2", lines([T, FAILED]));
    let on = |variables: &[(&str, &str)]| {
        let watcher = watch(&scratch, &["A1", "A2"]);
        let watcher = variables.iter().fold(watcher, |watcher, (name, value)| watcher.env(name, value));
        let (ran, seen) = on_a_terminal(watcher, |_| None);
        ran.exits(1);
        seen
    };
    let coloured = on(&[("TERM", "xterm")]);
    assert!(coloured.contains("\u{1b}[32mA1 completed"), "{coloured:?}");
    assert!(coloured.contains("\u{1b}[31mA2 failed"), "{coloured:?}");
    for plain in [&[("TERM", "xterm"), ("NO_COLOR", "1")][..], &[("TERM", "dumb")], &[]] {
        let seen = on(plain);
        assert!(!seen.contains("\u{1b}[31m") && !seen.contains("\u{1b}[32m"), "{plain:?}: {seen:?}");
    }
}

#[test]
fn the_last_table_shows_all_that_failed_and_why() {
    let scratch = Scratch::new();
    let names: Vec<String> = (0..40).map(|n| format!("B{n:02}")).collect();
    for name in &names {
        scratch.write(name, lines([FAILED]));
    }
    scratch.write("A1", lines([T, DONE]));
    scratch.write("A2", lines(["[]"]));
    scratch.write("A3", lines([DONE]));
    let files = ["A1", "A2", "A3"].into_iter().chain(names.iter().map(String::as_str)).collect::<Vec<_>>();
    let (ran, seen) = on_a_terminal(watch(&scratch, &files).arg("--keep-going"), |_| None);
    ran.exits(65);
    let rows = screen(&seen);
    assert!(rows[0].starts_with("A2 ") && rows[0].ends_with("non-object-progress"), "{rows:#?}");
    for (row, name) in rows[1..].iter().zip(&names) {
        assert!(row.starts_with(&format!("{name} failed ")) && row.ends_with("  error: auth"), "{rows:#?}");
    }
    assert_eq!(rows[41..], ["and 2 more", "██████████ 100% 42 of 42 settled, 41 failed"]);
}

#[test]
fn always_draws_anywhere_and_goes_on_while_nothing_happens() {
    let scratch = Scratch::new();
    let running = watch(&scratch, &["A1"]).args(["--ui", "always"]).start();
    let pictures = || running.stderr().matches("of 1 settled").count();
    wait_until("some pictures were drawn", SOON, || pictures() >= 3);
    append(scratch.path("A1"), lines([DONE]));
    let ran = running.end();
    let seen = ran.exits(0).stderr_text();
    assert!(seen.contains("working"), "{seen}");
    assert!(seen.ends_with("██████████ 100% 1 of 1 settled\n"), "{seen}");
}
