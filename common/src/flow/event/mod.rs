//! What a line of the stream is, and every key that we read.
//!
//! Reading cannot fail on meaning: a type this page does not know is [`Event::Other`], a missing or odd field is
//! `None`, and what is not a JSON object has its own values. The shapes are those of `codex exec --json` 0.98.0,
//! 0.156.1 and 0.171.0.

mod activity_fields;
mod inside;
mod item;
pub(super) mod keys;
mod lists;
mod usage_event;
mod views;

use super::scan::{Found, Scan, Scanner, Value};
use keys::{
    ERROR_MESSAGE, ITEM_TEXT, ITEM_TYPE, MESSAGE, THREAD_ID, TYPE, USAGE_INPUT_TOKENS, USAGE_OUTPUT_TOKENS,
    text, whole_number,
};

pub use activity_fields::ActivityFields;
pub use item::{Item, ItemKind, ItemPhase, Text};
pub use lists::{
    FileChange, PlanStep, agent_messages, agents, changes, last_output, steps, tool_failure, usage_numbers,
};
pub use usage_event::UsageEvent;
pub use views::{EventLines, Sentinels, TurnLines, UsageLines};

/// How much of a message is kept: an agent message as long as this is kept whole.
pub const MESSAGE_CAP: usize = 1 << 20;

/// The beginning of the type of each line that a launcher writes.
const LAUNCHER_PREFIX: &[u8] = b"handoff.";

/// How much of a failure message is kept, in bytes.
pub const FAILURE_CAP: usize = 4096;

/// A scanner of the values that [`Event::of`] reads.
pub fn scanner() -> Scanner {
    Scanner::new(&keys::WANTS)
}

/// What a line is. Texts are decoded, and cut where they are longer than what is kept of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// `thread.started` with its `thread_id`.
    ThreadStarted(Option<&'a str>),
    /// `turn.started`
    TurnStarted,
    /// `turn.completed` with `usage.output_tokens`, the total of the thread so far, where it is a whole number. It is
    /// `None` in a usage of all zeros: Codex gives that where the server has sent no usage.
    TurnCompleted(Option<u64>),
    /// `turn.failed` with `error.message`, up to [`FAILURE_CAP`].
    TurnFailed(Option<&'a str>),
    /// A top-level `error` with its `message`, up to [`FAILURE_CAP`]. Not an ending: a dropped connection that is made
    /// again is one too.
    Error(Option<&'a str>),
    /// A completed `agent_message`; `whole` is false when its text is longer than [`MESSAGE_CAP`].
    AgentMessage {
        /// The message.
        text: &'a str,
        /// Whether `text` is all of it.
        whole: bool,
    },
    /// Any other item of a known type.
    Item(Item<'a>),
    /// A type that begins with `handoff.`, which a launcher writes and Codex never does. It may be a sentinel.
    LauncherLine,
    /// Any other JSON object.
    Other,
    /// Nothing but white space.
    Blank,
    /// JSON text that is not an object.
    NotObject,
    /// Not JSON text in valid UTF-8.
    Malformed,
}

impl<'a> Event<'a> {
    /// Reads the event from a line that [`EventLines`] has scanned.
    pub fn of(scan: Scan<'a>) -> Event<'a> {
        match (scan, Event::of_turns(scan)) {
            (Scan::Object(found), Event::Other) => {
                let phase = text(found, TYPE).and_then(ItemPhase::named);
                phase.and_then(|phase| Item::of(phase, found)).map_or(Event::Other, Event::Item)
            }
            (_, event) => event,
        }
    }

    /// Reads the event, except that an item other than a message is [`Event::Other`]. This takes a third less time, and a
    /// line that [`TurnLines`] has scanned is enough.
    pub fn of_turns(scan: Scan<'a>) -> Event<'a> {
        match scan {
            Scan::Blank => Event::Blank,
            Scan::NotObject => Event::NotObject,
            Scan::Malformed => Event::Malformed,
            Scan::Object(found) => Event::of_object(found),
        }
    }

    fn of_object(found: Found<'a>) -> Event<'a> {
        match found.word(TYPE).unwrap_or_default() {
            b"thread.started" => Event::ThreadStarted(text(found, THREAD_ID)),
            b"turn.started" => Event::TurnStarted,
            b"turn.completed" => Event::TurnCompleted(output_tokens(found)),
            b"turn.failed" => Event::TurnFailed(text(found, ERROR_MESSAGE)),
            b"error" => Event::Error(text(found, MESSAGE)),
            b"item.completed" if found.word(ITEM_TYPE) == Some(b"agent_message") => Event::of_message(found),
            kind if kind.starts_with(LAUNCHER_PREFIX) => Event::LauncherLine,
            _ => Event::Other,
        }
    }

    fn of_message(found: Found<'a>) -> Event<'a> {
        match found.get(ITEM_TEXT) {
            Some(Value::Text { text, whole }) => Event::AgentMessage { text, whole },
            _ => Event::Other,
        }
    }
}

/// `usage.output_tokens`, unless the usage is all zeros. Cached input is a part of the input, and reasoning of the
/// output, so these two say whether it is.
fn output_tokens(found: Found<'_>) -> Option<u64> {
    let is_zero = |want| matches!(whole_number(found, want), None | Some(0));
    whole_number(found, USAGE_OUTPUT_TOKENS)
        .filter(|_| !(is_zero(USAGE_OUTPUT_TOKENS) && is_zero(USAGE_INPUT_TOKENS)))
}

#[cfg(test)]
mod tests {
    use super::super::stream::LineReader;
    use super::*;

    fn check(line: &str, expected: Event<'_>) {
        let mut scanner = scanner();
        scanner.push(line.as_bytes());
        assert_eq!(Event::of(scanner.finish()), expected, "{line}");
        let mut lines = LineReader::<TurnLines>::new();
        lines.push(line.as_bytes(), |_| panic!("no line has ended"));
        assert_eq!(lines.finish().expect("a line").0, expected, "{line}");
    }

    #[test]
    fn each_type_is_read_with_its_fields() {
        check(r#"{"type":"thread.started","thread_id":"t1"}"#, Event::ThreadStarted(Some("t1")));
        check(r#"{"type":"turn.started"}"#, Event::TurnStarted);
        check(r#"{"type":"turn.completed","usage":{"output_tokens":20}}"#, Event::TurnCompleted(Some(20)));
        check(r#"{"type":"turn.failed","error":{"message":"x"}}"#, Event::TurnFailed(Some("x")));
        check(
            r#"{"type":"error","message":"Reconnecting... 1/2"}"#,
            Event::Error(Some("Reconnecting... 1/2")),
        );
        check(
            r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"ok"}}"#,
            Event::AgentMessage { text: "ok", whole: true },
        );
        check(r#"{"type":"handoff.completed","elapsed_seconds":0}"#, Event::LauncherLine);
        check(r#"{"type":"handoff\u002enew"}"#, Event::LauncherLine);
    }

    #[test]
    fn odd_fields_and_unknown_types_are_ordinary() {
        check(r#"{"type":"thread.started","thread_id":7}"#, Event::ThreadStarted(None));
        check(r#"{"type":"turn.completed"}"#, Event::TurnCompleted(None));
        check(r#"{"type":"turn.completed","usage":null}"#, Event::TurnCompleted(None));
        check(r#"{"type":"turn.completed","usage":{"output_tokens":"7"}}"#, Event::TurnCompleted(None));
        let zeros = r#"{"input_tokens":0,"cached_input_tokens":0,"output_tokens":0}"#;
        check(&format!(r#"{{"type":"turn.completed","usage":{zeros}}}"#), Event::TurnCompleted(None));
        check(
            r#"{"type":"turn.completed","usage":{"input_tokens":9,"output_tokens":0}}"#,
            Event::TurnCompleted(Some(0)),
        );
        for (digits, tokens) in [("7.0", Some(7)), ("1e3", Some(1000)), ("1.5", None), ("-1", None)] {
            let line = format!(r#"{{"type":"turn.completed","usage":{{"output_tokens":{digits}}}}}"#);
            check(&line, Event::TurnCompleted(tokens));
        }
        check(r#"{"type":"turn.failed","error":null}"#, Event::TurnFailed(None));
        check(r#"{"type":"item.completed","item":null}"#, Event::Other);
        check(r#"{"type":"item.plan.delta"}"#, Event::Other);
        check(r#"{"type":null}"#, Event::Other);
        check(r#"{"item":{"type":"handoff.completed"}}"#, Event::Other);
        check("{}", Event::Other);
    }

    #[test]
    fn what_is_no_object_is_named() {
        check(" \r", Event::Blank);
        check("[]", Event::NotObject);
        check("{}{}", Event::Malformed);
    }

    #[test]
    fn a_message_beyond_the_cap_says_so() {
        let text = "x".repeat(MESSAGE_CAP + 1);
        check(
            &format!(r#"{{"type":"item.completed","item":{{"type":"agent_message","text":"{text}"}}}}"#),
            Event::AgentMessage { text: &text[..MESSAGE_CAP], whole: false },
        );
    }
}
