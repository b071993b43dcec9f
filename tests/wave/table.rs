//! The live table on stderr.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use nix::pty::{OpenptyResult, Winsize, openpty};

use super::{DONE, append, records, settled, watch};
use crate::harness::filter::Filter;
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::script::lines;
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
    let row = "A1                       completed      0s of 1200s      1 events  command_execution completed ls \
               \\u{1b}[2J\\u{1b}]52;c…";
    assert!(seen.contains(row), "{seen}");
    assert!(seen.contains("██████████ 100% 1 of 1 settled"), "{seen}");
}

#[test]
fn s13_only_the_table_itself_drives_the_terminal() {
    let scratch = Scratch::new();
    let driving = "A\u{1b}[2J\u{202e}";
    scratch.write("f", lines([DRIVING, DONE]));
    let watcher = watch(&scratch, &[]).args(["--agent", driving, "1200", "f"]);
    let (ran, seen) = on_a_terminal(watcher, |_| None);
    ran.exits(0);
    // Up, down, and clear the line: what painting a table over takes.
    let is_painting = |part: &str| {
        let end = part.trim_start_matches(|c: char| c.is_ascii_digit());
        end.starts_with(['A', 'B', 'K'])
    };
    let mut parts = seen.split('\u{1b}');
    let first = parts.next().expect("a part");
    let parts: Vec<&str> = parts.collect();
    assert!(parts.iter().all(|part| part.strip_prefix('[').is_some_and(is_painting)), "{seen:?}");
    let drives = |c: char| c != '\n' && c != '\r' && (c.is_control() || c == '\u{202e}');
    assert!(![first].iter().chain(&parts).any(|part| part.contains(drives)), "{seen:?}");
}

#[test]
fn no_table_where_the_records_go_to_the_terminal_or_none_is_wanted() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([DONE]));
    let shared = |slave: &OwnedFd| Some(Stdio::from(slave.try_clone().expect("a descriptor")));
    let (ran, seen) = on_a_terminal(watch(&scratch, &["A1"]), shared);
    ran.exits(0);
    assert_eq!(records(seen.replace('\r', "")), settled("A1", 0, DONE, 1, 1));
    let (ran, seen) = on_a_terminal(watch(&scratch, &["A1"]).args(["--ui", "never"]), |_| None);
    ran.exits(0);
    assert_eq!(seen, "");
    let quiet = watch(&scratch, &["A1"]).run();
    assert_eq!(quiet.exits(0).stderr_text(), "");
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
