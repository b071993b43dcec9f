//! The items of a turn: what the agent does before its answer.

use super::super::number;
use super::super::scan::{Found, Value};
use super::keys::{
    ITEM_COMMAND, ITEM_EXIT_CODE, ITEM_ID, ITEM_MESSAGE, ITEM_SERVER, ITEM_STATUS, ITEM_TEXT, ITEM_TOOL,
    ITEM_TYPE, text,
};

/// An item in one of its phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item<'a> {
    /// The phase, which is the type of its event.
    pub phase: ItemPhase,
    /// Its id in this process; a resumed run counts from `item_0` again.
    pub id: Option<&'a str>,
    /// Its type, with its fields.
    pub kind: ItemKind<'a>,
}

/// The phase of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemPhase {
    /// `item.started`. Not every item has this phase, and not every item that has it is completed.
    Started,
    /// `item.updated`, of a to-do list.
    Updated,
    /// `item.completed`, also when the item failed.
    Completed,
}

impl ItemPhase {
    pub(super) fn named(event: &str) -> Option<ItemPhase> {
        match event {
            "item.started" => Some(ItemPhase::Started),
            "item.updated" => Some(ItemPhase::Updated),
            "item.completed" => Some(ItemPhase::Completed),
            _ => None,
        }
    }
}

/// The type of an item, with its fields. A completed `agent_message` is an event of its own, [`super::Event::AgentMessage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind<'a> {
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
        /// The call, as `spawn_agent`.
        tool: Option<&'a str>,
        /// `in_progress`, `completed`, `failed`.
        status: Option<&'a str>,
    },
    /// `error` with its `message`: a warning, in a run that goes on.
    Error(Option<&'a str>),
}

/// A text, or its beginning up to a cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    /// The text, or its beginning, cut at a character.
    pub text: &'a str,
    /// Whether that is all of it.
    pub whole: bool,
}

impl<'a> Text<'a> {
    /// A text that is not cut.
    pub fn whole(text: &'a str) -> Text<'a> {
        Text { text, whole: true }
    }
}

impl<'a> Item<'a> {
    /// Reads the item of an event; `None` for an unknown type.
    pub(super) fn of(phase: ItemPhase, found: Found<'a>) -> Option<Item<'a>> {
        let status = text(found, ITEM_STATUS);
        let kind = match text(found, ITEM_TYPE)? {
            "reasoning" => ItemKind::Reasoning(capped_text(found, ITEM_TEXT)?),
            "command_execution" => ItemKind::Command {
                command: capped_text(found, ITEM_COMMAND),
                status,
                exit_code: match found.get(ITEM_EXIT_CODE) {
                    Some(Value::Number(Some(digits))) => number::whole_signed(digits),
                    _ => None,
                },
            },
            "mcp_tool_call" => {
                ItemKind::ToolCall { server: text(found, ITEM_SERVER), tool: text(found, ITEM_TOOL), status }
            }
            "file_change" => ItemKind::FileChange { status },
            "todo_list" => ItemKind::TodoList,
            "web_search" => ItemKind::WebSearch,
            "collab_tool_call" => ItemKind::CollabCall { tool: text(found, ITEM_TOOL), status },
            "error" => ItemKind::Error(text(found, ITEM_MESSAGE)),
            _ => return None,
        };
        Some(Item { phase, id: text(found, ITEM_ID), kind })
    }
}

/// The text of a wanted value.
pub(super) fn capped_text<'a>(found: Found<'a>, want: usize) -> Option<Text<'a>> {
    match found.get(want) {
        Some(Value::Text { text, whole }) => Some(Text { text, whole }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Event, scanner};
    use super::*;

    fn check(item: &str, expected: Option<ItemKind<'_>>) {
        let mut scanner = scanner();
        for (event, phase) in [
            ("item.started", ItemPhase::Started),
            ("item.updated", ItemPhase::Updated),
            ("item.completed", ItemPhase::Completed),
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
            Some(ItemKind::Reasoning(whole("**hm**"))),
        );
        check(
            r#"{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}"#,
            Some(ItemKind::Command {
                command: Some(whole("ls")),
                status: Some("in_progress"),
                exit_code: None,
            }),
        );
        check(
            r#"{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":-1,"status":"failed"}"#,
            Some(ItemKind::Command {
                command: Some(whole("ls")),
                status: Some("failed"),
                exit_code: Some(-1),
            }),
        );
        check(
            r#"{"id":"item_1","type":"mcp_tool_call","server":"demo","tool":"echo","result":null,"error":null,"status":"completed"}"#,
            Some(ItemKind::ToolCall { server: Some("demo"), tool: Some("echo"), status: Some("completed") }),
        );
        check(
            r#"{"id":"item_1","type":"file_change","changes":[],"status":"completed"}"#,
            Some(ItemKind::FileChange { status: Some("completed") }),
        );
        check(r#"{"id":"item_1","type":"todo_list","items":[]}"#, Some(ItemKind::TodoList));
        check(r#"{"id":"item_1","type":"web_search","id":"ws_1","query":"x"}"#, Some(ItemKind::WebSearch));
        check(
            r#"{"id":"item_1","type":"collab_tool_call","tool":"spawn_agent","status":"failed"}"#,
            Some(ItemKind::CollabCall { tool: Some("spawn_agent"), status: Some("failed") }),
        );
        check(
            r#"{"id":"item_1","type":"error","message":"careful"}"#,
            Some(ItemKind::Error(Some("careful"))),
        );
    }

    #[test]
    fn odd_fields_are_nothing_and_unknown_types_are_other() {
        check(
            r#"{"id":"item_1","type":"command_execution","command":["ls"],"exit_code":"3","status":null}"#,
            Some(ItemKind::Command { command: None, status: None, exit_code: None }),
        );
        check(
            r#"{"id":"item_1","type":"mcp_tool_call"}"#,
            Some(ItemKind::ToolCall { server: None, tool: None, status: None }),
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
            Some(ItemKind::Command {
                command: Some(Text { text: &"x".repeat(4093), whole: false }),
                status: None,
                exit_code: None,
            }),
        );
    }
}
