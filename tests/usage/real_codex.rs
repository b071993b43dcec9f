//! What runs of the real Codex cost, with a scripted model behind it that counts 100 and 20 tokens an answer.

use serde_json::json;

use crate::harness::codex::{RealCodex, World, with_codex};
use crate::harness::filter::{filter, program};

/// A run by the launcher, with its progress file `name`.
fn launch(world: &World, name: &str, options: &[&str]) {
    let launcher = world.around(filter("codex-launch")).arg("--codex").arg(world.program());
    let launcher = launcher.args(["--skip-auth-check", "--progress-file"]).arg(world.path(name));
    launcher
        .args(["--result-file".as_ref(), world.path("r").as_os_str()])
        .args(options)
        .stdin("Do it.")
        .run()
        .exits(0);
}

fn five_runs_of_a_thread_and_its_fork(version: &str) {
    let world = RealCodex::version(version).world(&json!({"answers": [{"message": "ok"}, {"message": "ok"}, {"message": "ok"}, {"message": "ok"}, {"message": "ok"}]}));
    let file = |name: &str| world.path(name).into_os_string().into_string().expect("a path");
    launch(&world, "1", &[]);
    for (name, earlier) in [("2", "1"), ("3", "2")] {
        launch(&world, name, &["--resume-from", &file(earlier)]);
    }
    let started = std::fs::read_to_string(world.path("3")).expect("the progress file");
    let started: serde_json::Value =
        serde_json::from_str(started.lines().next().expect("a line")).expect("JSON");
    let thread = started["thread_id"].as_str().expect("an id");
    let fork =
        program(world.program()).args(["exec", "--json", "-s", "danger-full-access", "fork", thread, "-"]);
    let forked = world.around(fork).stdin("Do it.").run();
    std::fs::write(world.path("4"), &forked.exits(0).stdout).expect("a file");
    launch(&world, "5", &["--resume-from", &file("4")]);

    let usage = |options: &[&str]| {
        let files = ["1", "2", "3", "4", "5"].map(&file);
        filter("usage-diff").args(options).args(files).run().exits(0).stdout_text()
    };
    for (field, numbers) in [("input_tokens", "100\n"), ("output_tokens", "20\n")] {
        let parent = file("3");
        assert_eq!(usage(&["--field", field, "--parent", &parent]), numbers.repeat(5));
    }
    assert_eq!(usage(&["--field", "input_tokens"]), "100\n100\n100\n400\n100\n");
    let records = usage(&[]);
    let baselines = records.lines().filter(|record| record.contains("\"usage.run\"")).map(|record| {
        let record: serde_json::Value = serde_json::from_str(record).expect("a record");
        record["baseline"].as_str().expect("a baseline").to_owned()
    });
    let expected = ["assumed-zero", "previous-run", "previous-run", "assumed-zero", "previous-run"];
    assert_eq!(baselines.collect::<Vec<_>>(), expected);
}

with_codex! { [v0_156_1 v0_171_0] five_runs_of_a_thread_and_its_fork }
