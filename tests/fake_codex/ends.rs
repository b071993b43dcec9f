//! How it waits and ends.

use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::json;

use super::{exec, field, run};
use crate::harness::scratch::Scratch;
use crate::harness::script::{Script, T};
use crate::harness::wait::{SOON, wait_until};

#[test]
fn it_delays_touches_and_awaits() {
    let scratch = Scratch::new();
    let script =
        Script::new().delay_ms(100).touch(&scratch.path("ready")).await_file(&scratch.path("go")).exit(5);
    let running = exec(&scratch, &script).start();
    scratch.wait_for("ready");
    scratch.write("go", "");
    running.end().exits(5).took(Duration::from_millis(100), SOON);
}

#[test]
fn it_ends_by_a_signal() {
    for (name, number) in [("KILL", 9), ("TERM", 15), ("SEGV", 11), ("INT", 2)] {
        let ran = run(&Script::new().line(T).die(name));
        assert_eq!(ran.exits(128 + number).stdout_is(format!("{T}\n")).status.code(), None);
    }
}

#[test]
fn it_ignores_signals() {
    let scratch = Scratch::new();
    let go = scratch.path("go");
    let script = Script::new().ignore(&["INT", "TERM"]).touch(&scratch.path("ready")).await_file(&go).exit(6);
    let running = exec(&scratch, &script).start();
    scratch.wait_for("ready");
    running.signal(Signal::SIGINT);
    running.signal(Signal::SIGTERM);
    scratch.write("go", "");
    running.end().exits(6);
}

#[test]
fn it_hangs_and_stops_until_it_is_killed() {
    for (step, state) in [("hang", "S (sleeping)"), ("stop", "T (stopped)")] {
        let scratch = Scratch::new();
        let script = Script::new().touch(&scratch.path("ready")).step(step, json!({}));
        let running = exec(&scratch, &script).start();
        scratch.wait_for("ready");
        wait_until("it is in that state", SOON, || field(running.pid(), "State:") == state);
        running.signal(Signal::SIGKILL);
        running.end().exits(137);
    }
}

#[test]
fn it_asks_for_a_terminal() {
    let scratch = Scratch::new();
    exec(&scratch, &Script::new().step("tty", json!({"save": scratch.path("tty")})))
        .under(&["setsid", "--wait"])
        .run();
    assert_eq!(scratch.text("tty"), "No such device or address (os error 6)");
}

#[test]
fn it_becomes_another_program() {
    run(&Script::new().line(T).sh("echo then; exit 7")).exits(7).stdout_is(format!("{T}\nthen\n"));
}
