//! The real Codex, driven through loopback-model, behaves as the project takes it to.
//!
//! What is asserted here was read off captured streams of these versions. When one of these tests fails with a new
//! Codex, it is Codex that changed, and the project has to be looked at.
//!
//! Facts: "Run it without account and network", "The event stream", "How a run ends" in common/CODEX.md.

use std::fs;

use serde_json::{Value, json};

use crate::harness::codex::{RealCodex, World, with_codex};
use crate::harness::filter::program;
use crate::harness::ran::Ran;

/// What a run sent to stdout, told in one word an event: `TYPE` or `TYPE ITEM-TYPE`. Warnings of a run that goes on
/// (0.171.0 has no data about the model that the tests name) are left out.
fn story(ran: &Ran) -> Vec<String> {
    let told = events(ran).into_iter().filter(|event| event["item"]["type"] != "error");
    told.map(|event| {
        let words = [&event["type"], &event["item"]["type"]];
        words.into_iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    })
    .collect()
}

fn events(ran: &Ran) -> Vec<Value> {
    ran.stdout_text().lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// The last event of this type, of an item of this type.
#[track_caller]
fn last(ran: &Ran, kind: &str, item: &str) -> Value {
    let of_kind = |event: &Value| event["type"] == kind && (item.is_empty() || event["item"]["type"] == item);
    events(ran).into_iter().rfind(of_kind).unwrap_or_else(|| panic!("no {kind} {item}\n{ran}"))
}

/// Runs `codex exec --json ARGS` in this world. No sandbox: it needs rights that not every machine gives.
fn exec(world: &World, args: &[&str]) -> Ran {
    let options = ["exec", "--json", "--sandbox", "danger-full-access", "-C"];
    let codex = program(world.program()).args(options).arg(world.workspace());
    world.around(codex.args(args)).stdin("Do it.").run()
}

fn run(version: &str, scenario: &Value) -> (World, Ran) {
    let world = RealCodex::version(version).world(scenario);
    let ran = exec(&world, &["-"]);
    (world, ran)
}

/// Whether this version counts what was written to the cache and what went into reasoning.
fn counts_everything(version: &str) -> bool {
    version != "0.98.0"
}

/// The usage after `answers` answers with the numbers of a scenario that names none.
fn usage_of(version: &str, answers: u64) -> Value {
    let mut usage = json!({
        "input_tokens": 100 * answers, "cached_input_tokens": 40 * answers, "output_tokens": 20 * answers,
    });
    if counts_everything(version) {
        usage["cache_write_input_tokens"] = json!(0);
        usage["reasoning_output_tokens"] = json!(5 * answers);
    }
    usage
}

fn message(version: &str) {
    let (world, ran) = run(version, &json!({"answers": [{"message": "Two files."}]}));
    ran.exits(0);
    assert_eq!(
        story(&ran),
        ["thread.started", "turn.started", "item.completed agent_message", "turn.completed"]
    );
    assert_eq!(last(&ran, "item.completed", "agent_message")["item"]["text"], "Two files.");
    assert_eq!(last(&ran, "turn.completed", "")["usage"], usage_of(version, 1));
    let requests = world.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert_eq!(requests[0]["model"], "gpt-5.4");
    assert_eq!(requests[0]["user"], "Do it.");
}

fn command(version: &str) {
    let (world, ran) = run(
        version,
        &json!({"answers": [[{"reasoning": "**Listing** files"}, {"command": "echo hi; ls"}], {"message": "Done."}]}),
    );
    ran.exits(0);
    assert_eq!(
        story(&ran),
        [
            "thread.started",
            "turn.started",
            "item.completed reasoning",
            "item.started command_execution",
            "item.completed command_execution",
            "item.completed agent_message",
            "turn.completed",
        ]
    );
    assert_eq!(last(&ran, "item.completed", "reasoning")["item"]["text"], "**Listing** files");
    assert_eq!(last(&ran, "item.started", "command_execution")["item"]["exit_code"], Value::Null);
    let item = last(&ran, "item.completed", "command_execution")["item"].take();
    // The shell before it is the user's.
    let command = item["command"].as_str().expect("a command");
    assert!(command.ends_with(" -lc 'echo hi; ls'"), "{command}");
    assert_eq!((&item["exit_code"], &item["status"]), (&json!(0), &json!("completed")));
    let told = item["aggregated_output"].as_str().expect("an output");
    if version == "0.156.1" {
        // On a busy machine its event can lack the beginning of what was printed at once, or all of it.
        assert!("hi\na.txt\n".ends_with(told), "{told}");
    } else {
        assert_eq!(told, "hi\na.txt\n");
    }
    assert_eq!(last(&ran, "turn.completed", "")["usage"], usage_of(version, 2));
    let output = world.requests()[1]["output"].as_str().expect("the output of the command").to_owned();
    assert!(output.ends_with("hi\na.txt\n"), "{output}");
}

fn patch(version: &str) {
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** Add File: notes.md\n+hello\n*** End Patch\n";
    let (world, ran) = run(version, &json!({"answers": [{"patch": patch}, {"message": "Done."}]}));
    ran.exits(0);
    let mut item = last(&ran, "item.completed", "file_change")["item"].take();
    assert_eq!(item["status"], "completed");
    // 0.98.0 lists them in any order.
    let changes = item["changes"].as_array_mut().expect("a list of changes");
    changes.sort_by_key(|change| change["path"].to_string());
    let path = |name: &str| fs::canonicalize(world.workspace()).expect("the repository").join(name);
    assert_eq!(
        item["changes"],
        json!([{"path": path("a.txt"), "kind": "update"}, {"path": path("notes.md"), "kind": "add"}])
    );
    assert_eq!(fs::read_to_string(path("a.txt")).expect("a.txt"), "b\n");
    assert_eq!(fs::read_to_string(path("notes.md")).expect("notes.md"), "hello\n");
}

fn web_search(version: &str) {
    let (_, ran) = run(version, &json!({"answers": [[{"search": "weather"}, {"message": "Sunny."}]]}));
    ran.exits(0);
    let found = last(&ran, "item.completed", "web_search");
    assert_eq!(found["item"]["query"], "weather");
    // Two keys `id` in one object; whoever reads this must live with it.
    let text = ran.stdout_text();
    let line = text.lines().rfind(|line| line.contains("\"web_search\"")).expect("the line of the search");
    assert_eq!(line.matches("\"id\":").count(), 2, "{line}");
}

fn plan(version: &str) {
    let step = |status| json!({"plan": [{"step": "Read", "status": status}]});
    let scenario = json!({"answers": [step("in_progress"), step("completed"), {"message": "Done."}]});
    let (world, ran) = run(version, &scenario);
    ran.exits(0);
    if version == "0.98.0" {
        let items = json!([{"text": "Read", "completed": true}]);
        assert_eq!(last(&ran, "item.updated", "todo_list")["item"]["items"], items);
        assert_eq!(last(&ran, "item.completed", "todo_list")["item"]["items"], items);
    } else {
        // Later ones have no plan with this model and tell the model so.
        assert_eq!(world.requests()[1]["output"], "unsupported call: update_plan");
    }
}

fn unauthorized(version: &str) {
    let refusal = json!({"status": 401, "body": {"error": {"message": "Incorrect API key provided"}}});
    let (_, ran) = run(version, &json!({"answers": [{"http": refusal}]}));
    fails(&ran, |message| {
        message.starts_with(
            "unexpected status 401 Unauthorized: Incorrect API key provided, url: http://127.0.0.1:",
        )
    });
}

fn usage_limit(version: &str) {
    let refusal =
        json!({"status": 429, "body": {"error": {"type": "usage_limit_reached", "plan_type": "plus"}}});
    let (_, ran) = run(version, &json!({"answers": [{"http": refusal}]}));
    // The apostrophe in "You've" is another one since 0.156.1.
    fails(&ran, |message| message.contains("hit your usage limit."));
}

fn context_full(version: &str) {
    let failure = json!({"code": "context_length_exceeded", "message": "Too long."});
    let (_, ran) = run(version, &json!({"answers": [{"fail": failure}]}));
    fails(&ran, |message| message.starts_with("Codex ran out of room in the model's context window."));
}

/// It failed, and said so twice with one message, which `is_right`.
#[track_caller]
fn fails(ran: &Ran, is_right: impl Fn(&str) -> bool) {
    ran.exits(1);
    assert_eq!(story(ran), ["thread.started", "turn.started", "error", "turn.failed"]);
    let message = &last(ran, "error", "")["message"];
    assert_eq!(*message, last(ran, "turn.failed", "")["error"]["message"]);
    assert!(message.as_str().is_some_and(is_right), "{message}");
}

fn cut_then_recovered(version: &str) {
    let world = RealCodex::version(version)
        .stream_retries(2)
        .world(&json!({"answers": [[{"reasoning": "hm"}, "cut"], {"message": "Recovered."}]}));
    let ran = exec(&world, &["-"]);
    ran.exits(0);
    let end = ["error", "item.completed agent_message", "turn.completed"];
    assert_eq!(story(&ran)[3..], end, "{ran}");
    assert_eq!(
        last(&ran, "error", "")["message"],
        "Reconnecting... 1/2 (stream disconnected before completion: stream closed before response.completed)"
    );
    assert_eq!(world.requests().len(), 2);
}

fn cut_for_ever(version: &str) {
    let world =
        RealCodex::version(version).stream_retries(1).world(&json!({"answers": ["cut"], "repeat": "last"}));
    let ran = exec(&world, &["-"]);
    ran.exits(1);
    assert_eq!(story(&ran), ["thread.started", "turn.started", "error", "error", "turn.failed"]);
    let message = last(&ran, "turn.failed", "")["error"]["message"].to_string();
    assert!(message.contains("stream disconnected before completion: error sending request"), "{message}");
    assert_eq!(world.requests().len(), 2);
}

fn server_error_then_well(version: &str) {
    let world = RealCodex::version(version)
        .request_retries(1)
        .world(&json!({"answers": [{"http": {"status": 500}}, {"message": "Well."}]}));
    let ran = exec(&world, &["-"]);
    ran.exits(0);
    assert_eq!(last(&ran, "item.completed", "agent_message")["item"]["text"], "Well.");
}

fn empty_message(version: &str) {
    let world = RealCodex::version(version).world(&json!({"answers": [{"message": ""}]}));
    let file = world.path("last");
    let ran = exec(&world, &["-o", file.to_str().expect("a path"), "-"]);
    ran.exits(0);
    assert_eq!(
        story(&ran),
        ["thread.started", "turn.started", "item.completed agent_message", "turn.completed"]
    );
    assert_eq!(fs::read(file).expect("the file of the last message"), b"");
}

fn resume_keeps_the_totals_of_the_thread(version: &str) {
    let world =
        RealCodex::version(version).world(&json!({"answers": [{"message": "Done."}], "repeat": "last"}));
    let first = exec(&world, &["-"]);
    let thread = last(&first, "thread.started", "")["thread_id"].as_str().expect("a thread id").to_owned();
    let resumed = [exec(&world, &["resume", &thread, "-"]), exec(&world, &["resume", &thread, "-"])];
    assert_eq!(last(&first, "turn.completed", "")["usage"], usage_of(version, 1));
    for (ran, answers) in resumed.iter().zip(2..) {
        ran.exits(0);
        assert_eq!(last(ran, "thread.started", "")["thread_id"], *thread);
        assert_eq!(last(ran, "turn.completed", "")["usage"], usage_of(version, answers));
    }
}

fn no_prompt(version: &str) {
    let world = RealCodex::version(version).world(&json!({"answers": [{"message": "Done."}]}));
    let codex = program(world.program()).args(["exec", "--json", "-"]);
    let ran = world.around(codex).stdin(" \n").run();
    ran.exits(1).stdout_is("").stderr_has("No prompt provided via stdin.");
}

// The last known to count few fields, the one that most captured streams are of, and the newest.
with_codex! {
    [v0_98_0 v0_156_1 v0_171_0]
    message command patch web_search plan unauthorized usage_limit context_full cut_then_recovered cut_for_ever
    server_error_then_well empty_message resume_keeps_the_totals_of_the_thread no_prompt
}
