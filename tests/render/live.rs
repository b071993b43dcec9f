//! Streams that arrive bit by bit.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::message;
use crate::harness::filter::filter;
use crate::harness::pipes::pipe;
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, F, M, S, T, lines};
use crate::harness::wait::{SOON, wait_until};

/// Waits until that is all it has shown.
#[track_caller]
fn wait_for(render: &Running, shown: &str) {
    wait_until(&format!("it shows {shown:?}"), SOON, || render.stdout() == shown.as_bytes());
}

fn error(message: &str) -> String {
    format!("{{\"type\":\"error\",\"message\":\"{message}\"}}\n")
}

#[test]
fn a_line_is_shown_when_its_end_has_come() {
    let (input, mut writer) = pipe();
    let render = filter("codex-render").stdin_from(input).start();
    let mut feed = |text: &str| writer.write_all(text.as_bytes()).expect("feeding");
    let mut shown = String::new();
    for (text, line) in [
        (lines([T, S, M]), "ok\n"),
        (lines([C]), "Tokens: in 1 (cached 0), out 1\n"),
        (lines([r#"{"type":"handoff.completed","elapsed_seconds":3}"#]), "Completed in 3s\n"),
    ] {
        for at in [text.len() / 2, text.len() - 1] {
            let before = if at == text.len() - 1 { text.len() / 2 } else { 0 };
            feed(&text[before..at]);
        }
        // It has read what there was, and shows nothing of it that could still change.
        wait_for(&render, &shown);
        feed("\n");
        shown += line;
        wait_for(&render, &shown);
    }
    drop(writer);
    render.end().exits(0).stdout_is(shown);
}

#[test]
fn a_stream_that_comes_in_pieces_is_shown_the_same() {
    let samples = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/samples/codex-0.156.1"));
    for sample in ["command-bytes", "unauthorized", "cut-then-ok", "patch-ok"] {
        let stream = fs::read(samples.join(format!("{sample}.jsonl"))).expect("a sample");
        let whole = filter("codex-render").stdin(stream.as_slice()).run().stdout_text();
        let (input, mut writer) = pipe();
        let feeder = std::thread::spawn(move || {
            stream.chunks(1).for_each(|byte| writer.write_all(byte).expect("feeding"));
        });
        let ran = filter("codex-render").stdin_from(input).run();
        feeder.join().expect("the feeder");
        // A warning that a pause drew out comes before the failure that has the same words; nothing else may differ.
        let lines = |text: String| {
            text.lines().filter(|line| !line.starts_with("Warning")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(lines(ran.exits(0).stdout_text()), lines(whole), "{sample}");
    }
}

#[test]
fn a_character_may_lie_across_any_buffer_end() {
    for edge in [8_192, 65_536, 131_072] {
        for before in 0..=3 {
            let head = edge - message("").find("\"}").expect("the text") - before;
            let text = format!("{}\u{20ac}", "x".repeat(head));
            filter("codex-render").stdin(message(&text)).run().exits(0).stdout_is(format!("{text}\n"));
        }
    }
}

#[test]
fn an_error_is_a_warning_while_nothing_comes_and_a_failure_in_the_end() {
    let (input, mut writer) = pipe();
    let render = filter("codex-render").stdin_from(input).start();
    writer.write_all(error("gone").as_bytes()).expect("feeding");
    wait_for(&render, "Warning: gone\n");
    drop(writer);
    render.end().exits(0).stdout_is("Warning: gone\nFailed: gone\n");

    let (input, mut writer) = pipe();
    let render = filter("codex-render").stdin_from(input).start();
    writer.write_all(error("x").as_bytes()).expect("feeding");
    wait_for(&render, "Warning: x\n");
    writer.write_all(lines([F]).as_bytes()).expect("feeding");
    wait_for(&render, "Warning: x\nFailed: x\n");
    drop(writer);
    render.end().exits(0);
}

#[test]
fn each_line_is_shown_while_the_source_goes_on() {
    let scratch = Scratch::new();
    let ((tee_in, mut source), (seal_in, tee_out), (render_in, seal_out)) = (pipe(), pipe(), pipe());
    let tee = filter("jsonl-tee").arg("f").dir(scratch.dir()).stdin_from(tee_in).stdout_to(tee_out).start();
    let seal = filter("jsonl-sentinel").arg("seal").stdin_from(seal_in).stdout_to(seal_out).start();
    let render = filter("codex-render").stdin_from(render_in).start();
    let (mut late, mut shown): (Vec<Duration>, String) = (Vec::new(), String::new());
    for number in 0..50 {
        let text = format!("message {number}");
        let written = Instant::now();
        source.write_all(message(&text).as_bytes()).expect("feeding");
        shown += &format!("{text}\n");
        wait_for(&render, &shown);
        late.push(written.elapsed());
    }
    late.sort();
    // The look for it takes a millisecond or two, and other tests run beside it.
    assert!(late[25] < Duration::from_millis(20) && late[45] < Duration::from_millis(100), "{late:?}");
    drop(source);
    tee.end().exits(0);
    seal.end().exits(1);
    render.end().exits(0).stdout_is(shown + "Failed: error (status 70, incomplete)\n");
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    for args in [&[][..], &["--answer"]] {
        let (reader, output) = pipe();
        drop(reader);
        let ran = filter("codex-render").args(args).stdin(lines([T, S, M, C])).stdout_to(output).run();
        ran.exits(141);
        assert_eq!(ran.stderr_text(), "");
    }
    let scratch = Scratch::new();
    let file = scratch.write("long", message("x").repeat(100_000));
    let render = filter("codex-render").arg(file);
    let ran = render.under(&["bash", "-c", r#""$@" | head -1"#, "bash"]).run();
    ran.exits(0).stdout_is("x\n");
    assert_eq!(ran.stderr_text(), "");
}

#[test]
fn a_pipe_that_somebody_made_non_blocking_is_waited_for() {
    let (input, mut writer) = pipe();
    crate::harness::pipes::unblock(&input);
    let render = filter("codex-render").stdin_from(input).start();
    writer.write_all(message("one").as_bytes()).expect("feeding");
    wait_for(&render, "one\n");
    writer.write_all(message("two").as_bytes()).expect("feeding");
    wait_for(&render, "one\ntwo\n");
    drop(writer);
    render.end().exits(0);
}
