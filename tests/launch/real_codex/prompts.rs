//! Prompts arrive as they stand.
//!
//! Facts: "Arguments" in common/CODEX.md.

use serde_json::json;

use super::{launch, progress, world};
use crate::harness::codex::with_codex;

/// The model gets just this prompt.
#[track_caller]
fn arrives(version: &str, prompt: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    launch(&world).stdin(prompt).run().exits(0);
    progress(&world).completed();
    let user = world.requests()[0]["user"].as_str().expect("a prompt").to_owned();
    assert!(user == prompt, "{} of {} bytes: {:.200}", user.len(), prompt.len(), user);
}

fn of_200_kilobytes(version: &str) {
    let lines: String = (0..).map(|n| format!("line {n} ✓\n")).take(15_000).collect();
    assert!(lines.len() > 200_000);
    arrives(version, &lines);
}

fn that_look_like_something_else(version: &str) {
    for prompt in ["--help", "-", "resume --last"] {
        arrives(version, prompt);
    }
}

fn of_crlf_lines(version: &str) {
    arrives(version, "one\r\ntwo\r\n");
}

with_codex! { [v0_156_1 v0_171_0] of_200_kilobytes that_look_like_something_else of_crlf_lines }
