//! `codex-launch` over the real Codex CLI, with a scripted model behind it.
//!
//! What fake-codex is told to do in the other tests, Codex does here by itself. When one of these tests fails with a
//! new Codex, it may be Codex that changed.
//!
//! The sandbox of 0.156.1 and later needs user namespaces. On a machine that has none every command ends at once with
//! a complaint of `bwrap`, and these tests fail.

mod answers;
mod environment;
mod failures;
mod kill_of_the_launcher;
mod leftovers;
mod options;
mod planted;
mod prompts;
mod resume;
mod rights;
mod sign_in;
mod signals_to_codex;
mod sleeper;
mod stopping;
mod work;

use serde_json::Value;

use crate::harness::codex::{RealCodex, World};
use crate::harness::filter::{Filter, filter};
use crate::harness::progress::Progress;
use crate::harness::ran::Ran;

/// What stands on stdin where a test says nothing else.
const PROMPT: &str = "do it";

/// The Codex of this version, with a model that answers as the scenario says.
fn world(version: &str, scenario: &Value) -> World {
    RealCodex::version(version).world(scenario)
}

/// The launcher over the Codex of this world; no file is asked for.
fn bare(world: &World) -> Filter {
    world.around(filter("codex-launch")).arg("--codex").arg(world.program()).stdin(PROMPT)
}

/// [`bare`], with the files `p` and `r`. Codex is not asked whether it is signed in: it has no account here.
fn launch(world: &World) -> Filter {
    launch_as(world, "")
}

/// [`launch`] with a suffix to both names, where a world has several runs.
fn launch_as(world: &World, suffix: &str) -> Filter {
    let file = |name: &str| world.path(&format!("{name}{suffix}"));
    let launcher = bare(world).arg("--skip-auth-check");
    launcher.arg("--progress-file").arg(file("p")).arg("--result-file").arg(file("r"))
}

/// The finished progress file `p`.
#[track_caller]
fn progress(world: &World) -> Progress {
    Progress::read(world.path("p"))
}

/// What is in the progress file so far; nothing when it is not there yet.
fn stream(world: &World) -> String {
    std::fs::read_to_string(world.path("p")).unwrap_or_default()
}

/// The answer in `r`.
#[track_caller]
fn answer(world: &World) -> String {
    std::fs::read_to_string(world.path("r")).expect("the answer")
}

/// A run of this scenario.
fn run(version: &str, scenario: &Value) -> (World, Ran) {
    let world = world(version, scenario);
    let ran = launch(&world).run();
    (world, ran)
}
