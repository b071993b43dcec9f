//! Pipes whose other end does nothing: it never reads, never writes, or is not even there.

use std::fs::File;
use std::io::{ErrorKind, PipeReader, PipeWriter, Write};
use std::path::Path;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::{bare, launch, progress, seconds};
use crate::harness::pipes::{pipe, unblock};
use crate::harness::ran::Ran;
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};
use crate::harness::sweep::catches;
use crate::harness::wait::{SOON, wait_until};

/// A limit of one second and a short grace: what a run that hangs gets here.
const LIMITS: [&str; 4] = ["--timeout-seconds", "1", "--kill-grace", "0.5"];

/// A named pipe, with nobody at either end.
fn fifo(scratch: &Scratch, name: &str) {
    mkfifo(&scratch.path(name), Mode::S_IRWXU).expect("a named pipe");
}

/// Somebody who has both ends of a named pipe open, so that it can be opened, and takes nothing.
fn sleeper(scratch: &Scratch, name: &str) -> File {
    File::options().read(true).write(true).open(scratch.path(name)).expect("both ends of a pipe")
}

/// A pipe that takes no byte more.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = pipe();
    unblock(&writer);
    let full = std::iter::repeat_with(|| writer.write(&[b'x'; 4096])).find_map(Result::err);
    assert_eq!(full.map(|error| error.kind()), Some(ErrorKind::WouldBlock));
    fcntl(&writer, FcntlArg::F_SETFL(OFlag::empty())).expect("taking O_NONBLOCK back");
    (reader, writer)
}

/// The last line on stderr is the time it took.
#[track_caller]
fn ends_with_the_time(ran: &Ran) {
    let lines = ran.stderr_lines();
    assert!(lines.last().is_some_and(|line| line.starts_with("codex-launch: elapsed=")), "{ran}");
}

#[test]
fn a_full_stderr_does_not_hold_up_the_limit() {
    let scratch = Scratch::git();
    let (reader, writer) = full_pipe();
    let script = Script::new().lines([T, S]).stderr("some words\n").hang();
    let ran = launch(&scratch, &script).args(LIMITS).stderr_to(writer).run();
    ran.exits(124).took(seconds(1), seconds(30));
    progress(&scratch).failed_by("timeout").events_are([T, S]);
    drop(reader);
}

#[test]
fn a_full_stdout_and_stderr_do_not_hold_up_the_limit() {
    // As in `codex-launch ... 2>&1 | less`.
    let scratch = Scratch::git();
    let (reader, writer) = full_pipe();
    let script = Script::new().lines([T, S]).flood("stdout", 1_000_000, "lines").hang();
    let launcher = bare(&scratch, &script).args(["--progress-file", "-", "--result-file", "r"]).args(LIMITS);
    let launcher = launcher.stderr_to(writer.try_clone().expect("a second end")).stdout_to(writer);
    launcher.run().exits(124).took(seconds(1), seconds(30));
    assert!(!scratch.has("r"));
    drop(reader);
}

#[test]
fn an_earlier_file_that_never_comes_can_be_given_up() {
    let scratch = Scratch::git();
    fifo(&scratch, "earlier");
    let running = launch(&scratch, &Script::good()).args(["--resume-from", "earlier"]).start();
    wait_until("the launcher has its signals", SOON, || catches(running.runner(), Signal::SIGTERM));
    running.signal(Signal::SIGTERM);
    running.end().exits(143);
    assert_eq!(scratch.names(), [".git", "earlier", "script"]);
}

#[test]
fn what_codex_is_to_read_is_not_read_before() {
    // Whoever would open the pipe would wait for its writer, or take from Codex what can be read once.
    for option in ["--output-schema", "--image"] {
        let scratch = Scratch::git();
        fifo(&scratch, "pipe");
        let script = Script::new().lines([T, S]).message("{}").line(C);
        launch(&scratch, &script).args([option, "pipe"]).run().exits(0);
        progress(&scratch).completed();
    }
}

#[test]
fn a_stderr_file_that_takes_nothing_does_not_hold_up_the_limit() {
    // The first is less than what may wait, the second is more and holds up Codex itself.
    for bytes in [300_000, 4_000_000] {
        let scratch = Scratch::git();
        fifo(&scratch, "e");
        let reader = sleeper(&scratch, "e");
        let script = Script::new().lines([T, S]).flood("stderr", bytes, "no-lf").hang();
        let ran = launch(&scratch, &script).args(["--stderr-file", "e"]).args(LIMITS).run();
        ran.exits(124).took(seconds(1), seconds(30));
        progress(&scratch).failed_by("timeout").events_are([T, S]);
        ends_with_the_time(&ran);
        drop(reader);
    }
}

#[test]
fn a_stderr_file_that_takes_nothing_is_lost_and_the_answer_is_not() {
    let scratch = Scratch::git();
    fifo(&scratch, "e");
    let reader = sleeper(&scratch, "e");
    let script = Script::new().lines([T, S]).flood("stderr", 300_000, "no-lf").lines([M, C]);
    let ran = launch(&scratch, &script).args(["--stderr-file", "e"]).run();
    ran.exits(74).took(seconds(0), seconds(40)).stderr_has("stderr file");
    progress(&scratch).failed(74, "io").events_are([T, S, M, C]);
    assert_eq!(scratch.text("r"), "ok");
    ends_with_the_time(&ran);
    drop(reader);
}

#[test]
fn an_answer_that_nobody_takes_can_be_given_up() {
    let scratch = Scratch::git();
    fifo(&scratch, "answer");
    let script = Script::new().portrait(&scratch.path("portrait")).append(&Script::good());
    let files = ["--progress-file", "p", "--result-file", "answer"];
    let running = bare(&scratch, &script).args(files).start();
    scratch.wait_for("portrait");
    let child = scratch.json("portrait")["pid"].as_i64().expect("a process id");
    // Buried, it is no zombie either: nothing that comes now is about the run itself.
    wait_until("Codex is buried", SOON, || !Path::new(&format!("/proc/{child}")).exists());
    running.signal(Signal::SIGTERM);
    let ran = running.end();
    ran.exits(143).took(seconds(0), seconds(40)).stderr_has("cancelled").stderr_lacks("progress file");
    progress(&scratch).failed_by("cancelled").events_are([T, S, M, C]);
    ends_with_the_time(&ran);
}

#[test]
fn an_answer_that_nobody_takes_is_lost_when_the_limit_passes() {
    let scratch = Scratch::git();
    fifo(&scratch, "answer");
    let files = ["--progress-file", "p", "--result-file", "answer"];
    let launcher = bare(&scratch, &Script::good()).args(files);
    let ran = launcher.args(["--timeout-seconds", "6", "--kill-grace", "0"]).run();
    ran.exits(74).took(seconds(6), seconds(40)).stderr_has("answer").stderr_lacks("progress file");
    progress(&scratch).failed(74, "io").events_are([T, S, M, C]);
    ends_with_the_time(&ran);
}

#[test]
fn a_session_file_that_nobody_takes_does_not_hold_up_the_run() {
    let scratch = Scratch::git();
    fifo(&scratch, "s");
    let ran = launch(&scratch, &Script::good()).args(["--session-file", "s"]).run();
    ran.exits(74).took(seconds(0), seconds(40)).stderr_has("session file");
    progress(&scratch).failed(74, "io").events_are([T, S, M, C]);
    assert_eq!(scratch.text("r"), "ok");
    ends_with_the_time(&ran);
}
