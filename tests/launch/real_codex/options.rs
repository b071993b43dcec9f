//! Options that reach Codex, and those that a Codex does not have.
//!
//! Facts: "Arguments", "Rollouts" in common/CODEX.md.

use std::fs;

use serde_json::json;

use super::{PROMPT, launch, progress, world};
use crate::harness::codex::{World, with_codex};
use crate::harness::ran::Ran;

/// A run in a world whose rules forbid the command that the model asks for, and whether the command ran all the same.
fn against_the_rules(version: &str, options: &[&str]) -> (World, Ran, bool) {
    let world = world(version, &json!({"answers": [{"command": "touch x"}, {"message": "Done."}]}));
    fs::create_dir(world.path("codex/rules")).expect("a folder");
    let rule = "prefix_rule(pattern=[\"touch\"], decision=\"forbidden\")\n";
    fs::write(world.path("codex/rules/default.rules"), rule).expect("a rule");
    let ran = launch(&world).args(options).run();
    ran.exits(0);
    progress(&world).completed();
    let written = world.workspace().join("x").exists();
    (world, ran, written)
}

fn rules_hold(version: &str) {
    let (_, _, written) = against_the_rules(version, &[]);
    assert!(!written);
}

fn rules_are_ignored(version: &str) {
    let (_, ran, written) = against_the_rules(version, &["--ignore-rules"]);
    assert!(written, "{ran}");
    ran.stderr_lacks("--ignore-rules");
}

fn rules_are_not_ignored_where_codex_cannot(version: &str) {
    let (_, ran, written) = against_the_rules(version, &["--ignore-rules"]);
    assert!(!written, "{ran}");
    let said = ran.stderr_lines().into_iter().filter(|line| line.contains("--ignore-rules"));
    let left_out = "codex-launch: --ignore-rules: left out: this codex does not know it";
    assert_eq!(said.collect::<Vec<_>>(), [left_out]);
}

fn options_are_seen_in_colour_too(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    let launcher = launch(&world).arg("--ephemeral").env("CLICOLOR_FORCE", "1").env("TERM", "xterm-256color");
    launcher.env("COLUMNS", "20").env("LANG", "C").env("PAGER", "false").run().exits(0);
    progress(&world).completed();
}

fn no_session_is_kept(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    launch(&world).arg("--ephemeral").run().exits(0);
    progress(&world).completed();
    let rollouts = fs::read_dir(world.path("codex/sessions")).map_or(0, Iterator::count);
    assert_eq!(rollouts, 0);
}

fn what_codex_does_not_know_is_refused(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    for option in ["--ephemeral", "--ignore-user-config"] {
        let ran = launch(&world).arg(option).run();
        ran.exits(69).stderr_has(option);
        assert_eq!(ran.stderr_lines().len(), 1, "{ran}");
    }
    assert!(!world.path("p").exists() && !world.path("r").exists());
    assert_eq!(world.requests().len(), 0);
}

/// A picture of one dot.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDAT\
    \x78\x9c\x63\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

fn options_do_what_they_say(version: &str) {
    let command = "touch ../1/x; touch ../2/x; touch ../3/x || echo no";
    let world = world(version, &json!({"answers": [{"command": command}, {"message": "Done."}]}));
    fs::write(world.workspace().join("dot.png"), PNG).expect("a picture");
    for folder in ["1", "2", "3"] {
        fs::create_dir(world.path(folder)).expect("a folder");
    }
    let launcher = launch(&world).args(["--model", "gpt-5.4", "--effort", "high", "--image", "dot.png"]);
    let launcher = launcher.args(["--add-dir", "../1", "--", "--add-dir", "../2"]);
    launcher.run().exits(0);
    progress(&world).completed();
    let request = &world.requests()[0];
    assert_eq!((&request["model"], &request["effort"]), (&json!("gpt-5.4"), &json!("high")));
    assert!(request["input"].to_string().contains("input_image"), "{request}");
    assert!(request["user"].as_str().is_some_and(|user| user.ends_with(PROMPT)), "{request}");
    let written = |folder: &str| world.path(folder).join("x").exists();
    assert_eq!(["1", "2", "3"].map(written), [true, true, false]);
}

fn outside_a_git_worktree(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    let outside = world.path("outside");
    fs::create_dir(&outside).expect("a folder");
    launch(&world).dir(&outside).run().exits(66);
    assert!(!world.path("p").exists());
    launch(&world).dir(&outside).arg("--skip-git-repo-check").run().exits(0);
    progress(&world).completed();
}

fn an_empty_git_folder_is_no_worktree(version: &str) {
    // Codex leaves such folders itself, where it is stopped in the middle of a command.
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    let outside = world.path("outside");
    fs::create_dir_all(outside.join(".git")).expect("a folder");
    launch(&world).dir(&outside).run().exits(66);
    assert!(!world.path("p").exists());
}

with_codex! { [v0_98_0 v0_156_1 v0_171_0] rules_hold options_do_what_they_say }
with_codex! {
    [v0_156_1 v0_171_0]
    options_are_seen_in_colour_too rules_are_ignored no_session_is_kept outside_a_git_worktree an_empty_git_folder_is_no_worktree
}
with_codex! { [v0_98_0] rules_are_not_ignored_where_codex_cannot what_codex_does_not_know_is_refused }
