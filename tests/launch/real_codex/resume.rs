//! Continuing a thread.
//!
//! Facts: "Arguments", "How a run ends" in common/CODEX.md.

use nix::sys::signal::Signal::SIGKILL;
use nix::sys::signal::kill;
use serde_json::json;

use super::signals_to_codex::Codex;
use super::{launch, launch_as, progress, stream, world};
use crate::harness::codex::with_codex;
use crate::harness::progress::Progress;
use crate::harness::wait::{SOON, wait_until};

/// The id of no thread.
const UNKNOWN: &str = "01a2298f-0000-7000-8000-000000000000";

fn once_and_once_more(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}], "repeat": "last"}));
    launch(&world).run().exits(0);
    let thread =
        progress(&world).last("thread.started", None)["thread_id"].as_str().expect("an id").to_owned();
    let id = thread.to_uppercase().replace('-', "");
    launch_as(&world, "2").args(["--resume", &id]).stdin("go on").run().exits(0);
    launch_as(&world, "3").arg("--resume-from").arg(world.path("p2")).stdin("once more").run().exits(0);
    for (suffix, runs) in [("", 1), ("2", 2), ("3", 3)] {
        let progress = Progress::read(world.path(&format!("p{suffix}")));
        assert_eq!(progress.last("thread.started", None)["thread_id"], *thread);
        // Totals of the thread, not of the run.
        let usage = progress.last("turn.completed", None)["usage"].take();
        assert_eq!(
            (&usage["input_tokens"], &usage["output_tokens"]),
            (&json!(100 * runs), &json!(20 * runs))
        );
        assert_eq!(progress.completed().output_tokens(), Some(20 * runs));
    }
    // The model got the new words, and all that came before.
    let requests = world.requests();
    let users: Vec<_> = requests.iter().map(|request| &request["user"]).collect();
    assert_eq!(users, ["do it", "go on", "once more"]);
    let answers = requests[2]["input"].as_array().expect("items");
    assert_eq!(answers.iter().filter(|item| **item == "message assistant output_text").count(), 2);
}

fn an_unknown_thread(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    launch(&world).args(["--resume", UNKNOWN]).run().exits(1).stderr_has(UNKNOWN);
    progress(&world).failed(1, "no-thread").events_are([]);
    assert_eq!(world.requests().len(), 0);
}

fn a_thread_that_somebody_else_writes(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}, "hang", {"message": "Done."}]}));
    launch(&world).run().exits(0);
    let resume = |suffix| launch_as(&world, suffix).arg("--resume-from").arg(world.path("p"));
    let running = resume("2").start();
    wait_until("the thread is being written", SOON, || world.requests().len() == 2);
    resume("3").run().exits(1).stderr_has("already has an active writer");
    Progress::read(world.path("p3")).failed(1, "thread-busy");
    running.signal(nix::sys::signal::Signal::SIGTERM);
    running.end().exits(143);
}

/// A name that Codex knows is resumed, whatever the id of its thread.
fn a_known_name(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}], "repeat": "last"}));
    launch(&world).run().exits(0);
    let thread = progress(&world).last("thread.started", None)["thread_id"].take();
    let entry = json!({"id": thread, "thread_name": "my-thread", "updated_at": "2026-01-01T00:00:00Z"});
    std::fs::write(world.path("codex/session_index.jsonl"), format!("{entry}\n")).expect("the index");
    launch_as(&world, "2").args(["--resume", "my-thread"]).run().exits(0);
    let resumed = Progress::read(world.path("p2"));
    assert_eq!(resumed.completed().last("thread.started", None)["thread_id"], thread);
}

fn a_fork(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}], "repeat": "last"}));
    launch(&world).run().exits(0);
    launch_as(&world, "2").arg("--fork").arg(world.path("p")).run().exits(0);
    let fork = Progress::read(world.path("p2"));
    let [one, other] = [progress(&world), fork].map(|run| run.completed().last("thread.started", None));
    assert_ne!(one, other);
    // It has the history of the first.
    let requests = world.requests();
    assert!(requests[1]["input"].to_string().contains("message assistant output_text"), "{}", requests[1]);
}

fn no_fork(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    launch(&world).args(["--fork", UNKNOWN]).run().exits(69).stderr_has("fork: this codex does not know it");
    assert!(!world.path("p").exists());
}

fn a_review(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Looks fine."}], "repeat": "last"}));
    std::fs::write(world.workspace().join("b.txt"), "b\n").expect("a change");
    launch(&world).stdin("").args(["--", "review", "--uncommitted"]).run().exits(0);
    progress(&world).completed();
    assert_eq!(super::answer(&world), "Looks fine.");
}

/// Codex begins a new thread where it does not know the one to resume, as if all were well.
fn another_thread(version: &str, id: &str) {
    // A model takes a while. By then nobody is there to do what it says, however much patience there is otherwise.
    let command = json!([{"wait_ms": 10_000}, {"command": "touch x"}]);
    let world = world(version, &json!({"answers": [command, "hang"]}));
    launch(&world).args(["--resume", id, "--kill-grace", "60"]).run().exits(125);
    progress(&world).failed(125, "wrong-thread").last("thread.started", None);
    assert!(!world.path("r").exists());
    assert!(!world.workspace().join("x").exists(), "the wrong thread went on");
}

fn an_unknown_name_is_another_thread(version: &str) {
    another_thread(version, "nonsense");
}

fn an_unknown_id_is_another_thread(version: &str) {
    another_thread(version, UNKNOWN);
}

fn what_became_of_a_killed_run_goes_on(version: &str) {
    let world = world(version, &json!({"answers": [[{"message": "Half."}, "hang"], {"message": "Done."}]}));
    let running = launch(&world).start();
    wait_until("the message is there", SOON, || stream(&world).contains("\"agent_message\""));
    kill(Codex::of(&running).native, SIGKILL).expect("killing Codex");
    running.end().exits(137);
    let thread = progress(&world).last("thread.started", None);
    launch_as(&world, "2").arg("--resume-from").arg(world.path("p")).run().exits(0);
    let resumed = Progress::read(world.path("p2"));
    assert_eq!(resumed.completed().last("thread.started", None), thread);
}

with_codex! {
    [v0_98_0 v0_156_1 v0_171_0]
    once_and_once_more an_unknown_name_is_another_thread a_known_name a_review
}
with_codex! {
    [v0_156_1 v0_171_0]
    an_unknown_thread what_became_of_a_killed_run_goes_on a_thread_that_somebody_else_writes a_fork
}
with_codex! { [v0_98_0] an_unknown_id_is_another_thread no_fork }
