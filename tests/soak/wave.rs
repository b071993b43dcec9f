//! One wave: some runs, of which some fail, and those who watch them.

use serde_json::json;

use super::soaked;
use crate::harness::filter::{Filter, binary};
use crate::harness::pipes::pipe;
use crate::harness::progress::Progress;
use crate::harness::scratch::Scratch;
use crate::harness::script::Script;

/// Runs one, and asserts that all ended as they should.
pub(super) fn run(number: usize) {
    let scratch = Scratch::git();
    let agents = ["good", "bad", "teed", "stuck"];
    // A run that has to be stopped takes its time.
    let agents = if number.is_multiple_of(4) { &agents[..] } else { &agents[..3] };
    let mut watcher = soaked("wave-watch").dir(scratch.dir()).args(["--digest-seconds", "0.05"]);
    for agent in agents {
        watcher = watcher.args(["--agent", agent, "60", agent]);
    }
    let watcher = watcher.start();
    let waiter = soaked("jsonl-sentinel").dir(scratch.dir()).arg("wait").args(agents).start();
    let render = soaked("codex-render").dir(scratch.dir()).args(["--follow", "good"]).start();

    let good = launch(&scratch, "good", &Script::good().spawn(orphan()));
    let good = good.args(["--progress-file", "good", "--leftover-grace", "0.1"]).start();
    let failing = Script::new()
        .thread("t2")
        .error("Reconnecting... 1/5")
        .turn_failed("stream disconnected before completion")
        .exit(1);
    let bad = launch(&scratch, "bad", &failing).args(["--progress-file", "bad"]).start();
    let (reader, writer) = pipe();
    let teed = launch(&scratch, "teed", &Script::good().stderr("noise\n"));
    let teed = teed.args(["--progress-file", "-", "--result-file", "answer"]).stdout_to(writer).start();
    let tee = soaked("jsonl-tee").dir(scratch.dir()).args(["--status", "teed"]).stdin_from(reader).start();
    if agents.contains(&"stuck") {
        let stuck = Script::new().thread("t3").ignore(&["INT", "TERM"]).spawn(orphan()).hang();
        let stuck = launch(&scratch, "stuck", &stuck).args(["--progress-file", "stuck"]);
        stuck.args(["--timeout-seconds", "0.1", "--kill-grace", "0.1"]).run().exits(124);
        Progress::read(scratch.path("stuck")).failed_by("timeout");
    }
    good.end().exits(0).stdout_is("ok\n");
    bad.end().exits(1);
    teed.end().exits(0);
    tee.end().exits(0);
    render.end().exits(0);
    waiter.end().exits(1);
    let told = watcher.end().exits(1).stdout_text();
    assert_eq!(told.matches("\"watcher.settlement\"").count(), agents.len(), "{told}");
    Progress::read(scratch.path("good")).completed();
    Progress::read(scratch.path("teed")).completed();
    Progress::read(scratch.path("bad")).failed(1, "transport");
    soaked("usage-diff").dir(scratch.dir()).args(["--field", "output_tokens", "good", "teed"]).run().exits(0);
}

/// The launcher over `fake-codex`; there is a script for each agent.
fn launch(scratch: &Scratch, agent: &str, script: &Script) -> Filter {
    let script = scratch.write(&format!("{agent}.script"), script.to_string());
    soaked("codex-launch")
        .dir(scratch.dir())
        .arg("--codex")
        .arg(binary("fake-codex"))
        .env("FAKE_CODEX_SCRIPT", script)
        .stdin("do it")
}

/// A descendant that the launcher has to find.
fn orphan() -> serde_json::Value {
    json!({"session": "own", "orphan": true, "life": "sleep", "seconds": 300})
}
