//! Whether Codex is signed in: asked before a run, and seen by one.
//!
//! Facts: "Arguments", "Environment" in common/CODEX.md.

use serde_json::json;

use super::{bare, progress, world};
use crate::harness::codex::{World, with_codex};
use crate::harness::filter::{Filter, program};

/// The launcher with files, asking whether Codex is signed in.
fn asking(world: &World) -> Filter {
    bare(world).arg("--progress-file").arg(world.path("p")).arg("--result-file").arg(world.path("r"))
}

fn not_signed_in_is_said_before_anything_is_made(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    let ran = asking(&world).arg("--stderr-file").arg(world.path("e")).run();
    ran.exits(69).stdout_is("").stderr_has("codex-launch: codex login status: Not logged in; ");
    assert_eq!(ran.stderr_lines().len(), 1, "{ran}");
    assert!(["p", "r", "e"].iter().all(|file| !world.path(file).exists()));
    assert_eq!(world.requests().len(), 0);
}

fn not_signed_in_is_said_without_a_run(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "ok"}]}));
    bare(&world).arg("--verify-sign-in").run().exits(69).stderr_has("codex login status: Not logged in; ");
    assert_eq!(world.requests().len(), 0);
}

fn signed_in(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    let login = program(world.program()).args(["login", "--with-api-key"]).stdin("sk-a-key\n");
    world.around(login).run().exits(0);
    asking(&world).run().exits(0).stderr_lacks("a-key");
    progress(&world).completed();
}

fn a_token_does_not_replace_the_login(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    let token = |launcher: Filter| launcher.env("CODEX_ACCESS_TOKEN", "a-token");
    let ran = token(asking(&world)).run();
    ran.exits(69)
        .stderr_has("CODEX_ACCESS_TOKEN was removed: --keep-env CODEX_ACCESS_TOKEN")
        .stderr_lacks("a-token");
    let login = program(world.program()).args(["login", "--with-api-key"]).stdin("sk-a-key\n");
    world.around(login).run().exits(0);
    token(asking(&world)).run().exits(0);
    progress(&world).completed();
    // Kept, it does: this one is none.
    token(asking(&world)).args(["--force", "--keep-env", "CODEX_ACCESS_TOKEN"]).run().exits(69);
}

fn a_provider_of_ones_own_is_not_asked_about(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "Done."}]}));
    asking(&world).args(["-c", "model_provider=\"loopback\""]).run().exits(0);
    progress(&world).completed();
}

/// The launcher seeing whether Codex is signed in, with the model in its options: it does not read config.toml.
fn verify(world: &World) -> Filter {
    bare(world).args(world.settings()).arg("--verify-sign-in")
}

fn verified(version: &str) {
    let world = world(version, &json!({"answers": [{"message": "ok"}]}));
    // A Codex that reads it ends with a complaint.
    std::fs::write(world.path("codex/config.toml"), "not = toml = at all\n").expect("config.toml");
    let ran = verify(&world).stdin("not asked for").run();
    ran.exits(0);
    let said = ran.stdout_text();
    assert!(said.starts_with("signed in: codex answered \"ok\" in ") && said.lines().count() == 1, "{said}");
    let requests = world.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0]["user"], "Reply with the single word: ok");
}

fn refused(version: &str) {
    let refusal = json!({"status": 401, "body": {"error": {"message": "Incorrect API key provided"}}});
    let world = world(version, &json!({"answers": [{"http": refusal}]}));
    let ran = verify(&world).run();
    ran.exits(69).stderr_has("Incorrect API key provided");
    assert_eq!(ran.stdout_text(), "not signed in: the key or login was refused\n");
}

fn a_fault_that_is_not_the_sign_in(version: &str) {
    let world = world(version, &json!({"answers": [{"http": {"status": 500}}]}));
    let ran = verify(&world).run();
    ran.exits(1);
    assert_eq!(ran.stdout_text(), "cannot tell: the run failed\n");
}

with_codex! { [v0_98_0 v0_156_1 v0_171_0] not_signed_in_is_said_before_anything_is_made }
with_codex! {
    [v0_156_1 v0_171_0]
    not_signed_in_is_said_without_a_run signed_in a_token_does_not_replace_the_login a_provider_of_ones_own_is_not_asked_about
    verified refused a_fault_that_is_not_the_sign_in
}
