//! What it leaves behind.

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getsid};
use serde_json::{Value, json};

use super::{exec, field};
use crate::harness::ran::Ran;
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::script::Script;
use crate::harness::sweep::is_alive;
use crate::harness::wait::{SOON, wait_until};

/// Runs a script that leaves a descendant, and looks at it while the run waits; then lets both end.
fn descendant(fields: Value, look: impl FnOnce(&Scratch, &Running)) -> Ran {
    let scratch = Scratch::new();
    let mut all = json!({"pid": scratch.path("pid"), "life": "sleep", "seconds": 300});
    let given = fields.as_object().expect("fields").clone();
    all.as_object_mut().expect("fields").extend(given);
    let script = Script::new().spawn(all).touch(&scratch.path("ready")).await_file(&scratch.path("go"));
    let running = exec(&scratch, &script).start();
    scratch.wait_for("ready");
    look(&scratch, &running);
    kill(scratch.pid("pid"), Signal::SIGKILL).expect("ending the descendant");
    wait_until("the descendant is gone", SOON, || !is_alive(scratch.pid("pid")));
    scratch.write("go", "");
    running.end()
}

#[test]
fn a_descendant_is_a_child_in_the_session_of_the_run() {
    descendant(json!({}), |scratch, running| {
        let pid = scratch.pid("pid");
        assert_eq!(field(pid, "PPid:"), running.pid().to_string());
        assert_eq!(getsid(Some(pid)), getsid(Some(running.pid())));
        assert_eq!(field(pid, "SigBlk:"), "0000000000000000");
        for fd in 0..=2 {
            let to = std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).expect("a descriptor");
            assert_eq!(to.to_str(), Some("/dev/null"));
        }
    });
}

#[test]
fn a_descendant_leads_a_session_ignores_signals_and_holds_pipes() {
    descendant(json!({"session": "own", "ignore": ["INT", "TERM"], "pipes": "hold"}), |scratch, running| {
        let pid = scratch.pid("pid");
        assert_eq!(getsid(Some(pid)), Ok(pid));
        assert_eq!(field(pid, "SigBlk:"), "0000000000004002");
        for fd in 1..=2 {
            let link = |pid| std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).expect("a descriptor");
            assert_eq!(link(pid), link(running.pid()));
        }
    });
}

#[test]
fn a_descendant_is_an_orphan_with_an_empty_environment() {
    descendant(json!({"orphan": true, "env": "none"}), |scratch, running| {
        let pid = scratch.pid("pid");
        assert_ne!(field(pid, "PPid:"), running.pid().to_string());
        assert_eq!(std::fs::read(format!("/proc/{pid}/environ")).expect("its environment"), b"");
    });
}

#[test]
fn a_descendant_chatters() {
    let ran = descendant(json!({"life": "chatter", "pipes": "hold"}), |_, running| {
        wait_until("there is much chatter", SOON, || running.stdout().len() > 100_000);
    });
    let text = ran.exits(0).stdout_text();
    assert!(text.lines().take(1000).all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn a_zombie_is_not_reaped() {
    let scratch = Scratch::new();
    let script =
        Script::new().step("zombie", json!({})).touch(&scratch.path("ready")).await_file(&scratch.path("go"));
    let running = exec(&scratch, &script).start();
    scratch.wait_for("ready");
    let children =
        std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", running.pid())).expect("children");
    let child = Pid::from_raw(children.trim().parse().expect("one child"));
    assert_eq!(field(child, "State:"), "Z (zombie)");
    scratch.write("go", "");
    running.end().exits(0);
}
