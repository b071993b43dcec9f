//! What of the launcher's environment reaches the commands of the agent.
//!
//! Facts: "Environment" in common/CODEX.md.

use std::fs;

use serde_json::json;

use super::{launch, progress, world};
use crate::harness::codex::with_codex;

const SECRET: &str = "a-secret";

/// The variables that a command sees, as `NAME=VALUE`, when all that are removed by default are set.
fn seen(version: &str, options: &[&str]) -> Vec<String> {
    // 0.156.1 can leave out the beginning of what a command prints at once, so it goes to a file as well.
    let world = world(version, &json!({"answers": [{"command": "env | tee seen"}, {"message": "Done."}]}));
    let variables = [
        "OPENAI_API_KEY",
        "CODEX_API_KEY",
        "CODEX_ACCESS_TOKEN",
        "OPENAI_BASE_URL",
        "CODEX_THREAD_ID",
        "CODEX_SESSION_ID",
        "CODEX_TOOL_CALL_ID",
    ];
    let launcher = variables.iter().fold(launch(&world), |launcher, name| launcher.env(name, SECRET));
    launcher.env("OF_MINE", "kept").args(options).run().exits(0).stderr_lacks(SECRET);
    let progress = progress(&world);
    let command = progress.completed().last("item.completed", Some("command_execution"))["item"].take();
    let output = command["aggregated_output"].as_str().expect("the output");
    let seen = fs::read_to_string(world.workspace().join("seen")).expect("what env printed");
    assert!(seen.ends_with(output), "{seen:?} {output:?}");
    seen.lines().map(str::to_owned).collect()
}

fn keys_do_not_reach_commands(version: &str) {
    let seen = seen(version, &[]);
    assert!(seen.iter().any(|variable| variable == "OF_MINE=kept"), "{seen:?}");
    assert!(!seen.iter().any(|variable| variable.contains(SECRET)), "{seen:?}");
}

fn keys_that_are_kept_do(version: &str) {
    let keep =
        ["--keep-env", "OPENAI_API_KEY", "--keep-env", "CODEX_API_KEY", "--keep-env", "OPENAI_BASE_URL"];
    let seen = seen(version, &keep);
    let mut secrets: Vec<&str> =
        seen.iter().filter_map(|variable| variable.strip_suffix("=a-secret")).collect();
    secrets.sort_unstable();
    assert_eq!(secrets, ["CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"]);
}

with_codex! { [v0_156_1 v0_171_0] keys_do_not_reach_commands keys_that_are_kept_do }
