//! What Codex asked for: the tools that it offers to the model, and the note for the log.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// The tools of one request, for choosing the form of a call.
///
/// One scenario then fits every version: Codex 0.98.0 offers `shell_command` or `exec_command` by model, later ones
/// `exec_command`; a patch tool is offered only for models that Codex knows.
#[derive(Debug)]
pub(crate) struct Offer {
    functions: BTreeSet<String>,
    custom: BTreeSet<String>,
}

impl Offer {
    /// Reads the `tools` of a request; what is not understood is passed over.
    pub(crate) fn of(body: &Value) -> Offer {
        let of_type = |kind: &str| {
            let tools = body["tools"].as_array().into_iter().flatten();
            let names = tools.filter(|tool| tool["type"] == kind).filter_map(|tool| tool["name"].as_str());
            names.map(str::to_string).collect()
        };
        Offer { functions: of_type("function"), custom: of_type("custom") }
    }

    /// Whether there is a function of this name, outside any namespace.
    pub(crate) fn function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }

    /// Whether there is a tool of this name that takes plain text.
    pub(crate) fn custom(&self, name: &str) -> bool {
        self.custom.contains(name)
    }
}

/// The log line of request number `count` (from 1, of all requests).
///
/// `{"count","method","path"}` for any request. One that has a JSON body adds `model`, `effort`, `format` (the type
/// of the output format asked for; each null when absent), `tools` (names), `input` (one word per item, see
/// [`item_note`]), `user` (text of the last user message) and `output` (the last output of a tool), null when there
/// is none.
pub(crate) fn note(count: usize, method: &str, path: &str, body: Option<&Value>) -> Value {
    let mut note = json!({"count": count, "method": method, "path": path});
    let Some(body) = body else { return note };
    let items = || body["input"].as_array().into_iter().flatten();
    let tools = body["tools"].as_array().into_iter().flatten();
    let user = items().rev().find(|item| item["role"] == "user").map(|item| parts_text(&item["content"]));
    let output = items().rev().find_map(|item| item.get("output")).map(output_text);
    note["model"] = body["model"].clone();
    note["effort"] = body["reasoning"]["effort"].clone();
    note["format"] = body["text"]["format"]["type"].clone();
    note["tools"] = tools.map(|tool| tool.get("name").unwrap_or(&tool["type"]).clone()).collect();
    note["input"] = items().map(item_note).collect();
    note["user"] = user.into();
    note["output"] = output.into();
    note
}

/// An input item in a few words: its type, then role and kinds of content parts of a message
/// (`message user input_text input_image`), or the name of the tool called (`function_call exec_command`).
fn item_note(item: &Value) -> String {
    let parts = item["content"].as_array().into_iter().flatten().map(|part| &part["type"]);
    let words = [&item["type"], &item["role"], &item["name"]].into_iter().chain(parts);
    words.filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
}

/// The texts of content parts, put together.
fn parts_text(parts: &Value) -> String {
    parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect()
}

/// The output of a tool, which is a text, or since 0.98 sometimes a list of parts.
fn output_text(output: &Value) -> String {
    output.as_str().map_or_else(|| parts_text(output), str::to_string)
}
