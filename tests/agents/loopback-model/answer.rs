//! Items of a scenario to server-sent events of the Responses API.
//!
//! The forms are those that the Codex CLI 0.98.0, 0.156.1 and 0.171.0 were measured to understand.

use serde_json::{Value, json};

use crate::request::Offer;
use crate::scenario::{Item, Usage};

/// One server-sent event; `data` carries its type once more, and Codex reads it there.
fn event(data: Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

/// The event that opens a response.
pub(crate) fn created(response: &str) -> String {
    event(json!({"type": "response.created", "response": {"id": response}}))
}

/// The event that carries item number `index` (from 0) of a response.
pub(crate) fn item_done(index: usize, item: Value) -> String {
    event(json!({"type": "response.output_item.done", "output_index": index, "item": item}))
}

/// The event that closes a response that went well. Without numbers Codex counts zero.
pub(crate) fn completed(response: &str, usage: Option<Usage>) -> String {
    let usage = usage.map(|usage| {
        json!({
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.input.saturating_add(usage.output),
        })
    });
    event(json!({"type": "response.completed", "response": {"id": response, "usage": usage}}))
}

/// The event that closes a response that failed.
pub(crate) fn failed(response: &str, code: &str, message: &str) -> String {
    let error = json!({"code": code, "message": message});
    event(json!({"type": "response.failed", "response": {"id": response, "error": error}}))
}

/// The item as the API has it. `id` must be new to the thread: Codex pairs calls and outputs by it.
pub(crate) fn item(item: &Item, offer: &Offer, id: &str) -> Value {
    match item {
        Item::Message(text) => {
            let content = json!([{"type": "output_text", "text": text}]);
            json!({"type": "message", "role": "assistant", "id": id, "content": content})
        }
        Item::Reasoning(text) => {
            let summary = json!([{"type": "summary_text", "text": text}]);
            json!({"type": "reasoning", "id": id, "summary": summary, "content": null, "encrypted_content": null})
        }
        Item::Command(command) => shell(command, offer, id),
        Item::Patch(patch) if offer.custom("apply_patch") => {
            json!({"type": "custom_tool_call", "id": id, "call_id": id, "name": "apply_patch", "input": patch})
        }
        // Codex looks for this very form in commands and applies the patch itself.
        Item::Patch(patch) => shell(&format!("apply_patch <<'EOF'\n{}\nEOF\n", patch.trim_end()), offer, id),
        Item::Plan(plan) => call("update_plan", &json!({"plan": plan}), id),
        Item::Search(query) => {
            let action = json!({"type": "search", "query": query});
            json!({"type": "web_search_call", "id": id, "status": "completed", "action": action})
        }
        Item::Mcp { server, tool, arguments } => {
            let flat = format!("mcp__{server}__{tool}");
            if offer.function(&flat) {
                call(&flat, arguments, id)
            } else {
                in_namespace(&format!("mcp__{server}"), call(tool, arguments, id))
            }
        }
        Item::SpawnAgent(arguments) if offer.function("spawn_agent") => call("spawn_agent", arguments, id),
        Item::SpawnAgent(arguments) => in_namespace("multi_agent_v1", call("spawn_agent", arguments, id)),
        Item::Raw(item) => item.clone(),
    }
}

/// A shell command, as the tool that the request offers.
fn shell(command: &str, offer: &Offer, id: &str) -> Value {
    if offer.function("shell_command") {
        call("shell_command", &json!({"command": command}), id)
    } else {
        call("exec_command", &json!({"cmd": command}), id)
    }
}

/// A call of a function; the API wants its arguments as JSON inside a string.
fn call(name: &str, arguments: &Value, id: &str) -> Value {
    json!({"type": "function_call", "id": id, "call_id": id, "name": name, "arguments": arguments.to_string()})
}

fn in_namespace(namespace: &str, mut call: Value) -> Value {
    call["namespace"] = namespace.into();
    call
}
