//! What becomes of stdout and stderr, and readers that leave.

use std::fs::File;
use std::process::Stdio;

use super::{DONE, records, settled, watch};
use crate::harness::pipes::pipe;
use crate::harness::scratch::Scratch;
use crate::harness::script::lines;

#[test]
fn a_reader_that_leaves_ends_it_quietly_before_there_is_more_to_tell() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([DONE]));
    let (reader, writer) = pipe();
    let running = watch(&scratch, &["A1", "A2"]).stdout_to(writer).start();
    let mut first = String::new();
    let mut reader = std::io::BufReader::new(reader);
    std::io::BufRead::read_line(&mut reader, &mut first).expect("a record");
    assert!(first.contains("watcher.sentinel"), "{first}");
    drop(reader);
    let ran = running.end();
    ran.exits(141);
    assert_eq!(ran.stderr_text(), "");
}

#[test]
fn closed_outputs_are_nobody_to_tell() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([DONE]));
    for closed in [">&-", "2>&-", ">&- 2>&-", "<&-"] {
        let under = format!("exec \"$0\" \"$@\" {closed}");
        let ran = watch(&scratch, &["A1"]).args(["--ui", "always"]).under(&["sh", "-c", &under]).run();
        ran.exits(0);
        if !closed.starts_with('>') {
            assert_eq!(records(&ran.stdout), settled("A1", 0, DONE, 1, 1));
        }
    }
}

#[test]
fn an_output_that_takes_nothing_is_said() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([DONE]));
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let ran = watch(&scratch, &["A1", "A2"]).stdout_to(Stdio::from(full)).run();
    ran.exits(74);
    assert_eq!(ran.stderr_lines(), ["wave-watch: standard output: write: no space left on device"]);
}

#[test]
fn a_file_takes_the_records_too() {
    let scratch = Scratch::new();
    scratch.write("A1", lines([DONE]));
    let file = File::create(scratch.path("records")).expect("a file");
    watch(&scratch, &["A1"]).stdout_to(Stdio::from(file)).run().exits(0);
    assert_eq!(records(scratch.read("records")), settled("A1", 0, DONE, 1, 1));
}
