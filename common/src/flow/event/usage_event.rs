//! What a line means for the usage of a run.

use super::super::scan::Scan;
use super::super::stream::Line;
use super::LAUNCHER_PREFIX;
use super::keys::{ITEM_TYPE, THREAD_ID, TYPE, text};

/// The type of an item that is a call of a sub-agent.
const COLLAB_CALL: &[u8] = b"collab_tool_call";

/// An event, as far as it concerns the usage of a run.
#[derive(Debug, Clone, Copy)]
pub enum UsageEvent<'a> {
    /// `thread.started` with its `thread_id`.
    ThreadStarted(Option<&'a str>),
    /// `turn.started`
    TurnStarted,
    /// `turn.completed`; [`super::super::usage::usage_of`] reads its numbers.
    TurnCompleted(Line<'a>),
    /// `turn.failed`
    TurnFailed,
    /// A call of a sub-agent, in any of its phases; [`super::agents`] reads which.
    CollabCall(Line<'a>),
    /// A type that begins with `handoff.`, which a launcher writes. It may be a sentinel.
    LauncherLine(Scan<'a>),
    /// Any other JSON object.
    Other,
    /// Nothing but white space.
    Blank,
    /// Anything else.
    NotObject,
}

impl<'a> UsageEvent<'a> {
    /// Reads the event from a line.
    pub(super) fn of(line: Line<'a>) -> UsageEvent<'a> {
        let found = match line.scan {
            Scan::Blank => return UsageEvent::Blank,
            Scan::NotObject | Scan::Malformed => return UsageEvent::NotObject,
            Scan::Object(found) => found,
        };
        match found.word(TYPE).unwrap_or_default() {
            b"thread.started" => UsageEvent::ThreadStarted(text(found, THREAD_ID)),
            b"turn.started" => UsageEvent::TurnStarted,
            b"turn.completed" => UsageEvent::TurnCompleted(line),
            b"turn.failed" => UsageEvent::TurnFailed,
            kind if kind.starts_with(b"item.") && found.word(ITEM_TYPE) == Some(COLLAB_CALL) => {
                UsageEvent::CollabCall(line)
            }
            kind if kind.starts_with(LAUNCHER_PREFIX) => UsageEvent::LauncherLine(line.scan),
            _ => UsageEvent::Other,
        }
    }

    /// Whether the line is one JSON object.
    pub fn is_object(&self) -> bool {
        !matches!(self, UsageEvent::Blank | UsageEvent::NotObject)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::stream::LineReader;
    use super::super::UsageLines;
    use super::*;

    /// The name of the event that a line is, and its thread.
    fn event_of(line: &str) -> String {
        let mut reader = LineReader::<UsageLines>::new();
        reader.push(line.as_bytes(), |_| panic!("no line has ended"));
        match reader.finish().expect("a line") {
            UsageEvent::TurnCompleted(_) => "TurnCompleted".to_owned(),
            UsageEvent::CollabCall(_) => "CollabCall".to_owned(),
            UsageEvent::LauncherLine(_) => "LauncherLine".to_owned(),
            event => format!("{event:?}"),
        }
    }

    #[test]
    fn each_line_is_the_event_of_its_type() {
        for (line, expected) in [
            (r#"{"type":"thread.started","thread_id":"t1"}"#, "ThreadStarted(Some(\"t1\"))"),
            (r#"{"type":"thread.started","thread_id":7}"#, "ThreadStarted(None)"),
            (r#"{"type":"turn.completed","usage":{}}"#, "TurnCompleted"),
            (r#"{"type":"turn.started"}"#, "TurnStarted"),
            (r#"{"type":"turn.failed"}"#, "TurnFailed"),
            (r#"{"type":"item.started","item":{"type":"collab_tool_call"}}"#, "CollabCall"),
            (r#"{"type":"x","item":{"type":"collab_tool_call"}}"#, "Other"),
            (r#"{"item":{"type":"turn.completed"}}"#, "Other"),
            (r#"{"type":"handoff.completed"}"#, "LauncherLine"),
            ("\r", "Blank"),
            ("[]", "NotObject"),
            ("{", "NotObject"),
        ] {
            assert_eq!(event_of(line), expected, "{line}");
        }
    }
}
