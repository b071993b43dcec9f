//! Outputs that fail, readers that leave, descriptors that are closed or non-blocking.

use std::fs::File;
use std::io::{Read, Write};

use super::{numbered, tee};
use crate::harness::pipes::{feed, gather, pipe, unblock};
use crate::harness::scratch::Scratch;
use crate::harness::wait::{SOON, wait_until};

#[test]
fn a_reader_that_leaves_is_dropped_silently_and_the_files_get_all() {
    let scratch = Scratch::new();
    let (mut reader, writer) = pipe();
    let input = numbered(5000);
    let running = tee(&scratch).arg("f").stdin(&*input).stdout_to(writer).start();
    reader.read_exact(&mut [0; 10]).expect("a first line");
    drop(reader);
    let ran = running.end();
    ran.exits(0);
    assert_eq!(ran.stderr_text(), "");
    assert!(scratch.read("f") == input);
}

#[test]
fn a_full_disk_is_told_once_and_the_others_get_all() {
    let scratch = Scratch::new();
    let input = numbered(3000);
    let ran = tee(&scratch).args(["f", "/dev/full", "g"]).stdin(&*input).run();
    ran.exits(74).stdout_is(&input);
    assert_eq!(ran.stderr_lines(), ["jsonl-tee: /dev/full: write: no space left on device"]);
    assert!(scratch.read("f") == input && scratch.read("g") == input);
}

#[test]
fn a_line_that_has_no_place_to_wait_is_told_once_and_the_files_get_all() {
    let scratch = Scratch::new();
    let long = format!("{{\"a\":\"{}\"}}\n", "x".repeat(3_000_000));
    let input = ["{}\n", &long, "{}\n", &long].concat();
    let nowhere = scratch.path("nowhere");
    let ran = tee(&scratch).args(["--only-json", "f"]).env("TMPDIR", &nowhere).stdin(&*input).run();
    ran.exits(74).stdout_is("{}\n");
    let [said] = &ran.stderr_lines()[..] else { panic!("{ran}") };
    assert!(said.starts_with("jsonl-tee: temporary file: no such file or directory"), "{said}");
    assert!(scratch.text("f") == input);
}

#[test]
fn a_file_that_cannot_be_made_is_told_and_the_others_get_all() {
    let scratch = Scratch::new();
    let ran = tee(&scratch).args(["no/such/folder", "f", "."]).stdin("{}\n").run();
    ran.exits(66).stdout_is("{}\n");
    let expected =
        ["jsonl-tee: no/such/folder: open: no such file or directory", "jsonl-tee: .: open: is a directory"];
    assert_eq!(ran.stderr_lines(), expected);
    assert_eq!(scratch.text("f"), "{}\n");
}

#[test]
fn output_error_says_what_is_an_error_and_what_comes_of_it() {
    let scratch = Scratch::new();
    let input = numbered(3000);
    // A reader that has left, and a file that can be written.
    let gone = |mode: &str| {
        let (reader, writer) = pipe();
        drop(reader);
        tee(&scratch).args([mode, "f"]).stdin(&*input).stdout_to(writer).run()
    };
    for mode in ["-p", "--output-error", "--output-error=warn-nopipe", "--output-error=exit-nopipe"] {
        let ran = gone(mode);
        ran.exits(0);
        assert_eq!(ran.stderr_text(), "");
        assert!(scratch.read("f") == input, "{mode}");
    }
    let warned = ["jsonl-tee: standard output: write: broken pipe"];
    let ran = gone("--output-error=warn");
    ran.exits(74);
    assert_eq!(ran.stderr_lines(), warned);
    assert!(scratch.read("f") == input);
    let ran = gone("--output-error=exit");
    ran.exits(74);
    assert_eq!(ran.stderr_lines(), warned);
    assert!(scratch.read("f").len() < input.len());

    // Any other failure: the file before it has what was written so far, and not all.
    for (mode, goes_on) in [("warn", true), ("warn-nopipe", true), ("exit", false), ("exit-nopipe", false)] {
        let args = [&format!("--output-error={mode}"), "f", "/dev/full"];
        let ran = tee(&scratch).args(args).stdin(&*input).run();
        ran.exits(74);
        assert_eq!(ran.stderr_lines().len(), 1, "{mode}");
        assert_eq!(scratch.read("f") == input, goes_on, "{mode}");
    }
    let ran = tee(&scratch).args(["--output-error=exit", "no/such/folder", "f"]).stdin("{}\n").run();
    ran.exits(66).stdout_is("");
    tee(&scratch).arg("--output-error=sometimes").run().exits(64);
}

#[test]
fn a_file_size_limit_is_a_failed_write_and_leaves_whole_lines() {
    let scratch = Scratch::new();
    let input = numbered(3000);
    let limited = ["sh", "-c", r#"ulimit -f 8; exec "$0" "$@""#];
    let ran = tee(&scratch).arg("f").under(&limited).stdin(&*input).run();
    ran.exits(74).stdout_is(&input).stderr_has("jsonl-tee: f: write: file too large");
    let kept = scratch.read("f");
    assert!(kept.len() > 1000 && kept.ends_with(b"\n") && input.starts_with(&kept), "{} bytes", kept.len());
}

#[test]
fn a_long_line_that_does_not_fit_is_cut_away() {
    let scratch = Scratch::new();
    let input = format!("{{}}\n{{\"a\":\"{}\"}}\n{{}}\n", "x".repeat(3 << 20));
    let limited = ["sh", "-c", r#"ulimit -f 4000; exec "$0" "$@""#];
    tee(&scratch).args(["-a", "f"]).under(&limited).stdin(&*input).run().exits(74).stdout_is(&input);
    assert_eq!(scratch.text("f"), "{}\n");
}

#[test]
fn it_ends_when_nobody_is_left() {
    let scratch = Scratch::new();
    let (reader, writer) = pipe();
    drop(reader);
    let (input, mut source) = pipe();
    let running = tee(&scratch).stdin_from(input).stdout_to(writer).start();
    wait_until("the source has no reader either", SOON, || source.write_all(b"{}\n").is_err());
    let ran = running.end();
    ran.exits(0);
    assert_eq!(ran.stderr_text(), "");
}

#[test]
fn pipes_that_a_neighbour_made_non_blocking_lose_nothing() {
    let scratch = Scratch::new();
    let ((input, source), (reader, writer)) = (pipe(), pipe());
    unblock(&input);
    unblock(&writer);
    let lines = numbered(5000);
    let running = tee(&scratch).arg("f").stdin_from(input).stdout_to(writer).start();
    wait_until("it has started", SOON, || scratch.has("f"));
    let fed = feed(source, &*lines);
    wait_until("it has filled the pipe", SOON, || scratch.read("f").len() > 1 << 16);
    assert!(gather(reader).join().expect("the reader") == lines);
    fed.join().expect("the feeder");
    running.end().exits(0);
    assert!(scratch.read("f") == lines);
}

#[test]
fn an_input_that_cannot_be_read_is_told() {
    let scratch = Scratch::new();
    let folder = File::open(scratch.dir()).expect("a folder");
    let ran = tee(&scratch).arg("f").stdin_from(folder).run();
    ran.exits(66);
    assert_eq!(ran.stderr_lines(), ["jsonl-tee: standard input: read: is a directory"]);
}

#[test]
fn head_leaves_early_and_cat_does_not_wait() {
    let scratch = Scratch::new();
    let shell = |script: &str| {
        let script = format!("tee=$0; {script}");
        tee(&scratch).under(&["sh", "-c", &script]).run()
    };
    let input = r#"seq 200000 | sed 's/.*/{"n":&}/'"#;
    let lines = (1..=200_000).map(|n| format!("{{\"n\":{n}}}\n")).collect::<String>();
    let ran = shell(&format!(r#"{input} | {{ "$tee" ok.jsonl; echo $? >status; }} | head -1"#));
    ran.exits(0).stdout_is("{\"n\":1}\n");
    assert_eq!((ran.stderr_text(), scratch.text("status")), (String::new(), "0\n".to_owned()));
    assert!(scratch.text("ok.jsonl") == lines);

    let ran = shell(&format!(r#"{input} | {{ "$tee" ok.jsonl /dev/full; echo $? >status; }} | head -1"#));
    ran.exits(0).stdout_is("{\"n\":1}\n");
    assert_eq!(ran.stderr_lines(), ["jsonl-tee: /dev/full: write: no space left on device"]);
    assert_eq!(scratch.text("status"), "74\n");
    assert!(scratch.text("ok.jsonl") == lines);

    shell(r#"echo '{}' | "$tee" f | cat"#).exits(0).stdout_is("{}\n");
}

#[test]
fn closed_descriptors_are_not_complained_of() {
    let scratch = Scratch::new();
    let input = numbered(500);
    for closed in [">&-", "2>&-", "<&-", "<&- >&- 2>&-"] {
        let script = format!(r#"exec "$0" "$@" {closed}"#);
        let ran = tee(&scratch).arg("f").under(&["sh", "-c", &script]).stdin(&*input).run();
        ran.exits(0);
        assert_eq!(ran.stderr_text(), "", "{closed}");
        let expected = if closed.contains("<&-") { &[][..] } else { &input };
        assert!(scratch.read("f") == expected, "{closed}");
    }
    // A message has nowhere to go.
    let script = r#"exec "$0" "$@" 2>&-"#;
    tee(&scratch)
        .arg("/dev/full")
        .under(&["sh", "-c", script])
        .stdin(&*input)
        .run()
        .exits(74)
        .stdout_is(&input);
}
