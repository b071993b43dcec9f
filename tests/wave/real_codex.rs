//! Three launches of the real Codex side by side, watched from before they began.

use serde_json::{Value, json};

use crate::harness::codex::{RealCodex, World};
use crate::harness::filter::filter;
use crate::harness::private::PRIVATE;
use crate::harness::progress::Progress;
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::watcher::{records, settled, settlement, told, watch};

/// A launch in this world that leaves its progress in `file` of `scratch`.
fn launch(world: &World, scratch: &Scratch, file: &str, seconds: &str) -> Running {
    let launcher = filter("codex-launch")
        .arg("--codex")
        .arg(world.program())
        .args(["--skip-auth-check", "--sandbox", "danger-full-access", "--timeout-seconds", seconds])
        .arg("--progress-file")
        .arg(scratch.path(file))
        .arg("--result-file")
        .arg(scratch.path(&format!("{file}.result")));
    world.around(launcher).stdin(format!("Do it, {PRIVATE}.")).start()
}

#[test]
fn a_good_one_a_failing_one_and_one_that_takes_too_long() {
    let world = |answers: Value| RealCodex::version("0.156.1").world(&json!({ "answers": answers }));
    let good = world(json!([
        [{"reasoning": format!("**Thinking** {PRIVATE}")}, {"command": "echo hi"}],
        {"message": format!("Done, {PRIVATE}.")}
    ]));
    let refusal = json!({"status": 401, "body": {"error": {"message": "Incorrect API key provided"}}});
    let failing = world(json!([{ "http": refusal }]));
    let slow = world(json!([[{"reasoning": PRIVATE}, "hang"]]));

    let scratch = Scratch::new();
    let files = ["good", "failing", "slow"];
    let watcher = watch(&scratch, &files).args(["--digest-seconds", "1"]).start();
    told(&watcher, "\"agentId\":\"slow\"");
    let launches = [
        (launch(&good, &scratch, "good", "60"), 0),
        (launch(&failing, &scratch, "failing", "60"), 1),
        (launch(&slow, &scratch, "slow", "8"), 124),
    ];
    told(&watcher, r#""lastActivity":{"type":"reasoning"},"#);
    for (launch, status) in launches {
        launch.end().exits(status);
    }
    let ran = watcher.end();
    assert_eq!(ran.exits(1).stderr_text(), "");

    let all = records(&ran.stdout);
    let others: Vec<&String> = all.iter().filter(|record| !record.contains("watcher.digest")).collect();
    let settlements: Vec<&String> = others.iter().skip(1).step_by(2).copied().collect();
    assert_eq!(settlements, [&settlement(1, 3), &settlement(2, 3), &settlement(3, 3)]);
    for (file, end) in files.into_iter().zip([
        r#"{"type":"handoff.completed","elapsed_seconds":"#,
        r#"{"type":"handoff.failed","reason":"error","rc":1,"elapsed_seconds":"#,
        r#"{"type":"handoff.failed","reason":"timeout","elapsed_seconds":"#,
    ]) {
        let progress = Progress::read(scratch.path(file));
        assert!(progress.sentinel.starts_with(end), "{}", progress.sentinel);
        let record = &settled(file, progress.events.len() as u64, &progress.sentinel, 0, 1)[0];
        assert!(others.contains(&record), "{record}\n{ran}");
    }
    // The private words were there to be told.
    assert!(Progress::read(scratch.path("good")).events.iter().any(|event| event.contains(PRIVATE)));
}
