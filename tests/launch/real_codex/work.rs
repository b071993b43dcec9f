//! A run that does its work.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{answer, bare, launch, progress, world};
use crate::harness::codex::with_codex;
use crate::harness::progress::Progress;

/// The types of events and items that a command, a patch and an answer make. 0.98.0 tells of a patch only when it is
/// applied.
fn story(version: &str) -> Vec<&str> {
    let patch_starts = (version != "0.98.0").then_some("item.started file_change");
    let before = [
        "thread.started",
        "turn.started",
        "item.completed reasoning",
        "item.completed agent_message",
        "item.started command_execution",
        "item.completed command_execution",
    ];
    let after = ["item.completed file_change", "item.completed agent_message", "turn.completed"];
    before.into_iter().chain(patch_starts).chain(after).collect()
}

fn a_command_and_a_patch(version: &str) {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** Add File: notes.md\n+hello\n*** End Patch\n";
    let world = world(
        version,
        &json!({"answers": [
            [{"reasoning": "**Looking** around"}, {"message": "I look."}, {"command": "echo made > by-command; ls"}],
            {"patch": patch},
            [{"message": "Two lines,\nwith \"quotes\" ✓"}, {"usage": {"input": 1000, "output": 7}}],
        ]}),
    );
    let ran = launch(&world).arg("--session-file").arg(world.path("thread")).run();
    ran.exits(0).stdout_is("");
    assert_eq!(ran.stderr_lines().len(), 1, "{ran}");

    let progress = progress(&world);
    let events = progress.events.iter().map(|line| serde_json::from_str::<Value>(line).expect("an event"));
    // 0.171.0 has no data about the model that the tests name, and warns.
    let told = events.filter(|event| event["item"]["type"] != "error").map(|event| {
        let words = [&event["type"], &event["item"]["type"]];
        words.into_iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    });
    assert_eq!(told.collect::<Vec<_>>(), story(version));

    // Each of the first two answers had 20 output tokens.
    assert_eq!(progress.completed().output_tokens(), Some(47));
    assert!(progress.elapsed_seconds() <= ran.elapsed.as_secs());
    assert_eq!(answer(&world), "Two lines,\nwith \"quotes\" ✓");
    let thread = progress.last("thread.started", None)["thread_id"].as_str().expect("an id").to_owned();
    assert_eq!(fs::read_to_string(world.path("thread")).expect("the session file"), format!("{thread}\n"));
    for file in ["p", "r", "thread"] {
        let mode = world.path(file).metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o7777, 0o600, "{file}");
    }

    // Codex's sandbox keeps something there, the launcher nothing.
    let temporary = fs::read_dir(world.path("tmp")).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut names = temporary.map(|entry| entry.file_name().to_string_lossy().into_owned());
    assert!(names.all(|name| !name.starts_with("codex-launch")));

    let in_workspace = |name: &str| fs::read_to_string(world.workspace().join(name)).expect("a file");
    assert_eq!(in_workspace("by-command"), "made\n");
    assert_eq!(in_workspace("a.txt"), "b\n");
    assert_eq!(in_workspace("notes.md"), "hello\n");
}

fn a_message_of_a_megabyte(version: &str) {
    let text: String = (0..150_000).map(|n| format!("{n:06} ✓")).collect();
    assert!(text.len() > 1 << 20);
    let world = world(version, &json!({"answers": [{"message": text}]}));
    launch(&world).run().exits(0).peak_under_mib(16);
    let progress = progress(&world);
    let event = progress.completed().last("item.completed", Some("agent_message"));
    assert!(event["item"]["text"] == *text);
    assert!(answer(&world) == text);
}

fn events_on_stdout(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    let launcher = bare(&world).args(["--skip-auth-check", "--progress-file", "-", "--result-file"]);
    let ran = launcher.arg(world.path("r")).run();
    ran.exits(0);
    let progress = Progress::parse(&ran.stdout);
    assert_eq!(progress.completed().output_tokens(), Some(20));
    assert_eq!(answer(&world), "Done.");
}

with_codex! { [v0_98_0 v0_156_1 v0_171_0] a_command_and_a_patch }
with_codex! { [v0_156_1 v0_171_0] a_message_of_a_megabyte events_on_stdout }
