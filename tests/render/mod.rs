//! `codex-render`, by what it is asked to get right.

mod cases;
mod follow;
mod live;
mod long;
mod page;
mod streams;

/// An item that has come to its end, with these members besides its id.
fn completed(members: &str) -> String {
    format!("{{\"type\":\"item.completed\",\"item\":{{\"id\":\"item_0\",{members}}}}}\n")
}

/// An agent message with this text, as it stands in JSON.
fn message(text: &str) -> String {
    completed(&format!("\"type\":\"agent_message\",\"text\":\"{text}\""))
}
