//! What a run may do, and that a resumed one may do what it is told, whatever the run before it could.
//!
//! Facts: "Arguments" in common/CODEX.md.

use std::fs::{self, File};
use std::io::Write;

use serde_json::{Value, json};

use super::{launch_as, world};
use crate::harness::codex::{World, with_codex};
use crate::harness::progress::Progress;

/// A run with this suffix that tries to make a file, and whether it could.
fn could_write(world: &World, suffix: &str, options: &[&str]) -> bool {
    launch_as(world, suffix).args(options).run().exits(0);
    let progress = Progress::read(world.path(&format!("p{suffix}")));
    progress.completed().last("item.completed", Some("command_execution"));
    // Gone again, for the next run.
    fs::remove_file(world.workspace().join("x")).is_ok()
}

/// A model that has Codex make a file, in each run. Where the sandbox was all that a command failed of, Codex tells
/// of no command, so it does not fail.
fn scenario() -> Value {
    json!({"answers": [{"command": "touch x || echo no"}, {"message": "Done."}], "repeat": "all"})
}

fn a_resumed_run_can_do_more(version: &str) {
    let world = world(version, &scenario());
    let from = world.path("p");
    let from = ["--resume-from", from.to_str().expect("a path")];
    assert!(!could_write(&world, "", &["--read-only"]));
    assert!(could_write(&world, "2", &[&from[..], &["--sandbox", "workspace-write"]].concat()));
    // The default is no less stated.
    assert!(could_write(&world, "3", &from));
}

fn a_resumed_run_can_do_less(version: &str) {
    let world = world(version, &scenario());
    // What the user's own runs may do.
    let mut config = File::options().append(true).open(world.path("codex/config.toml")).expect("config.toml");
    config.write_all(b"\nsandbox_mode = \"danger-full-access\"\n").expect("config.toml");
    let from = world.path("p");
    let from = ["--resume-from", from.to_str().expect("a path")];
    assert!(could_write(&world, "", &["--sandbox", "danger-full-access"]));
    assert!(!could_write(&world, "2", &[&from[..], &["--read-only"]].concat()));
}

fn a_resumed_run_works_where_it_is_told(version: &str) {
    let world = world(version, &scenario());
    let other = world.workspace().join("other");
    fs::create_dir(&other).expect("a folder");
    assert!(could_write(&world, "", &[]));
    let resumed = launch_as(&world, "2").arg("--resume-from").arg(world.path("p"));
    resumed.args(["--cd", "other"]).run().exits(0);
    assert!(other.join("x").exists() && !world.workspace().join("x").exists());
}

fn without_a_sandbox(version: &str) {
    let answers = json!([{"command": "touch ../outside || echo no"}, {"message": "Done."}]);
    let world = world(version, &json!({"answers": answers, "repeat": "all"}));
    let outside = world.path("outside");
    launch_as(&world, "").run().exits(0);
    assert!(!outside.exists());
    let resumed = launch_as(&world, "2").arg("--resume-from").arg(world.path("p"));
    resumed.arg("--bypass").run().exits(0);
    assert!(outside.exists());
    fs::remove_file(&outside).expect("the file");
    let resumed = launch_as(&world, "3").arg("--resume-from").arg(world.path("p2"));
    resumed.run().exits(0);
    assert!(!outside.exists());
}

with_codex! { [v0_98_0 v0_156_1 v0_171_0] a_resumed_run_can_do_more a_resumed_run_can_do_less }
with_codex! { [v0_156_1 v0_171_0] a_resumed_run_works_where_it_is_told without_a_sandbox }
