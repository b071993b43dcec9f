//! Whether the process that writes a progress file lives.

use nix::sys::signal::Signal::{SIGKILL, SIGSTOP};
use nix::sys::signal::kill;

use super::{NO_NOTICES, records, settlement, told};
use crate::harness::filter::{Filter, binary, filter};
use crate::harness::scratch::Scratch;
use crate::harness::script::{S, Script, T, lines};
use crate::harness::sweep::is_alive;
use crate::harness::wait::{SOON, wait_until};

const ALIVE: &str = r#""writerAlive":true}"#;
const DEAD: &str = r#""writerAlive":false}"#;
const UNKNOWN: &str = r#""writerAlive":null}"#;

/// A watcher of the file `p` that tells how it is five times a second.
fn watch(scratch: &Scratch, budget: &str) -> Filter {
    let limits = ["--no-sentinel-grace-seconds", "0.1", "--digest-seconds", "0.2"];
    filter("wave-watch").dir(scratch.dir()).args(["--agent", "A1", budget, "p"]).args(limits)
}

fn launch(scratch: &Scratch) -> Filter {
    let script = Script::new().lines([T, S]).touch(&scratch.path("ready")).await_file(&scratch.path("go"));
    filter("codex-launch")
        .arg("--codex")
        .arg(binary("fake-codex"))
        .args(["--progress-file", "p", "--result-file", "r", "--kill-grace", "0.5"])
        .env("FAKE_CODEX_SCRIPT", script.write_to(scratch))
        // One that is killed whole leaves its folder behind.
        .env("TMPDIR", scratch.dir())
        .dir(scratch.dir())
        .stdin("do it")
}

#[test]
fn a_launcher_that_is_killed_whole_is_seen_dead_and_its_agent_settles_by_its_budget() {
    let scratch = Scratch::git();
    let watcher = watch(&scratch, "15").start();
    told(&watcher, UNKNOWN);
    let running = launch(&scratch).start();
    scratch.wait_for("ready");
    told(&watcher, ALIVE);
    wait_until("the events are there", SOON, || scratch.text("p") == lines([T, S]));
    let (guardian, runner) = (running.pid(), running.runner());
    // Neither can see the other one die.
    kill(guardian, SIGSTOP).expect("stopping a half");
    kill(runner, SIGKILL).expect("killing a half");
    kill(guardian, SIGKILL).expect("killing a half");
    wait_until("both are dead", SOON, || !is_alive(guardian) && !is_alive(runner));
    told(&watcher, DEAD);
    let ran = watcher.end();
    let all = records(&ran.exits(1).stdout);
    let [.., sentinel, last] = all.as_slice() else { panic!("{all:#?}") };
    assert!(
        sentinel.ends_with(r#""sentinel":{"type":"handoff.failed","reason":"no-sentinel"}}"#),
        "{sentinel}"
    );
    assert_eq!(*last, settlement(1, 1));
    assert_eq!(scratch.text("p"), lines([T, S]));
    running.abandon();
}

#[test]
fn a_launcher_of_which_one_half_is_killed_is_alive_until_its_sentinel() {
    let scratch = Scratch::git();
    let watcher = watch(&scratch, "1200").start();
    let running = launch(&scratch).start();
    scratch.wait_for("ready");
    told(&watcher, ALIVE);
    kill(running.runner(), SIGKILL).expect("killing a half");
    running.end().exits(125);
    let ran = watcher.end();
    ran.exits(1).stdout_lacks(DEAD);
    assert!(ran.stdout_text().contains(r#""rc":125,"elapsed_seconds":"#), "{ran}");
}

#[test]
fn of_a_file_that_nobody_has_for_itself_it_is_not_known() {
    let scratch = Scratch::git();
    scratch.write("p", lines([T, S]));
    let ran = watch(&scratch, "0.5").run();
    ran.exits(1).stdout_lacks(ALIVE).stdout_lacks(DEAD);
    assert!(ran.stdout_text().contains(UNKNOWN), "{ran}");
}

#[test]
fn where_it_cannot_be_asked_it_is_not_known() {
    let scratch = Scratch::git();
    let (variable, value) = NO_NOTICES;
    let watcher = watch(&scratch, "1200").env(variable, value).args(["--poll-seconds", "0.1"]).start();
    let running = launch(&scratch).start();
    scratch.wait_for("ready");
    told(&watcher, r#""eventCount":2,"#);
    scratch.write("go", "");
    running.end();
    watcher.end().exits(1).stdout_lacks(ALIVE).stdout_lacks(DEAD);
}
