//! A run that ends well and leaves processes behind.
//!
//! Facts: "Processes" in common/CODEX.md.

use serde_json::json;

use super::sleeper::{SANDBOXES, Sleeper};
use super::{answer, launch, progress, world};
use crate::harness::codex::with_codex;
use crate::harness::wait::{SOON, seconds, wait_until};

fn what_a_command_left_in_the_background(version: &str) {
    for sandbox in SANDBOXES {
        let sleeper = Sleeper::new();
        let sleep = sleeper.command();
        // The command ends when all four sleep.
        let left = format!(
            "setsid {sleep} & (setsid nohup {sleep} &); env -i setsid {sleep} & nohup {sleep} > nohup.out 2>&1 &"
        );
        let command = format!("{left} until [ -e go ]; do sleep 0.01; done");
        let world = world(version, &json!({"answers": [{"command": command}, {"message": "Done."}]}));
        let running = launch(&world).args(["--sandbox", sandbox]).start();
        assert!(sleeper.has_begun(&running, &world), "{sandbox}");
        wait_until("all four sleep", SOON, || sleeper.processes().len() == 4);
        std::fs::write(world.workspace().join("go"), "").expect("a file");
        let ran = running.end();
        sleeper.is_gone();
        ran.exits(0).took(seconds(0), seconds(30));
        progress(&world).completed();
        assert_eq!(answer(&world), "Done.");
    }
}

with_codex! { [v0_98_0 v0_156_1 v0_171_0] what_a_command_left_in_the_background }

/// The user's own program, which Codex starts at the end of a turn and does not wait for.
fn a_notify_program_finishes(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    let done = world.path("notified");
    let command = format!("sleep 1; echo done > '{}'", done.display());
    let notify = format!("notify={}", json!(["sh", "-c", command]));
    // On a busy machine one second of its own may be more than two.
    let ran = launch(&world).args(["-c", &notify, "--leftover-grace", "20"]).run();
    ran.exits(0).stderr_lacks("left behind");
    progress(&world).completed();
    assert_eq!(std::fs::read_to_string(done).expect("what it wrote"), "done\n", "{ran}");
}

with_codex! { [v0_98_0 v0_156_1 v0_171_0] a_notify_program_finishes }
