//! Codex has no terminal, even where the launcher has one.

use std::io::{Read, Write};

use nix::pty::openpty;
use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use serde_json::json;

use super::{bare, launch, progress, seconds};
use crate::harness::filter::filter;
use crate::harness::scratch::Scratch;
use crate::harness::script::{S, Script, T};

/// What gives a filter its stdin as controlling terminal.
const ON_A_TERMINAL: [&str; 3] = ["setsid", "--ctty", "--wait"];

#[test]
fn a_child_that_reads_the_terminal_finds_none_and_meets_the_limit() {
    let scratch = Scratch::git();
    let file = scratch.write("file", "from a file");
    let pty = openpty(None, None).expect("a terminal");
    let script = Script::new().lines([T, S]).step("tty", json!({"save": scratch.path("tty")})).hang();
    let launcher = launch(&scratch, &script).arg("--prompt-file").arg(file).args(["--timeout-seconds", "1"]);
    launcher.under(&ON_A_TERMINAL).stdin_from(pty.slave).run().exits(124).took(seconds(1), seconds(20));
    assert_eq!(scratch.text("tty"), "No such device or address (os error 6)");
    progress(&scratch).failed_by("timeout").events_are([T, S]);
}

#[test]
fn there_is_one_without_the_launcher() {
    let scratch = Scratch::new();
    let pty = openpty(None, None).expect("a terminal");
    let script = Script::new().leave_prompt().step("tty", json!({"save": scratch.path("tty")}));
    let codex = filter("fake-codex").args(["exec", "-"]).env("FAKE_CODEX_SCRIPT", script.write_to(&scratch));
    let running = codex.under(&ON_A_TERMINAL).stdin_from(pty.slave).start();
    scratch.wait_for("tty");
    std::fs::File::from(pty.master).write_all(b"\n").expect("a key");
    running.end();
    assert_eq!(scratch.text("tty"), "opened");
}

#[test]
fn it_can_say_something_where_others_than_the_foreground_are_stopped_for_that() {
    let scratch = Scratch::git();
    let file = scratch.write("file", "from a file");
    let pty = openpty(None, None).expect("a terminal");
    let mut settings = tcgetattr(&pty.slave).expect("its settings");
    settings.local_flags |= LocalFlags::TOSTOP;
    tcsetattr(&pty.slave, SetArg::TCSANOW, &settings).expect("its settings");
    let stdout = pty.slave.try_clone().expect("a descriptor");
    let launcher =
        bare(&scratch, &Script::good()).args(["--progress-file", "p"]).arg("--prompt-file").arg(file);
    launcher.under(&ON_A_TERMINAL).stdin_from(pty.slave).stdout_to(stdout).run().exits(0);
    let mut shown = [0; 4];
    std::fs::File::from(pty.master).read_exact(&mut shown).expect("the answer");
    assert_eq!(&shown, b"ok\r\n");
    progress(&scratch).completed();
}
