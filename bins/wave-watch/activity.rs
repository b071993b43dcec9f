//! What an agent did last, without anything that it said.
//!
//! Private by construction: the type has no room for a text, a query, an argument, a result, a prompt, a thread id or
//! an error message, so no caller can show one by mistake. What it keeps is short.

use crate::sentinel::is_word;
use common::flow::event::ActivityFields;

/// How much of a command is kept, in bytes. A wave of ten thousand agents keeps one each.
pub const COMMAND_CAP: usize = 1024;

/// How much of a status, a server's or a tool's name is kept, in bytes.
pub const WORD_CAP: usize = 128;

/// What an agent did. Fields that the line has not, or not as a text, are `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    /// `agent_message`
    AgentMessage,
    /// `reasoning`
    Reasoning,
    /// `web_search`
    WebSearch,
    /// `todo_list`
    TodoList,
    /// `error`, as an item or as an event of its own.
    Error,
    /// `file_change`
    FileChange {
        /// `status`
        status: Option<Box<str>>,
    },
    /// `command_execution`
    Command {
        /// `command`, cut at [`COMMAND_CAP`].
        command: Option<Box<str>>,
        /// `status`
        status: Option<Box<str>>,
    },
    /// `mcp_tool_call`
    ToolCall {
        /// `server`
        server: Option<Box<str>>,
        /// `tool`
        tool: Option<Box<str>>,
        /// `status`
        status: Option<Box<str>>,
    },
    /// `collab_tool_call`
    CollabCall {
        /// `tool`
        tool: Option<Box<str>>,
        /// `status`
        status: Option<Box<str>>,
    },
}

impl Activity {
    /// What a line tells; `None` for thread and turn events and for types that this page does not know.
    pub fn of(line: &ActivityFields<'_>) -> Option<Activity> {
        match line.kind {
            "error" => Some(Activity::Error),
            "item.started" | "item.updated" | "item.completed" => Activity::of_item(line),
            _ => None,
        }
    }

    fn of_item(line: &ActivityFields<'_>) -> Option<Activity> {
        // Codex knows four, each of one word; whatever else stands there may be what the agent says.
        let status = || kept(line.status.filter(|status| is_word(status)), WORD_CAP);
        let tool = || kept(line.tool, WORD_CAP);
        Some(match line.item? {
            "agent_message" => Activity::AgentMessage,
            "reasoning" => Activity::Reasoning,
            "web_search" => Activity::WebSearch,
            "todo_list" => Activity::TodoList,
            "error" => Activity::Error,
            "file_change" => Activity::FileChange { status: status() },
            "command_execution" => {
                Activity::Command { command: kept(line.command, COMMAND_CAP), status: status() }
            }
            "mcp_tool_call" => {
                Activity::ToolCall { server: kept(line.server, WORD_CAP), tool: tool(), status: status() }
            }
            "collab_tool_call" => Activity::CollabCall { tool: tool(), status: status() },
            _ => return None,
        })
    }

    /// Its type, as the stream calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Activity::AgentMessage => "agent_message",
            Activity::Reasoning => "reasoning",
            Activity::WebSearch => "web_search",
            Activity::TodoList => "todo_list",
            Activity::Error => "error",
            Activity::FileChange { .. } => "file_change",
            Activity::Command { .. } => "command_execution",
            Activity::ToolCall { .. } => "mcp_tool_call",
            Activity::CollabCall { .. } => "collab_tool_call",
        }
    }
}

fn kept(text: Option<&str>, cap: usize) -> Option<Box<str>> {
    text.map(|text| text[..text.floor_char_boundary(cap)].into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{WatchedLine, WatchedLines};
    use common::flow::stream::LineReader;

    fn of(line: &str) -> Option<Activity> {
        let mut lines = LineReader::<WatchedLines>::new();
        lines.push(line.as_bytes(), |_| panic!("no line has ended"));
        match lines.finish() {
            Some(WatchedLine::Event(activity)) => activity,
            other => panic!("{other:?}"),
        }
    }

    fn of_item(item: &str) -> Option<Activity> {
        of(&format!(r#"{{"type":"item.updated","item":{item}}}"#))
    }

    #[test]
    fn only_items_and_errors_are_activity() {
        assert_eq!(of(r#"{"type":"error","message":"x"}"#), Some(Activity::Error));
        for line in [
            r#"{"type":"thread.started","thread_id":"t1"}"#,
            r#"{"type":"turn.started"}"#,
            r#"{"type":"turn.completed"}"#,
            r#"{"type":"turn.failed","error":{"message":"x"}}"#,
            r#"{"type":"item.plan.delta","item":{"type":"reasoning"}}"#,
            r#"{"type":"item.completed","item":{"type":"request_user_input"}}"#,
            r#"{"type":"item.completed","item":null}"#,
            r#"{"type":"handoff.started"}"#,
            "{}",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn each_kind_has_its_fields_and_no_others() {
        let word = |word: &str| Some(Box::from(word));
        for (kind, activity) in [
            ("agent_message", Activity::AgentMessage),
            ("reasoning", Activity::Reasoning),
            ("web_search", Activity::WebSearch),
            ("todo_list", Activity::TodoList),
            ("error", Activity::Error),
            ("file_change", Activity::FileChange { status: word("s") }),
            ("command_execution", Activity::Command { command: word("c"), status: word("s") }),
            ("mcp_tool_call", Activity::ToolCall { server: word("v"), tool: word("t"), status: word("s") }),
            ("collab_tool_call", Activity::CollabCall { tool: word("t"), status: word("s") }),
        ] {
            let item = format!(
                r#"{{"type":"{kind}","status":"s","command":"c","server":"v","tool":"t","text":"x","query":"x"}}"#
            );
            assert_eq!(of_item(&item), Some(activity.clone()));
            assert_eq!(activity.name(), kind);
        }
        assert_eq!(
            of_item(r#"{"type":"command_execution","command":["ls"],"status":null}"#),
            Some(Activity::Command { command: None, status: None })
        );
    }

    #[test]
    fn a_status_is_one_word() {
        let status = |status: &str| of_item(&format!(r#"{{"type":"file_change","status":"{status}"}}"#));
        assert_eq!(status("in_progress"), Some(Activity::FileChange { status: Some("in_progress".into()) }));
        for said in ["what the agent says", "two\\nlines", ""] {
            assert_eq!(status(said), Some(Activity::FileChange { status: None }));
        }
    }

    #[test]
    fn what_is_kept_is_cut_at_a_character() {
        let command = format!("{}\u{6f22}", "x".repeat(COMMAND_CAP - 1));
        assert_eq!(
            of_item(&format!(r#"{{"type":"command_execution","command":"{command}"}}"#)),
            Some(Activity::Command { command: Some("x".repeat(COMMAND_CAP - 1).into()), status: None })
        );
    }
}
