//! When there is an answer, and when there is none.
//!
//! Facts: "How a run ends" in common/CODEX.md.

use std::fs;

use nix::sys::signal::Signal::SIGKILL;
use nix::sys::signal::kill;
use serde_json::{Value, json};

use super::signals_to_codex::Codex;
use super::{answer, launch, progress, run, stream, world};
use crate::harness::codex::{World, with_codex};
use crate::harness::filter::Filter;
use crate::harness::mounts::own_mounts;
use crate::harness::skipped::skipped;
use crate::harness::wait::{SOON, wait_until};

/// The run left no answer, though Codex is content with it.
#[track_caller]
fn no_result(version: &str, answer: &Value) {
    let (world, ran) = run(version, &json!({"answers": [answer]}));
    ran.exits(70);
    progress(&world).failed(70, "no-result").last("turn.completed", None);
    assert!(!world.path("r").exists());
}

fn an_empty_answer_is_none(version: &str) {
    no_result(version, &json!({"message": ""}));
}

fn no_message_is_no_answer(version: &str) {
    no_result(version, &json!([]));
}

/// A world with a schema, and the launcher told of it.
fn with_schema(version: &str, answer: &str) -> (World, Filter) {
    let world = world(version, &json!({"answers": [{"message": answer}]}));
    let schema = json!({
        "type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": false,
    });
    let path = world.path("schema.json");
    fs::write(&path, schema.to_string()).expect("the schema");
    let launcher = launch(&world).arg("--output-schema").arg(path);
    (world, launcher)
}

fn a_schema_answer_is_delivered(version: &str) {
    let (world, launcher) = with_schema(version, "{\"ok\": true}\n");
    launcher.run().exits(0);
    progress(&world).completed();
    assert_eq!(answer(&world), "{\"ok\": true}\n");
    assert_eq!(world.requests()[0]["format"], "json_schema");
}

fn an_answer_that_is_not_what_the_schema_asks_for(version: &str) {
    let (world, launcher) = with_schema(version, "It is ok.");
    launcher.run().exits(70).stderr_has("--output-schema");
    progress(&world).failed(70, "no-result");
    assert!(!world.path("r").exists());
}

/// A Codex that is killed when its message is there and its end is not.
fn killed_after_the_message(version: &str, decide: &str) -> (World, i32) {
    let world = world(version, &json!({"answers": [[{"message": "Kept."}, "hang"]]}));
    let running = launch(&world).args(["--decide", decide]).start();
    wait_until("the message is there", SOON, || stream(&world).contains("\"agent_message\""));
    kill(Codex::of(&running).native, SIGKILL).expect("killing Codex");
    let status = running.end().status.code().expect("a status");
    (world, status)
}

fn decided_by_the_stream_a_message_outlives_codex(version: &str) {
    let (world, status) = killed_after_the_message(version, "stream");
    assert_eq!(status, 0);
    progress(&world).completed();
    assert_eq!(answer(&world), "Kept.");
}

fn decided_by_the_status_it_does_not(version: &str) {
    let (world, status) = killed_after_the_message(version, "status");
    assert_eq!(status, 128 + 9);
    progress(&world).failed(137, "killed");
    assert!(!world.path("r").exists());
}

fn an_answer_that_the_temporary_folder_has_no_room_for_is_whole(version: &str) {
    let Some(own_mounts) = own_mounts() else {
        skipped("no mounts may be made here");
        return;
    };
    let text = "0123456789".repeat(4_000);
    let world = world(version, &json!({"answers": [{"message": text}]}));
    let temporary = world.path("small");
    fs::create_dir(&temporary).expect("a folder");
    let mount = format!("mount -t tmpfs -o size=16k none {} && exec \"$0\" \"$@\"", temporary.display());
    let words = [own_mounts, &["sh", "-c", &mount]].concat();
    // 0.171.0 ends with status 1 because of the file, and then the stream has to decide.
    let decide = if version == "0.156.1" { "status" } else { "stream" };
    let launcher = launch(&world).args(["--decide", decide]).env("TMPDIR", &temporary);
    launcher.under(&words).run().exits(0);
    progress(&world).completed();
    assert!(answer(&world) == text, "{} bytes", answer(&world).len());
}

with_codex! {
    [v0_156_1 v0_171_0]
    an_answer_that_the_temporary_folder_has_no_room_for_is_whole
    an_empty_answer_is_none no_message_is_no_answer a_schema_answer_is_delivered
    an_answer_that_is_not_what_the_schema_asks_for decided_by_the_stream_a_message_outlives_codex
    decided_by_the_status_it_does_not
}
