//! What runs of the real Codex cost, with a scripted model behind it that counts 100 and 20 tokens an answer.
//!
//! Facts: "Usage" in common/CODEX.md.

use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::codex::{RealCodex, World, with_codex};
use crate::harness::filter::{filter, program};
use crate::harness::wait::{SOON, wait_until};

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

/// The thread of a progress file.
fn thread(file: &Path) -> String {
    let started = std::fs::read_to_string(file).expect("the progress file");
    let started: Value = serde_json::from_str(started.lines().next().expect("a line")).expect("JSON");
    started["thread_id"].as_str().expect("an id").to_owned()
}

fn five_runs_of_a_thread_and_its_fork(version: &str) {
    let world = RealCodex::version(version).world(&json!({"answers": [{"message": "ok"}, {"message": "ok"}, {"message": "ok"}, {"message": "ok"}, {"message": "ok"}]}));
    let file = |name: &str| world.path(name).into_os_string().into_string().expect("a path");
    launch(&world, "1", &[]);
    for (name, earlier) in [("2", "1"), ("3", "2")] {
        launch(&world, name, &["--resume-from", &file(earlier)]);
    }
    let thread = thread(&world.path("3"));
    let fork =
        program(world.program()).args(["exec", "--json", "-s", "danger-full-access", "fork", &thread, "-"]);
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
        let record: Value = serde_json::from_str(record).expect("a record");
        record["baseline"].as_str().expect("a baseline").to_owned()
    });
    let expected = ["assumed-zero", "previous-run", "previous-run", "assumed-zero", "previous-run"];
    assert_eq!(baselines.collect::<Vec<_>>(), expected);
}

/// A second run of a thread, whose second request is answered with `answer` and which TERM ends then, between two good
/// ones of one request each. Gives the runs that the third one's usage covers and may include, and its input.
fn behind_a_run_that_term_ended(version: &str, answer: &Value) -> (Value, Value, Value) {
    let answers = json!([{"message": "ok"}, {"command": "true"}, answer, {"message": "ok"}]);
    let world = RealCodex::version(version).world(&json!({"answers": answers}));
    let file = |name: &str| world.path(name).into_os_string().into_string().expect("a path");
    launch(&world, "1", &[]);
    let thread = thread(&world.path("1"));
    let options = ["exec", "--json", "-s", "danger-full-access", "resume", &thread, "-"];
    let running = world.around(program(world.program()).args(options)).stdin("Do it.").start();
    wait_until("the last request", SOON, || world.requests().len() == 3);
    if *answer != json!("hang") {
        let started = || String::from_utf8_lossy(&running.stdout()).matches("\"item.started\"").count();
        wait_until("the last command", SOON, || started() == 2);
    }
    running.signal(Signal::SIGTERM);
    std::fs::write(world.path("2"), &running.end().stdout).expect("a file");
    launch(&world, "3", &["--resume-from", &file("1")]);
    let records = filter("usage-diff").args(["1", "2", "3"].map(&file)).run().exits(0).stdout_text();
    let last: Value = serde_json::from_str(records.lines().nth(2).expect("a record")).expect("JSON");
    (last["covers_runs"].clone(), last["may_include_runs"].clone(), last["usage"]["input_tokens"].clone())
}

fn a_request_whose_command_was_cut_short_is_in_no_total(version: &str) {
    let expected = |input: u64| (json!([3]), json!([2]), json!(input));
    // Of the two requests of the run the first one is counted.
    assert_eq!(behind_a_run_that_term_ended(version, &json!({"command": "sleep 3"})), expected(200));
    assert_eq!(behind_a_run_that_term_ended(version, &json!("hang")), expected(200));
}

fn each_request_is_in_a_total(version: &str) {
    let expected = |input: u64| (json!([2, 3]), json!([]), json!(input));
    assert_eq!(behind_a_run_that_term_ended(version, &json!({"command": "sleep 3"})), expected(300));
    assert_eq!(behind_a_run_that_term_ended(version, &json!("hang")), expected(200));
}

with_codex! { [v0_156_1 v0_171_0]
five_runs_of_a_thread_and_its_fork a_request_whose_command_was_cut_short_is_in_no_total }
with_codex! { [v0_98_0] each_request_is_in_a_total }
