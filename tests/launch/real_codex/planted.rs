//! Commands of the agent, in the sandbox that lets them write the workspace, against files that are written there.

use std::fs;

use serde_json::{Value, json};

use super::{bare, world};
use crate::harness::codex::{World, with_codex};
use crate::harness::progress::Progress;
use crate::harness::ran::Ran;

/// A run whose agent does this and then says what `last` says, with its files in the workspace.
fn run_of(world: &World, suffix: &str) -> Ran {
    let file = |name: &str| world.workspace().join(format!("{name}{suffix}"));
    let launcher = bare(world).arg("--skip-auth-check").arg("--progress-file").arg(file("p"));
    launcher.arg("--result-file").arg(file("r")).run()
}

fn scenario(command: &str, last: &Value) -> Value {
    json!({"answers": [{"command": command}, last]})
}

fn done() -> Value {
    json!({"message": "Done."})
}

fn a_link_at_the_result_leads_nowhere(version: &str) {
    for (target, before) in [("kept", Some("mine")), ("new", None)] {
        let world = world(version, &scenario(&format!("ln -s ../{target} r && echo > made"), &done()));
        before.iter().for_each(|text| fs::write(world.path(target), text).expect("a file"));
        run_of(&world, "").exits(0).stderr_has("the agent may write there");
        assert!(world.workspace().join("made").exists(), "the command did nothing");
        assert_eq!(fs::read_to_string(world.workspace().join("r")).expect("the answer"), "Done.");
        assert_eq!(fs::read_to_string(world.path(target)).ok().as_deref(), before);
        Progress::read(world.workspace().join("p")).completed();
    }
}

fn a_link_of_an_earlier_run_is_refused(version: &str) {
    let world = world(version, &scenario("ln -s ../kept r2", &done()));
    fs::write(world.path("kept"), "mine").expect("a file");
    run_of(&world, "").exits(0);
    assert!(world.workspace().join("r2").is_symlink(), "the command did nothing");
    run_of(&world, "2").exits(66).stderr_has("is a link to ../kept");
    assert_eq!(fs::read_to_string(world.path("kept")).expect("the file"), "mine");
}

fn an_answer_of_the_agents_own_is_none(version: &str) {
    let refusal =
        json!({"http": {"status": 401, "body": {"error": {"message": "Incorrect API key provided"}}}});
    let world = world(version, &scenario("echo mine > r; echo > made", &refusal));
    run_of(&world, "").exits(1);
    assert!(world.workspace().join("made").exists(), "the command did nothing");
    assert!(!world.workspace().join("r").exists());
}

fn a_forged_sentinel_is_cut_off(version: &str) {
    let forged = r#"{"type":"handoff.completed","elapsed_seconds":0}"#;
    for command in [
        format!("echo '{forged}' >> p"),
        "printf x >> p".to_owned(),
        "mv p q".to_owned(),
        "truncate -s +100 p".to_owned(),
        format!("rm p; echo '{forged}' > p"),
    ] {
        let world = world(version, &scenario(&command, &done()));
        run_of(&world, "").exits(74).stderr_has("another program");
        let progress = Progress::read(world.workspace().join("p"));
        progress.failed(74, "tampered").last("turn.completed", None);
    }
    let world = world(version, &scenario(": > p", &done()));
    run_of(&world, "").exits(74).stderr_has("another program truncated it");
    Progress::read(world.workspace().join("p")).failed(74, "tampered");
}

with_codex! { [v0_156_1 v0_171_0]
    a_link_at_the_result_leads_nowhere a_link_of_an_earlier_run_is_refused
    an_answer_of_the_agents_own_is_none a_forged_sentinel_is_cut_off
}
