//! `seal`: what sentinel a stream deserves, and how it comes behind the stream.

use std::fs::File;
use std::io::{Read, Write};
use std::time::Duration;

use nix::sys::signal::Signal;

use super::{COMPLETED, FAILED, sentinel};
use crate::harness::filter::filter;
use crate::harness::pipes::{feed, gather, pipe, unblock};
use crate::harness::progress::Progress;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, F, M, S, T, lines};
use crate::harness::wait::{SOON, wait_until};

/// Seals `input`, and gives the status and the file that it becomes.
#[track_caller]
fn seal(input: &str, status: i32) -> Progress {
    let ran = filter("jsonl-sentinel").arg("seal").stdin(input).run();
    assert_eq!(ran.exits(status).stderr_text(), "");
    Progress::parse(&ran.stdout)
}

#[test]
fn a_run_completed_when_its_last_turn_did_and_there_was_a_message() {
    let sealed = seal(&lines([T, S, M, C]), 0);
    sealed.completed().events_are([T, S, M, C]);
    assert_eq!(sealed.output_tokens(), Some(1));
    seal(&lines([T, S, F, S, M, C]), 0).completed();
    seal(&lines([C, S, M, C]), 0).completed();
}

#[test]
fn else_it_failed() {
    let error = r#"{"type":"error","message":"Reconnecting... 2/5 (stream disconnected)"}"#;
    let unauthorized = r#"{"type":"turn.failed","error":{"message":"401 Unauthorized"}}"#;
    let empty = r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":""}}"#;
    seal(&lines([T, S, F]), 1).failed(1, "");
    seal(&lines([T, S, M, unauthorized]), 1).failed(1, "auth");
    seal(&lines([T, S, error, F]), 1).failed(1, "");
    seal(&lines([T, S]), 1).failed(70, "incomplete");
    seal(&lines([T, S, M, C, S]), 1).failed(70, "incomplete");
    seal(&lines([T, S, M, error]), 1).failed(70, "incomplete");
    seal(&lines([T, S, C]), 1).failed(70, "no-result");
    seal(&lines([T, S, empty, C]), 1).failed(70, "no-result");
    let nothing = filter("jsonl-sentinel").arg("seal").stdin("").run();
    Progress::parse(&nothing.exits(1).stdout).failed(70, "incomplete");
}

#[test]
fn the_real_streams_get_what_they_deserve() {
    for (name, status, cause) in [
        ("message", 0, None),
        ("command-big", 0, None),
        ("cut-then-ok", 0, None),
        ("no-message", 70, Some("no-result")),
        ("empty-message", 70, Some("no-result")),
        ("killed-term", 70, Some("incomplete")),
        ("unauthorized", 1, Some("auth")),
        ("usage-limit", 1, Some("usage-limit")),
        ("context-window", 1, Some("context-full")),
        ("cut-forever", 1, Some("transport")),
    ] {
        let sample = format!("{}/tests/data/samples/codex-0.156.1/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let ran = filter("jsonl-sentinel").arg("seal").stdin_file(&sample).run();
        let sealed = Progress::parse(&ran.stdout);
        match cause {
            None => drop(sealed.completed()),
            Some(cause) => drop(sealed.failed(status, cause)),
        }
        ran.exits(i32::from(status != 0));
    }
}

#[test]
fn a_sentinel_that_is_there_is_kept_and_says_the_status() {
    for (input, status) in [
        (lines([T, S, M, C, COMPLETED]), 0),
        (lines([T, S, COMPLETED]), 0),
        (lines([T, S, M, C, FAILED]), 1),
        (lines([T, S, M, C, FAILED, "", " "]), 1),
        (lines([T, COMPLETED, S, M, C]), 65),
        (lines([COMPLETED, FAILED]), 65),
        (lines([COMPLETED, "noise"]), 65),
    ] {
        let ran = filter("jsonl-sentinel").arg("seal").stdin(&*input).run();
        assert_eq!(ran.exits(status).stdout_is(input).stderr_text(), "");
    }
}

#[test]
fn a_fragment_at_the_end_is_closed() {
    let scratch = Scratch::new();
    let fragment = format!("{}{{\"type\":\"item.comp", lines([T, S, M, C]));
    let ran = sentinel(&scratch, "seal").stdin(&*fragment).run();
    let text = ran.exits(0).stdout_text();
    let rest = text.strip_prefix(&fragment).expect("what came").strip_prefix('\n').expect("an LF");
    Progress::parse(rest.as_bytes()).completed();
    let file = scratch.write("f", &text);
    let check = sentinel(&scratch, "check").arg(file).run();
    check.exits(65).stderr_lacks("f");
    assert!(check.stdout_text().ends_with("f: line 5: not JSON in valid UTF-8\n"), "{check}");

    // A whole line that lacks nothing but its LF counts.
    let whole = lines([T, S, M, C]);
    seal(whole.trim_end(), 0).completed().events_are([T, S, M, C]);
    let ran = sentinel(&scratch, "seal").stdin(lines([T, FAILED]).trim_end()).run();
    ran.exits(1).stdout_is(lines([T, FAILED]));
}

#[test]
fn other_words_of_launchers_are_ordinary() {
    let words = r#"{"type":"handoff.started"}"#;
    seal(&lines([words, T, S, M, C]), 0).completed().events_are([words, T, S, M, C]);
}

#[test]
fn a_signal_lets_it_finish_what_is_there_and_seal_it() {
    for (signal, before) in [(Signal::SIGINT, lines([T, S, M])), (Signal::SIGTERM, lines([T, S, M, C]))] {
        let scratch = Scratch::new();
        let (input, mut source) = pipe();
        let running = sentinel(&scratch, "seal").stdin_from(input).start();
        source.write_all(before.as_bytes()).expect("feeding");
        wait_until("it passes lines on", SOON, || running.stdout() == before.as_bytes());
        running.signal(signal);
        let ran = running.end();
        ran.exits(128 + signal as i32);
        let sealed = Progress::parse(&ran.stdout);
        match signal {
            Signal::SIGINT => sealed.failed_by("cancelled"),
            _ => sealed.completed(),
        };
    }
}

#[test]
fn seconds_count_from_its_start() {
    let scratch = Scratch::new();
    let (input, mut source) = pipe();
    let running = sentinel(&scratch, "seal").stdin_from(input).start();
    source.write_all(lines([T, S, M, C]).as_bytes()).expect("feeding");
    wait_until("it passes lines on", SOON, || !running.stdout().is_empty());
    let started = std::time::Instant::now();
    wait_until("a second has passed", SOON, || started.elapsed() > Duration::from_millis(1050));
    drop(source);
    let ran = running.end();
    let seconds = Progress::parse(&ran.exits(0).stdout).elapsed_seconds();
    assert!((1..=ran.elapsed.as_secs()).contains(&seconds), "{ran}");
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let scratch = Scratch::new();
    let (reader, writer) = pipe();
    drop(reader);
    let ran = sentinel(&scratch, "seal").stdin(lines([T, S, M, C])).stdout_to(writer).run();
    ran.exits(128 + Signal::SIGPIPE as i32);
    assert_eq!(ran.stderr_text(), "");
}

#[test]
fn a_full_disk_is_told_and_the_file_is_sealed_as_far_as_there_is_room() {
    let scratch = Scratch::new();
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let ran = sentinel(&scratch, "seal").stdin(lines([T, S, M, C])).stdout_to(full).run();
    ran.exits(74);
    assert_eq!(ran.stderr_lines(), ["jsonl-sentinel: standard output: write: no space left on device"]);

    // The line that does not fit makes room for the sentinel.
    let long = format!("{{\"x\":\"{}\"}}", "x".repeat(10_000));
    let input = lines([T, S, &long]);
    let file = File::create(scratch.path("f")).expect("a file");
    let limited = ["sh", "-c", r#"ulimit -f 8; exec "$0" "$@""#];
    let ran = sentinel(&scratch, "seal").under(&limited).stdin(&*input).stdout_to(file).run();
    ran.exits(74).stderr_has("standard output: write: file too large");
    let sealed = Progress::read(scratch.path("f"));
    sealed.failed(74, "io").events_are([T, S]);
}

#[test]
fn pipes_that_a_neighbour_made_non_blocking_lose_nothing() {
    let scratch = Scratch::new();
    let ((input, source), (reader, writer)) = (pipe(), pipe());
    unblock(&input);
    unblock(&writer);
    let line = format!("{{\"x\":\"{}\"}}\n", "x".repeat(1000));
    let all = line.repeat(2000) + &lines([S, M, C]);
    let running = sentinel(&scratch, "seal").stdin_from(input).stdout_to(writer).start();
    let fed = feed(source, &*all);
    let output = gather(reader).join().expect("the reader");
    fed.join().expect("the feeder");
    running.end().exits(0);
    assert!(output.starts_with(all.as_bytes()));
    Progress::parse(&output[all.len()..]).completed();
}

#[test]
fn closed_descriptors_are_quiet() {
    let scratch = Scratch::new();
    for (closed, status) in [(">&-", 0), ("2>&-", 0), ("<&-", 1), ("<&- >&- 2>&-", 1)] {
        let script = format!(r#"exec "$0" "$@" {closed}"#);
        let under = ["sh", "-c", &script];
        let ran = sentinel(&scratch, "seal").under(&under).stdin(lines([T, S, M, C])).run();
        assert_eq!(ran.exits(status).stderr_text(), "", "{closed}");
    }
    let (mut reader, writer) = pipe();
    let input = lines([T, S, M]).repeat(5000);
    let running = sentinel(&scratch, "seal").stdin(input).stdout_to(writer).start();
    reader.read_exact(&mut [0; 10]).expect("a first line");
    drop(reader);
    let ran = running.end();
    assert_eq!(ran.exits(128 + Signal::SIGPIPE as i32).stderr_text(), "");
}
