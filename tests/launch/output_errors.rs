//! Files that cannot be written, and readers that leave.

use std::fs::File;
use std::os::unix::fs::MetadataExt;

use nix::unistd::Pid;

use super::{bare, launch, progress};
use crate::harness::mounts::own_mounts;
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};
use crate::harness::skipped::skipped;
use crate::harness::sweep::is_alive;
use crate::harness::wait::{SOON, wait_until};

/// One message says that writing failed and why, and the run went on to its answer.
#[track_caller]
fn writing_failed(scratch: &Scratch, ran: &Ran, why: &str) {
    ran.exits(74);
    let said = ran.stderr_lines().iter().filter(|line| line.contains(why)).count();
    assert_eq!(said, 1, "{ran}");
    assert!(scratch.has("done"), "the run was not left in peace\n{ran}");
    assert_eq!(scratch.text("r"), "ok");
}

const NO_SPACE: &str = "no space left on device";

/// A good run of many lines that comes to its end unless somebody ends it.
fn long(scratch: &Scratch) -> Script {
    Script::new().lines([T, S]).flood("stdout", 200_000, "lines").lines([M, C]).touch(&scratch.path("done"))
}

#[test]
fn a_full_device_as_progress_file_fails_the_run_and_the_sentinel_is_on_stderr() {
    let scratch = Scratch::git();
    let launcher =
        bare(&scratch, &long(&scratch)).args(["--progress-file", "/dev/full", "--result-file", "r"]);
    let ran = launcher.run();
    writing_failed(&scratch, &ran, NO_SPACE);
    // The sentinel is said where it can be.
    let sentinel = r#"{"type":"handoff.failed","reason":"error","rc":74,"elapsed_seconds":0,"cause":"io"}"#;
    assert!(ran.stderr_lines().contains(&sentinel.to_owned()), "{ran}");
}

#[test]
fn the_room_that_is_kept_for_the_sentinel_is_given_back() {
    let scratch = Scratch::git();
    launch(&scratch, &Script::good()).run().exits(0);
    let about = std::fs::metadata(scratch.path("p")).expect("the progress file");
    assert_eq!(about.blocks() * 512, about.len().next_multiple_of(about.blksize()));
}

#[test]
fn no_room_for_a_long_line_to_wait_in() {
    let Some(own_mounts) = own_mounts() else {
        skipped("no file system can be mounted here");
        return;
    };
    let scratch = Scratch::git();
    std::fs::create_dir(scratch.path("small")).expect("a folder");
    let command = r#"mount -t tmpfs -o size=1m none small && TMPDIR=$PWD/small "$0" "$@""#;
    let script = Script::new().lines([T, S]).flood("stdout", 8_000_000, "one-line").lines([M, C]);
    let launcher = launch(&scratch, &script.touch(&scratch.path("done")));
    let ran = launcher.under(&[own_mounts, &["sh", "-c", command]].concat()).run();
    writing_failed(&scratch, &ran, NO_SPACE);
    // What came before it is there; a gap is none that a reader could see, so nothing comes after it.
    progress(&scratch).failed(74, "io").events_are([T, S]);
}

#[test]
fn a_result_that_cannot_be_written() {
    let scratch = Scratch::git();
    let launcher =
        bare(&scratch, &Script::good()).args(["--progress-file", "p", "--result-file", "/dev/full"]);
    launcher.run().exits(74).stderr_has(NO_SPACE);
    progress(&scratch).failed(74, "io");
}

#[test]
fn a_stderr_file_that_cannot_be_written() {
    let scratch = Scratch::git();
    let script =
        Script::new().stderr("some text\n").lines([T, S]).flood("stderr", 100_000, "no-lf").lines([M, C]);
    let script = script.touch(&scratch.path("done"));
    let ran = launch(&scratch, &script).args(["--stderr-file", "/dev/full"]).run();
    writing_failed(&scratch, &ran, NO_SPACE);
    progress(&scratch).failed(74, "io").events_are([T, S, M, C]);
}

#[test]
fn readers_that_leave_do_not_end_the_run() {
    let gone = || {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        writer
    };
    let scratch = Scratch::git();
    let launcher = bare(&scratch, &long(&scratch)).args(["--progress-file", "-", "--result-file", "r"]);
    let ran = launcher.stdout_to(gone()).run();
    ran.exits(74);
    assert!(scratch.has("done"));
    assert_eq!(scratch.text("r"), "ok");

    let launcher = launch(&scratch, &Script::new().stderr("x").exit(3)).arg("--force").stderr_to(gone());
    launcher.run().exits(3);
    progress(&scratch).failed(3, "");
}

#[test]
fn an_answer_that_nobody_takes_is_not_delivered() {
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let (reader, gone) = std::io::pipe().expect("a pipe");
    drop(reader);
    for stdout in [std::process::Stdio::from(full), std::process::Stdio::from(gone)] {
        let scratch = Scratch::git();
        let launcher = bare(&scratch, &Script::good()).args(["--progress-file", "p"]).stdout_to(stdout);
        launcher.run().exits(74);
        progress(&scratch).failed(74, "io").events_are([T, S, M, C]);
    }
}

#[test]
fn a_reader_that_reads_late_does_not_hold_up_the_limit() {
    let scratch = Scratch::git();
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let script = Script::new().portrait(&scratch.path("portrait")).lines([T, S]);
    let script = script.flood("stdout", 2_000_000, "lines").hang();
    let launcher = bare(&scratch, &script).args(["--progress-file", "-", "--result-file", "r"]);
    let running = launcher.args(["--timeout-seconds", "1", "--kill-grace", "0"]).stdout_to(writer).start();
    scratch.wait_for("portrait");
    let child = scratch.json("portrait")["pid"].as_i64().expect("a process id");
    let child = Pid::from_raw(i32::try_from(child).expect("a process id"));
    wait_until("the limit has ended the child", SOON, || !is_alive(child));
    let reading = std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
    running.end().exits(124);
    reading.join().expect("the reader").expect("reading");
}

#[test]
fn stderr_closed_or_full_changes_nothing() {
    let scratch = Scratch::git();
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    launch(&scratch, &Script::new().stderr("x").lines([T, S]).exit(1)).stderr_to(full).run().exits(1);
    progress(&scratch).failed(1, "");
}
