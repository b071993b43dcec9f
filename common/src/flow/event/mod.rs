//! What a line of the stream is, and every key that we read.
//!
//! Reading cannot fail on meaning: a type this page does not know is [`Event::Other`], a missing or odd field is
//! `None`, and what is not a JSON object has its own values. The shapes are those of `codex exec --json` 0.98.0,
//! 0.156.1 and 0.171.0.

mod inside;
mod item;
mod lists;
mod outline;
mod usage_event;
mod views;

use super::number;
use super::scan::{Found, Scan, Scanner, Value, Want};
use super::stream::View;

pub use item::{Item, Kind, Phase, Text};
pub use lists::{
    Change, Step, agent_messages, agents, changes, last_output, steps, tool_failure, usage_numbers,
};
pub(super) use outline::launcher_fields;
pub use outline::{Outline, Scalar};
pub use usage_event::UsageEvent;
pub use views::{EventLines, Sentinels, UsageLines};

/// How much of a message is kept: an agent message as long as this is kept whole.
pub const MESSAGE_CAP: usize = 1 << 20;

/// What the types of a launcher's lines begin with.
const HANDOFF: &[u8] = b"handoff.";

/// How much of a failure message is kept, in bytes.
pub const FAILURE_CAP: usize = 4096;

const TYPE: usize = 0;
const REASON: usize = 1;
const RC: usize = 2;
const ELAPSED_SECONDS: usize = 3;
const OUTPUT_TOKENS: usize = 4;
const LINGERED: usize = 5;
const CAUSE: usize = 6;
const RETRY_AT: usize = 8;
const THREAD_ID: usize = 9;
const ITEM_TYPE: usize = 10;
const ITEM_STATUS: usize = 11;
const ITEM_COMMAND: usize = 12;
const ITEM_SERVER: usize = 13;
const ITEM_TOOL: usize = 14;
const MESSAGE: usize = 15;
const ERROR_MESSAGE: usize = 16;
const ITEM_TEXT: usize = 17;
const USAGE_OUTPUT_TOKENS: usize = 18;
const USAGE_INPUT_TOKENS: usize = 19;
const ITEM_ID: usize = 20;
const ITEM_EXIT_CODE: usize = 21;
const ITEM_MESSAGE: usize = 22;

/// Those of a launcher's line come first (some are read as a row alone, and have no name), then whose run it is, then what an
/// agent does but not what it says, so that
/// who reads nothing else can have a scanner of their own.
static WANTS: [Want; 23] = [
    Want { path: &["type"], cap: 64 },
    Want { path: &["reason"], cap: 64 },
    Want { path: &["rc"], cap: 32 },
    Want { path: &["elapsed_seconds"], cap: 32 },
    Want { path: &["output_tokens"], cap: 32 },
    Want { path: &["lingered"], cap: 0 },
    Want { path: &["cause"], cap: 64 },
    Want { path: &["retry"], cap: 64 },
    Want { path: &["retry_at"], cap: 64 },
    Want { path: &["thread_id"], cap: 1024 },
    Want { path: &["item", "type"], cap: 64 },
    Want { path: &["item", "status"], cap: 64 },
    Want { path: &["item", "command"], cap: 4096 },
    Want { path: &["item", "server"], cap: 256 },
    Want { path: &["item", "tool"], cap: 256 },
    Want { path: &["message"], cap: FAILURE_CAP },
    Want { path: &["error", "message"], cap: FAILURE_CAP },
    Want { path: &["item", "text"], cap: MESSAGE_CAP },
    Want { path: &["usage", "output_tokens"], cap: 32 },
    Want { path: &["usage", "input_tokens"], cap: 32 },
    Want { path: &["item", "id"], cap: 128 },
    Want { path: &["item", "exit_code"], cap: 32 },
    Want { path: &["item", "message"], cap: FAILURE_CAP },
];

/// A scanner that keeps what [`Event::of`] and [`Handoff::of`] read.
pub fn scanner() -> Scanner {
    Scanner::new(&WANTS)
}

/// A scanner that keeps what [`Event::of_turns`] and [`Handoff::of`] read.
pub fn turn_scanner() -> Scanner {
    Scanner::new(&WANTS[..=USAGE_INPUT_TOKENS])
}

/// A scanner that keeps what [`Handoff::of`] reads, and no more.
pub fn handoff_scanner() -> Scanner {
    Scanner::new(<Sentinels as View>::WANTS)
}

/// A scanner that keeps what [`Handoff::of`] and [`Outline::of`] read, and no text of a message.
pub fn outline_scanner() -> Scanner {
    Scanner::new(&WANTS[..=ITEM_TOOL])
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
    /// A type that begins with `handoff.`: a launcher's word, never Codex's. [`Handoff`] has what it says.
    Handoff,
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
    /// Reads the event from a line that a [`scanner`] has scanned.
    pub fn of(scan: Scan<'a>) -> Event<'a> {
        match (scan, Event::of_turns(scan)) {
            (Scan::Object(found), Event::Other) => {
                let phase = text(found, TYPE).and_then(Phase::named);
                phase.and_then(|phase| Item::of(phase, found)).map_or(Event::Other, Event::Item)
            }
            (_, event) => event,
        }
    }

    /// The same for who has no use for [`Event::Item`], which takes a third of the time: such a line is
    /// [`Event::Other`]. A [`turn_scanner`] will do.
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
            handoff if handoff.starts_with(HANDOFF) => Event::Handoff,
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

/// The fields of a line whose type begins with `handoff.`, each where it is there and of its kind. Texts are cut at
/// 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handoff<'a> {
    /// The whole type.
    pub kind: &'a str,
    /// `reason`
    pub reason: Option<&'a str>,
    /// `rc`
    pub rc: Option<u64>,
    /// `elapsed_seconds`
    pub elapsed_seconds: Option<u64>,
    /// `output_tokens`
    pub output_tokens: Option<u64>,
    /// Whether `lingered` is true.
    pub lingered: bool,
    /// `cause`
    pub cause: Option<&'a str>,
}

impl<'a> Handoff<'a> {
    /// Reads the fields of a line that a [`scanner`] or a [`handoff_scanner`] has scanned, if it has such a type.
    pub fn of(scan: Scan<'a>) -> Option<Handoff<'a>> {
        let Scan::Object(found) = scan else { return None };
        found.word(TYPE).filter(|kind| kind.starts_with(HANDOFF))?;
        let kind = text(found, TYPE)?;
        Some(Handoff {
            kind,
            reason: text(found, REASON),
            rc: whole_number(found, RC),
            elapsed_seconds: whole_number(found, ELAPSED_SECONDS),
            output_tokens: whole_number(found, OUTPUT_TOKENS),
            lingered: found.get(LINGERED) == Some(Value::Bool(true)),
            cause: text(found, CAUSE),
        })
    }
}

fn text<'a>(found: Found<'a>, want: usize) -> Option<&'a str> {
    match found.get(want) {
        Some(Value::Text { text, .. }) => Some(text),
        _ => None,
    }
}

/// `usage.output_tokens`, unless the usage is all zeros. Cached input is a part of the input, and reasoning of the
/// output, so these two say whether it is.
fn output_tokens(found: Found<'_>) -> Option<u64> {
    let is_zero = |want| matches!(whole_number(found, want), None | Some(0));
    whole_number(found, USAGE_OUTPUT_TOKENS)
        .filter(|_| !(is_zero(USAGE_OUTPUT_TOKENS) && is_zero(USAGE_INPUT_TOKENS)))
}

/// A number as every filter counts it: see [`number::whole`].
fn whole_number(found: Found<'_>, want: usize) -> Option<u64> {
    match found.get(want) {
        Some(Value::Number(Some(digits))) => number::whole(digits),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Event<'_>) {
        let mut scanner = scanner();
        scanner.push(line.as_bytes());
        assert_eq!(Event::of(scanner.finish()), expected, "{line}");
        let mut scanner = turn_scanner();
        scanner.push(line.as_bytes());
        assert_eq!(Event::of_turns(scanner.finish()), expected, "{line}");
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
        check(r#"{"type":"handoff.completed","elapsed_seconds":0}"#, Event::Handoff);
        check(r#"{"type":"handoff\u002enew"}"#, Event::Handoff);
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
