//! Runs that fail, and one that nearly does.
//!
//! Facts: "How a run ends", "Limits and refusals" in common/CODEX.md.

use serde_json::{Value, json};

use super::{answer, launch, progress, run, world};
use crate::harness::codex::{RealCodex, with_codex};

/// A run whose only answer is this fails with status 1 and this cause, and what Codex said last is shown.
#[track_caller]
fn fails(version: &str, answer: &Value, cause: &str, said: &str) {
    let (world, ran) = run(version, &json!({"answers": [answer]}));
    ran.exits(1).stdout_is("");
    let progress = progress(&world);
    progress.failed(1, cause);
    let message =
        progress.last("turn.failed", None)["error"]["message"].as_str().expect("a message").to_owned();
    assert!(message.contains(said), "{message}");
    let named = if cause.is_empty() { String::new() } else { format!(" ({cause})") };
    ran.stderr_has(&format!("codex-launch: failed: codex ended with status 1{named}\n"));
    ran.stderr_has(&format!("codex-launch: codex said last: {message}\n"));
    assert!(!world.path("r").exists());
}

fn unauthorized(version: &str) {
    let refusal = json!({"status": 401, "body": {"error": {"message": "Incorrect API key provided"}}});
    fails(version, &json!({"http": refusal}), "auth", "401 Unauthorized: Incorrect API key provided");
}

fn usage_limit(version: &str) {
    let refusal =
        json!({"status": 429, "body": {"error": {"type": "usage_limit_reached", "plan_type": "plus"}}});
    fails(version, &json!({"http": refusal}), "usage-limit", "hit your usage limit");
}

fn capacity(version: &str) {
    let overloaded =
        json!({"status": 503, "body": {"error": {"code": "server_is_overloaded", "message": "x"}}});
    let said = if version == "0.98.0" { "unexpected status 503" } else { "at capacity" };
    fails(version, &json!({"http": overloaded}), "capacity", said);
    fails(version, &json!({"http": {"status": 529}}), "capacity", "unexpected status 529");
}

fn not_in_the_plan(version: &str) {
    let refusal = json!({"status": 429, "body": {"error": {"type": "usage_not_included"}}});
    fails(version, &json!({"http": refusal}), "usage-limit", "To use Codex with your ChatGPT plan, upgrade");
    fails(version, &json!({"http": {"status": 402}}), "usage-limit", "unexpected status 402");
}

fn refused_for_what_it_asks(version: &str) {
    let prompt = json!({"code": "invalid_prompt", "message": "Invalid prompt: for safety reasons."});
    fails(version, &json!({"fail": prompt}), "policy", "Invalid prompt");
    let message = "This request has been flagged for possible cybersecurity risk.";
    fails(version, &json!({"fail": {"code": "cyber_policy", "message": message}}), "policy", "flagged for");
}

fn a_number_that_is_no_status(version: &str) {
    let message = "Invalid 'input[429].id': string too long.";
    fails(version, &json!({"http": {"status": 400, "body": {"error": {"message": message}}}}), "", message);
}

fn a_configuration_that_cannot_be_used(version: &str) {
    for (setting, said) in [
        ("not = toml = at all\n", "Error loading config"),
        ("model_provider = \"nope\"\n", "Model provider `nope` not found"),
    ] {
        let world = world(version, &json!({"answers": [{"message": "Done."}]}));
        std::fs::write(world.path("codex/config.toml"), setting).expect("config.toml");
        launch(&world).run().exits(1).stderr_has(said);
        progress(&world).failed(1, "config");
    }
}

fn a_server_that_is_required(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    let need = ["-c", "mcp_servers.need.command=\"/bin/false\"", "-c", "mcp_servers.need.required=true"];
    launch(&world).args(need).run().exits(1).stderr_has("required MCP servers failed to initialize");
    progress(&world).failed(1, "config");
}

fn context_full(version: &str) {
    let failure = json!({"code": "context_length_exceeded", "message": "Too long."});
    fails(
        version,
        &json!({"fail": failure}),
        "context-full",
        "ran out of room in the model's context window",
    );
}

fn a_cut_stream_that_recovers(version: &str) {
    let world = RealCodex::version(version)
        .stream_retries(2)
        .world(&json!({"answers": [[{"reasoning": "hm"}, "cut"], {"message": "Recovered."}]}));
    launch(&world).run().exits(0);
    let progress = progress(&world);
    // The event that tells of the cut is not the end of the run.
    let message = progress.completed().last("error", None)["message"].to_string();
    assert!(message.starts_with("\"Reconnecting... 1/2 (stream disconnected"), "{message}");
    assert_eq!(progress.output_tokens(), Some(20));
    assert_eq!(answer(&world), "Recovered.");
}

fn a_cut_stream_that_does_not(version: &str) {
    let cut = json!({"answers": [[{"message": "Half of"}, "cut"]], "repeat": "last"});
    let world = RealCodex::version(version).stream_retries(1).world(&cut);
    launch(&world).run().exits(1).stderr_has("codex said last: stream disconnected before completion");
    progress(&world).failed(1, "transport");
    assert_eq!(world.requests().len(), 2);
    // There was a message, but it is not the answer of a run that completed.
    assert!(!world.path("r").exists());
}

fn a_network_that_is_away_meets_the_limit(version: &str) {
    // Codex waits for it for ever, whatever it is told about trying again.
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    let nowhere = ["-c", "model_providers.loopback.base_url=\"http://127.0.0.1:9/v1\""];
    let ran = launch(&world).args(nowhere).args(["--timeout-seconds", "2"]).run();
    ran.exits(124);
    progress(&world).failed_by("timeout");
    assert!(!world.path("r").exists());
}

with_codex! {
    [v0_98_0 v0_156_1 v0_171_0]
    capacity not_in_the_plan refused_for_what_it_asks a_number_that_is_no_status
    a_configuration_that_cannot_be_used
}
with_codex! { [v0_156_1 v0_171_0] a_server_that_is_required }
with_codex! {
    [v0_156_1 v0_171_0]
    unauthorized usage_limit context_full a_cut_stream_that_recovers a_cut_stream_that_does_not
    a_network_that_is_away_meets_the_limit
}
