//! The script over the real Codex.

use std::fs;

use serde_json::json;

use crate::harness::codex::{RealCodex, World, with_codex};
use crate::harness::filter::{Filter, binary, program};
use crate::harness::handoff::{RESULT, SCRIPT};
use crate::harness::progress::Progress;

/// The script in the folder `below` of the repository of this world.
fn handoff(world: &World) -> Filter {
    let below = world.workspace().join("below");
    fs::create_dir(&below).expect("a folder");
    let launchers = binary("codex-launch").parent().expect("a folder").display();
    let path = format!("{launchers}:{}", std::env::var("PATH").expect("a PATH"));
    let script = world.around(program(SCRIPT.as_ref())).env("PATH", path).dir(below);
    let files = |name: &str| world.path(name);
    let script = script.arg("--progress-file").arg(files("p")).arg("--result-file").arg(files("r"));
    script.arg("--codex").arg(world.program()).arg("--skip-auth-check").stdin("Do it.")
}

/// A world whose user has a `notify` program, which leaves the file `notified`.
fn world(version: &str, command: &str) -> World {
    let answers = json!([{"command": command}, {"message": RESULT}]);
    let world = RealCodex::version(version).world(&json!({"answers": answers}));
    let settings = fs::read_to_string(world.path("codex/config.toml")).expect("the configuration");
    let notify = json!(["touch", world.path("notified")]);
    let settings = format!("notify = {notify}\n{settings}\nservice_tier = \"fast\"\n");
    fs::write(world.path("codex/config.toml"), settings).expect("the configuration");
    world
}

fn a_handoff_works_at_the_top_without_a_sandbox(version: &str) {
    let world = world(version, "pwd > ../where");
    handoff(&world).run().exits(0);
    Progress::read(world.path("p")).completed();
    assert_eq!(fs::read_to_string(world.path("r")).expect("a result"), RESULT);
    let top = world.workspace().canonicalize().expect("the repository");
    let said = fs::read_to_string(world.path("where")).expect("what the command wrote");
    assert_eq!(said.trim_end(), top.to_str().expect("a path in UTF-8"));
    assert_eq!(world.requests()[0]["format"], "json_schema");
    assert!(!world.path("notified").exists());
}

fn a_read_only_handoff_writes_nothing(version: &str) {
    let world = world(version, "pwd > where");
    handoff(&world).arg("--read-only").run().exits(0);
    Progress::read(world.path("p")).completed();
    assert!(!world.workspace().join("where").exists());
}

with_codex! { [v0_98_0 v0_156_1 v0_171_0]
    a_handoff_works_at_the_top_without_a_sandbox
    a_read_only_handoff_writes_nothing
}
