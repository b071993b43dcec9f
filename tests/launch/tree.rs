//! Nothing that a run started survives it. Each test's end asserts that for all that carry its mark.

use serde_json::{Value, json};

use super::{launch, progress, seconds};
use crate::harness::scratch::Scratch;
use crate::harness::script::{C, M, S, Script, T};
use crate::harness::sweep::is_alive;

/// A limit of one second and a grace of one: what a run that hangs gets here.
const LIMITS: [&str; 4] = ["--timeout-seconds", "1", "--kill-grace", "1"];

#[test]
fn a_descendant_that_ignores_signals_is_ended() {
    let scratch = Scratch::git();
    let script = Script::new().sh("( trap '' TERM INT; exec sleep 300 ) & wait");
    launch(&scratch, &script).args(LIMITS).run().exits(124).took(seconds(1), seconds(6));
    progress(&scratch).failed_by("timeout");
}

#[test]
fn a_zombie_is_not_waited_for() {
    let zombie = Script::new().lines([T, S]).step("zombie", json!({})).lines([M, C]);
    let scratch = Scratch::git();
    launch(&scratch, &zombie).args(["--kill-grace", "40"]).run().exits(0).took(seconds(0), seconds(19));

    let scratch = Scratch::git();
    let limits = ["--timeout-seconds", "1", "--kill-grace", "40"];
    launch(&scratch, &zombie.hang()).args(limits).run().exits(124).took(seconds(1), seconds(20));
}

#[test]
fn descendants_in_sessions_of_their_own_are_ended() {
    let scratch = Scratch::git();
    let script = Script::new().sh("setsid sleep 300 & setsid nohup sleep 300 & sleep 300");
    launch(&scratch, &script).args(LIMITS).run().exits(124).took(seconds(1), seconds(20));

    let scratch = Scratch::git();
    let script = Script::good().no_answer().sh("setsid sleep 300 & setsid nohup sleep 300 & exit 0");
    launch(&scratch, &script).run().exits(0).took(seconds(0), seconds(20));
    progress(&scratch).completed();
    assert_eq!(scratch.text("r"), "ok");
}

/// Runs a good run and one that crashes, each with a descendant like this, and asserts that it is gone.
#[track_caller]
fn is_ended(fields: Value) {
    for (end, status) in [(Script::good(), 0), (Script::new().lines([T, S]).die("SEGV"), 139)] {
        let scratch = Scratch::git();
        let mut all = fields.clone();
        let given = json!({"life": "sleep", "seconds": 300, "pid": scratch.path("pid")});
        all.as_object_mut().expect("fields").extend(given.as_object().expect("fields").clone());
        let script = Script::new().spawn(all).append(&end);
        launch(&scratch, &script).run().exits(status).took(seconds(0), seconds(20));
        assert!(!is_alive(scratch.pid("pid")));
    }
}

#[test]
fn a_child_of_the_child_is_ended() {
    is_ended(json!({}));
}

#[test]
fn one_that_holds_the_pipes_and_ignores_signals_is_ended() {
    is_ended(json!({"pipes": "hold", "ignore": ["INT", "TERM", "HUP"]}));
}

#[test]
fn an_orphan_in_a_session_of_its_own_is_ended() {
    is_ended(json!({"session": "own", "orphan": true, "pipes": "hold"}));
}

#[test]
fn an_orphan_without_any_environment_is_ended() {
    is_ended(json!({"session": "own", "orphan": true, "env": "none", "ignore": ["INT", "TERM", "HUP"]}));
}

#[test]
fn one_that_stopped_is_ended() {
    let scratch = Scratch::git();
    let stopped = format!("setsid sh -c 'echo > {}; kill -STOP $$' &", scratch.path("ready").display());
    let script = Script::good().no_answer();
    let script = script
        .sh(&format!("{stopped} while [ ! -e {} ]; do sleep 0.01; done", scratch.path("ready").display()));
    launch(&scratch, &script).run().exits(0).took(seconds(0), seconds(20));
}

#[test]
fn one_that_prints_without_end_is_ended() {
    for session in [json!({}), json!({"session": "own", "orphan": true})] {
        let scratch = Scratch::git();
        let mut chatter = json!({"pipes": "hold", "life": "chatter", "seconds": 300});
        chatter.as_object_mut().expect("fields").extend(session.as_object().expect("fields").clone());
        let launcher = launch(&scratch, &Script::good().spawn(chatter)).args(["--leftover-grace", "0.1"]);
        launcher.run().exits(0).took(seconds(0), seconds(20));
        let progress = progress(&scratch);
        progress.completed();
        assert_eq!(progress.events[..4], [T, S, M, C]);
    }
}

#[test]
fn a_large_tree_is_ended() {
    let scratch = Scratch::git();
    // Forty processes in as many sessions, started one out of the other; the last one says so.
    let ready = scratch.path("ready");
    let nested = format!(
        "if [ $1 = 0 ]; then echo > {0}; else setsid sh -c \"$F\" sh $(($1 - 1)) & fi; sleep 300",
        ready.display()
    );
    let script = Script::good().no_answer();
    let script =
        script.sh(&format!("sh -c \"$F\" sh 40 & while [ ! -e {} ]; do sleep 0.01; done", ready.display()));
    launch(&scratch, &script).env("F", nested).run().exits(0).took(seconds(0), seconds(30));
    progress(&scratch).completed();
}

#[test]
fn a_process_that_never_stays_the_same_is_ended() {
    // It starts its successor in a new session and ends, over and over, as long as there is the folder of this test.
    let scratch = Scratch::git();
    let file = scratch.path("generation");
    let next = format!("echo x >> {0}; [ -e {0} ] && setsid sh -c \"$F\" &", file.display());
    let script = Script::good().no_answer();
    let command =
        format!("sh -c \"$F\"; while [ $(wc -l < {}) -lt 10 ]; do sleep 0.01; done", file.display());
    launch(&scratch, &script.sh(&command)).env("F", next).run().exits(0).took(seconds(0), seconds(30));
    progress(&scratch).completed();
    let generations = scratch.read("generation").len();
    assert!(generations >= 10);
    // Nobody is left to write one more: that the sweep sees nobody might be chance.
    for _ in 0..20 {
        std::thread::yield_now();
        assert_eq!(scratch.read("generation").len(), generations);
    }
}
