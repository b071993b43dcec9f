//! Signals: what ends it, and what does not.

use std::io::{Read, Write};

use nix::sys::signal::Signal;

use super::{numbered, tee};
use crate::harness::pipes::{feed, gather, pipe};
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::sweep::is_stopped;
use crate::harness::wait::{SOON, wait_until};

/// Returns when it has passed a line on, so that its handlers are there.
fn passes(running: &Running) {
    wait_until("it passes lines on", SOON, || running.stdout() == b"{}\n");
}

#[test]
fn int_term_and_hup_let_it_finish_what_is_there() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let scratch = Scratch::new();
        let (input, mut source) = pipe();
        let running = tee(&scratch).arg("f").stdin_from(input).start();
        source.write_all(b"{}\n").expect("feeding");
        passes(&running);
        // While it stands still, so that it finds both when it goes on.
        running.signal(Signal::SIGSTOP);
        wait_until("it stands still", SOON, || is_stopped(running.pid()));
        source.write_all(b"{\"a\":1}\n{\"half").expect("feeding");
        running.signal(signal);
        running.signal(Signal::SIGCONT);
        // The source stays open.
        let ran = running.end();
        ran.exits(128 + signal as i32).stdout_is("{}\n{\"a\":1}\n{\"half");
        assert_eq!(ran.stderr_text(), "");
        assert_eq!(scratch.text("f"), "{}\n{\"a\":1}\n{\"half");
    }
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let scratch = Scratch::new();
    let ((input, source), (mut reader, writer)) = (pipe(), pipe());
    let fed = feed(source, numbered(3000));
    let running = tee(&scratch).arg("f").stdin_from(input).stdout_to(writer).start();
    // It is stuck: nobody reads on.
    reader.read_exact(&mut [0; 1]).expect("a byte");
    running.signal(Signal::SIGTERM);
    assert!(!fed.is_finished());
    running.signal(Signal::SIGINT);
    let ran = running.end();
    let code = ran.status.code();
    assert!(code == Some(130) || code == Some(143), "{ran}");
    fed.join().expect("the feeder");
}

#[test]
fn ignore_interrupts_ignores_int_and_nothing_else() {
    for option in ["-i", "--ignore-interrupts"] {
        let scratch = Scratch::new();
        let (input, mut source) = pipe();
        let running = tee(&scratch).args([option, "f"]).stdin_from(input).start();
        source.write_all(b"{}\n").expect("feeding");
        passes(&running);
        running.signal(Signal::SIGINT);
        running.signal(Signal::SIGINT);
        source.write_all(b"{\"a\":1}\n").expect("feeding");
        wait_until("it goes on", SOON, || running.stdout() == b"{}\n{\"a\":1}\n");
        running.signal(Signal::SIGTERM);
        running.end().exits(143);
    }
}

#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let scratch = Scratch::new();
    let (input, mut source) = pipe();
    let ignoring = ["sh", "-c", r#"trap '' INT HUP; exec "$0" "$@""#];
    let running = tee(&scratch).under(&ignoring).stdin_from(input).start();
    source.write_all(b"{}\n").expect("feeding");
    passes(&running);
    running.signal(Signal::SIGINT);
    running.signal(Signal::SIGHUP);
    source.write_all(b"{\"a\":1}\n").expect("feeding");
    drop(source);
    running.end().exits(0).stdout_is("{}\n{\"a\":1}\n");
}

#[test]
fn standing_still_for_a_while_loses_nothing() {
    let scratch = Scratch::new();
    let ((input, source), (mut reader, writer)) = (pipe(), pipe());
    let lines = numbered(5000);
    let running = tee(&scratch).arg("f").stdin_from(input).stdout_to(writer).start();
    let fed = feed(source, &*lines);
    let mut output = vec![0; 200_000];
    reader.read_exact(&mut output).expect("reading");
    for _ in 0..3 {
        running.signal(Signal::SIGSTOP);
        wait_until("it stands still", SOON, || is_stopped(running.pid()));
        running.signal(Signal::SIGCONT);
        let mut more = vec![0; 200_000];
        reader.read_exact(&mut more).expect("reading");
        output.extend(more);
    }
    reader.read_to_end(&mut output).expect("reading");
    fed.join().expect("the feeder");
    running.end().exits(0);
    assert!(output == lines && scratch.read("f") == lines);
}

#[test]
fn interrupted_calls_are_made_again() {
    let scratch = Scratch::new();
    let ((input, source), (reader, writer)) = (pipe(), pipe());
    let lines = numbered(20_000);
    let running = tee(&scratch).arg("f").stdin_from(input).stdout_to(writer).start();
    let fed = feed(source, &*lines);
    wait_until("it has begun", SOON, || scratch.has("f") && !scratch.read("f").is_empty());
    let output = gather(reader);
    // XFSZ is caught and has no effect but to interrupt.
    while !output.is_finished() {
        running.signal(Signal::SIGXFSZ);
    }
    assert!(output.join().expect("the reader") == lines);
    fed.join().expect("the feeder");
    running.end().exits(0);
    assert!(scratch.read("f") == lines);
}
