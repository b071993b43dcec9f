//! Where a platform tells nothing of descendants, the process group is what is ended: the same tests on any platform,
//! by forcing the way without.

use nix::sys::signal::{Signal, kill};
use serde_json::{Value, json};

use super::{launch, progress, seconds};
use crate::harness::filter::Filter;
use crate::harness::scratch::Scratch;
use crate::harness::script::{M, S, Script, T};
use crate::harness::sweep::is_alive;
use crate::harness::wait::{SOON, wait_until};

fn portable(scratch: &Scratch, script: &Script) -> Filter {
    launch(scratch, script).env("CODEX_FILTERS_PORTABLE", "1")
}

/// A script that leaves a descendant with these fields, which ignores what it can and holds Codex's pipes open, and
/// then goes on as `rest`.
fn leaving(scratch: &Scratch, mut descendant: Value, rest: &Script) -> Script {
    descendant["life"] = "sleep".into();
    descendant["seconds"] = 300.into();
    descendant["ignore"] = json!(["INT", "TERM"]);
    descendant["pipes"] = "hold".into();
    descendant["pid"] = json!(scratch.path("pid"));
    Script::new().spawn(descendant).append(rest)
}

#[test]
fn the_group_is_ended_whatever_the_ending() {
    let hanging = Script::new().lines([T, S, M]).hang();
    let crash = Script::new().lines([T, S]).die("KILL");
    for (rest, status) in [(Script::good(), 0), (crash, 137), (hanging, 124)] {
        let scratch = Scratch::git();
        let script = leaving(&scratch, json!({}), &rest);
        let limits = ["--timeout-seconds", "2", "--kill-grace", "1"];
        portable(&scratch, &script).args(limits).run().exits(status).took(seconds(0), seconds(20));
        assert!(!is_alive(scratch.pid("pid")), "status {status}");
        assert_eq!(progress(&scratch).sentinel.contains("handoff.completed"), status == 0);
    }
}

#[test]
fn a_session_of_its_own_is_out_of_reach_and_holds_nothing_up() {
    let scratch = Scratch::git();
    let running = portable(&scratch, &leaving(&scratch, json!({"session": "own"}), &Script::good())).start();
    wait_until("a sentinel", SOON, || scratch.has("p") && scratch.text("p").contains("handoff."));
    // It shows that the way without is the one that was taken; and it holds Codex's pipes open to the end.
    assert!(is_alive(scratch.pid("pid")));
    kill(scratch.pid("pid"), Signal::SIGKILL).expect("a process");
    wait_until("it is gone", SOON, || !is_alive(scratch.pid("pid")));
    running.end().exits(0).took(seconds(0), seconds(20));
    progress(&scratch).completed();
}
