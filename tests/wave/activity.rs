//! What is told of an agent's doings, and that nothing else is.

use serde_json::{Value, json};

use super::{DONE, told, watch};
use crate::harness::private::PRIVATE;
use crate::harness::scratch::Scratch;
use crate::harness::script::lines;

/// The last activity that a digest tells after `line`, as text.
#[track_caller]
fn activity_after(line: &Value) -> String {
    let scratch = Scratch::new();
    scratch.write("A1", format!("{line}\n"));
    let running = watch(&scratch, &["A1"]).args(["--digest-seconds", "0.05"]).start();
    let record = told(&running, "watcher.digest");
    super::append(scratch.path("A1"), lines([DONE]));
    running.end().exits(0);
    let (_, after) = record.split_once("\"lastActivity\":").expect("the activity");
    after.split_once(",\"noRecentActivity\":").expect("its end").0.to_owned()
}

/// An item with everything that any has, all of it private but the fields of `public`.
fn item(kind: &str, public: &Value) -> Value {
    let mut item = json!({
        "id": PRIVATE, "type": kind, "text": PRIVATE, "query": PRIVATE, "command": PRIVATE, "status": PRIVATE,
        "server": PRIVATE, "tool": PRIVATE, "message": PRIVATE, "aggregated_output": PRIVATE, "prompt": PRIVATE,
        "arguments": {"a": PRIVATE}, "result": {"content": [PRIVATE]}, "error": {"message": PRIVATE},
        "changes": [{"path": PRIVATE, "kind": "add"}], "items": [{"text": PRIVATE, "completed": false}],
        "action": {"type": "search", "query": PRIVATE}, "sender_thread_id": PRIVATE,
        "receiver_thread_ids": [PRIVATE], "agents_states": {PRIVATE: {"status": "running", "message": PRIVATE}},
    });
    let fields = item.as_object_mut().expect("an object");
    fields.extend(public.as_object().expect("an object").clone());
    item
}

#[test]
fn each_kind_has_the_fields_that_are_promised_and_no_others() {
    for (kind, public, expected) in [
        ("agent_message", json!({}), r#"{"type":"agent_message"}"#),
        ("reasoning", json!({}), r#"{"type":"reasoning"}"#),
        ("web_search", json!({}), r#"{"type":"web_search"}"#),
        ("todo_list", json!({}), r#"{"type":"todo_list"}"#),
        ("error", json!({}), r#"{"type":"error"}"#),
        ("file_change", json!({"status": "completed"}), r#"{"type":"file_change","status":"completed"}"#),
        (
            "command_execution",
            json!({"status": "failed", "command": "bash -lc 'ls \u{1b}[2J'"}),
            r#"{"type":"command_execution","command":"bash -lc 'ls \u001b[2J'","status":"failed"}"#,
        ),
        (
            "mcp_tool_call",
            json!({"status": "in_progress", "server": "demo", "tool": "echo"}),
            r#"{"type":"mcp_tool_call","server":"demo","tool":"echo","status":"in_progress"}"#,
        ),
        (
            "collab_tool_call",
            json!({"status": "completed", "tool": "spawn_agent"}),
            r#"{"type":"collab_tool_call","tool":"spawn_agent","status":"completed"}"#,
        ),
    ] {
        let line = json!({"type": "item.completed", "item": item(kind, &public)});
        assert_eq!(activity_after(&line), expected);
    }
    let bare = json!({"type": "item.started", "item": {"type": "mcp_tool_call", "status": null}});
    assert_eq!(activity_after(&bare), r#"{"type":"mcp_tool_call"}"#);
    assert_eq!(activity_after(&json!({"type": "error", "message": PRIVATE})), r#"{"type":"error"}"#);
}

#[test]
fn threads_turns_and_what_is_not_known_are_events_and_no_activity() {
    for line in [
        json!({"type": "thread.started", "thread_id": PRIVATE}),
        json!({"type": "turn.started"}),
        json!({"type": "turn.failed", "error": {"message": PRIVATE}}),
        json!({"type": PRIVATE, "item": item("reasoning", &json!({}))}),
        json!({"type": "item.completed", "item": item(PRIVATE, &json!({}))}),
    ] {
        assert_eq!(activity_after(&line), "null", "{line}");
    }
}

#[test]
fn a_sentinel_with_more_than_a_launcher_writes_is_told_without_that() {
    let scratch = Scratch::new();
    let sentinel = json!({
        "type": "handoff.failed", "message": PRIVATE, "thread_id": PRIVATE, "reason": format!("it said {PRIVATE}"),
        "elapsed_seconds": 1, "result": {"text": PRIVATE},
    });
    scratch.write("A1", format!("{sentinel}\n"));
    let ran = watch(&scratch, &["A1"]).run();
    ran.exits(1);
    let text = ran.stdout_text();
    assert!(text.contains(r#""status":"failed","reason":null,"#), "{ran}");
    assert!(text.contains(r#""sentinel":{"type":"handoff.failed","elapsed_seconds":1}}"#), "{ran}");
}

#[test]
fn a_failure_tells_nothing_of_the_line() {
    for line in [format!("{{\"a\":\"{PRIVATE}"), format!("[\"{PRIVATE}\"]"), format!("\"{PRIVATE}\"")] {
        let scratch = Scratch::new();
        scratch.write("A1", format!("{line}\n"));
        let ran = watch(&scratch, &["A1"]).args(["--ui", "always"]).run();
        ran.exits(65);
    }
}
