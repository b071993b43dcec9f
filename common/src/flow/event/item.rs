//! The items of a turn: what the agent does on the way to its answer.

use super::super::number;
use super::super::scan::{Found, Value};
use super::keys::{
    ITEM_COMMAND, ITEM_EXIT_CODE, ITEM_ID, ITEM_MESSAGE, ITEM_SERVER, ITEM_STATUS, ITEM_TEXT, ITEM_TOOL,
    ITEM_TYPE, text,
};

/// An item at one point of its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item<'a> {
    /// Which event told of it.
    pub phase: Phase,
    /// Its name in this process: a resumed run counts from `item_0` again.
    pub id: Option<&'a str>,
    /// What it is.
    pub kind: Kind<'a>,
}

/// Where on its way an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// `item.started`; not every item has one, and not every item that has one has an end.
    Started,
    /// `item.updated`; a to-do list has them.
    Updated,
    /// `item.completed`, however it went.
    Completed,
}

impl Phase {
    pub(super) fn named(event: &str) -> Option<Phase> {
        match event {
            "item.started" => Some(Phase::Started),
            "item.updated" => Some(Phase::Updated),
            "item.completed" => Some(Phase::Completed),
            _ => None,
        }
    }
}

/// What an item is. A completed `agent_message` is an event of its own, [`super::Event::AgentMessage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind<'a> {
    /// `reasoning`, up to [`super::MESSAGE_CAP`] bytes.
    Reasoning(Text<'a>),
    /// `command_execution`
    Command {
        /// The command line, up to 4,096 bytes.
        command: Option<Text<'a>>,
        /// `in_progress`, `completed`, `failed`, `declined`.
        status: Option<&'a str>,
        /// Null while it runs, and where it did not run.
        exit_code: Option<i64>,
    },
    /// `mcp_tool_call`
    ToolCall {
        /// The MCP server.
        server: Option<&'a str>,
        /// The tool.
        tool: Option<&'a str>,
        /// `in_progress`, `completed`, `failed`.
        status: Option<&'a str>,
    },
    /// `file_change`; [`super::changes`] has the files.
    FileChange {
        /// `in_progress`, `completed`, `failed`.
        status: Option<&'a str>,
    },
    /// `todo_list`; [`super::steps`] has the steps.
    TodoList,
    /// `web_search`
    WebSearch,
    /// `collab_tool_call`
    CollabCall {
        /// What is asked of the other agent, as `spawn_agent`.
        tool: Option<&'a str>,
        /// `in_progress`, `completed`, `failed`.
        status: Option<&'a str>,
    },
    /// `error` with its `message`: a warning, in a run that goes on.
    Error(Option<&'a str>),
}

/// A text as far as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    /// The text, or its beginning, cut at a character.
    pub text: &'a str,
    /// Whether that is all of it.
    pub whole: bool,
}

impl<'a> Text<'a> {
    /// A text that is all there.
    pub fn whole(text: &'a str) -> Text<'a> {
        Text { text, whole: true }
    }
}

impl<'a> Item<'a> {
    /// Reads the item of an event; `None` for a type that this page does not know.
    pub(super) fn of(phase: Phase, found: Found<'a>) -> Option<Item<'a>> {
        let status = text(found, ITEM_STATUS);
        let kind = match text(found, ITEM_TYPE)? {
            "reasoning" => Kind::Reasoning(kept(found, ITEM_TEXT)?),
            "command_execution" => Kind::Command {
                command: kept(found, ITEM_COMMAND),
                status,
                exit_code: match found.get(ITEM_EXIT_CODE) {
                    Some(Value::Number(Some(digits))) => number::whole_signed(digits),
                    _ => None,
                },
            },
            "mcp_tool_call" => {
                Kind::ToolCall { server: text(found, ITEM_SERVER), tool: text(found, ITEM_TOOL), status }
            }
            "file_change" => Kind::FileChange { status },
            "todo_list" => Kind::TodoList,
            "web_search" => Kind::WebSearch,
            "collab_tool_call" => Kind::CollabCall { tool: text(found, ITEM_TOOL), status },
            "error" => Kind::Error(text(found, ITEM_MESSAGE)),
            _ => return None,
        };
        Some(Item { phase, id: text(found, ITEM_ID), kind })
    }
}

pub(super) fn kept<'a>(found: Found<'a>, want: usize) -> Option<Text<'a>> {
    match found.get(want) {
        Some(Value::Text { text, whole }) => Some(Text { text, whole }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Event, scanner};
    use super::*;

    fn check(item: &str, expected: Option<Kind<'_>>) {
        let mut scanner = scanner();
        for (event, phase) in [
            ("item.started", Phase::Started),
            ("item.updated", Phase::Updated),
            ("item.completed", Phase::Completed),
        ] {
            scanner.push(format!(r#"{{"type":"{event}","item":{item}}}"#).as_bytes());
            let expected =
                expected.map_or(Event::Other, |kind| Event::Item(Item { phase, id: Some("item_1"), kind }));
            assert_eq!(Event::of(scanner.finish()), expected, "{event} {item}");
        }
    }

    #[test]
    fn each_type_is_read_with_its_fields() {
        let whole = |text| Text { text, whole: true };
        check(
            r#"{"id":"item_1","type":"reasoning","text":"**hm**"}"#,
            Some(Kind::Reasoning(whole("**hm**"))),
        );
        check(
            r#"{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}"#,
            Some(Kind::Command { command: Some(whole("ls")), status: Some("in_progress"), exit_code: None }),
        );
        check(
            r#"{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":-1,"status":"failed"}"#,
            Some(Kind::Command { command: Some(whole("ls")), status: Some("failed"), exit_code: Some(-1) }),
        );
        check(
            r#"{"id":"item_1","type":"mcp_tool_call","server":"demo","tool":"echo","result":null,"error":null,"status":"completed"}"#,
            Some(Kind::ToolCall { server: Some("demo"), tool: Some("echo"), status: Some("completed") }),
        );
        check(
            r#"{"id":"item_1","type":"file_change","changes":[],"status":"completed"}"#,
            Some(Kind::FileChange { status: Some("completed") }),
        );
        check(r#"{"id":"item_1","type":"todo_list","items":[]}"#, Some(Kind::TodoList));
        check(r#"{"id":"item_1","type":"web_search","id":"ws_1","query":"x"}"#, Some(Kind::WebSearch));
        check(
            r#"{"id":"item_1","type":"collab_tool_call","tool":"spawn_agent","status":"failed"}"#,
            Some(Kind::CollabCall { tool: Some("spawn_agent"), status: Some("failed") }),
        );
        check(r#"{"id":"item_1","type":"error","message":"careful"}"#, Some(Kind::Error(Some("careful"))));
    }

    #[test]
    fn odd_fields_are_nothing_and_unknown_types_are_other() {
        check(
            r#"{"id":"item_1","type":"command_execution","command":["ls"],"exit_code":"3","status":null}"#,
            Some(Kind::Command { command: None, status: None, exit_code: None }),
        );
        check(
            r#"{"id":"item_1","type":"mcp_tool_call"}"#,
            Some(Kind::ToolCall { server: None, tool: None, status: None }),
        );
        check(r#"{"id":"item_1","type":"reasoning","text":null}"#, None);
        check(r#"{"id":"item_1","type":"request_user_input"}"#, None);
        check(r#"{"id":"item_1","type":null}"#, None);
        check("null", None);
    }

    #[test]
    fn a_command_is_cut_at_a_character() {
        let command = format!("{}\u{1f469}\u{200d}\u{1f680}", "x".repeat(4093));
        check(
            &format!(r#"{{"id":"item_1","type":"command_execution","command":"{command}"}}"#),
            Some(Kind::Command {
                command: Some(Text { text: &"x".repeat(4093), whole: false }),
                status: None,
                exit_code: None,
            }),
        );
    }
}
