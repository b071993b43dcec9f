//! Files that grow.

use std::fs::{self, OpenOptions};
use std::io::Write;

use super::message;
use crate::harness::filter::filter;
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::script::{M, S, T, lines};
use crate::harness::wait::{SOON, wait_until};

const DONE: &str = r#"{"type":"handoff.completed","elapsed_seconds":3}"#;

fn follow(scratch: &Scratch, args: &[&str]) -> Running {
    filter("codex-render").args(args).args(["--follow", "f"]).dir(scratch.dir()).start()
}

#[track_caller]
fn wait_for(render: &Running, shown: &str) {
    wait_until(&format!("it shows {shown:?}"), SOON, || render.stdout() == shown.as_bytes());
}

fn append(scratch: &Scratch, text: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(scratch.path("f")).expect("the file");
    file.write_all(text.as_bytes()).expect("appending");
}

#[test]
fn a_file_is_followed_from_before_it_is_there_to_its_sentinel() {
    let scratch = Scratch::new();
    let render = follow(&scratch, &[]);
    wait_until("it waits", SOON, || !render.stderr().is_empty());
    append(&scratch, &lines([T, S, M]));
    wait_for(&render, "ok\n");
    let two = message("two");
    let (left, right) = two.split_at(30);
    append(&scratch, left);
    append(&scratch, right);
    wait_for(&render, "ok\ntwo\n");
    append(&scratch, &format!("{DONE}\n{}", message("not heard")));
    let ran = render.end();
    ran.exits(0).stdout_is("ok\ntwo\nCompleted in 3s\n");
    assert_eq!(ran.stderr_lines(), ["codex-render: f: not there yet: waiting for it"]);
}

#[test]
fn a_file_that_is_finished_is_shown_and_left() {
    let scratch = Scratch::new();
    scratch.write("f", lines([T, S, M, DONE, M]));
    let ran = follow(&scratch, &[]).end();
    ran.exits(0).stdout_is("ok\nCompleted in 3s\n");
    assert_eq!(ran.stderr_text(), "");
    follow(&scratch, &["--answer"]).end().exits(0).stdout_is("ok\n");
}

#[test]
fn the_answer_is_waited_for() {
    let scratch = Scratch::new();
    let render = follow(&scratch, &["--answer"]);
    append(&scratch, &lines([T, S, M]));
    append(
        &scratch,
        &(message("half") + r#"{"type":"handoff.failed","reason":"timeout","elapsed_seconds":1}"# + "\n"),
    );
    render.end().exits(1).stdout_is("half\n");
}

#[test]
fn an_error_is_shown_while_the_file_does_not_grow() {
    let scratch = Scratch::new();
    append(&scratch, "{\"type\":\"error\",\"message\":\"Reconnecting...\"}\n");
    let render = follow(&scratch, &[]);
    wait_for(&render, "Warning: Reconnecting...\n");
    append(&scratch, &lines([M, DONE]));
    render.end().exits(0).stdout_is("Warning: Reconnecting...\nok\nCompleted in 3s\n");
}

#[test]
fn an_unfinished_line_that_its_writer_took_back_is_dropped() {
    let scratch = Scratch::new();
    append(&scratch, &lines([M]));
    let render = follow(&scratch, &[]);
    wait_for(&render, "ok\n");
    append(&scratch, "{\"type\":\"turn.comp");
    let file = OpenOptions::new().write(true).open(scratch.path("f")).expect("the file");
    file.set_len(lines([M]).len() as u64).expect("cutting it");
    append(&scratch, &lines([DONE]));
    render.end().exits(0).stdout_is("ok\nCompleted in 3s\n");
}

#[test]
fn another_file_under_the_name_is_read_from_its_beginning() {
    let scratch = Scratch::new();
    append(&scratch, &message("old"));
    let render = follow(&scratch, &[]);
    wait_for(&render, "old\n");
    scratch.write("new", message("new"));
    fs::rename(scratch.path("new"), scratch.path("f")).expect("moving it into place");
    wait_for(&render, "old\nnew\n");
    append(&scratch, &lines([DONE]));
    let ran = render.end();
    ran.exits(0).stdout_is("old\nnew\nCompleted in 3s\n");
    ran.stderr_has("f: another file is there now: read from its beginning");
}
