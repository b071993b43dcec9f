//! The sentinel of an agent, as records and the table show it.
//!
//! Another program than `codex-launch` may have written it, with anything beside its type. So a text is kept only when it is
//! one word or a time, and fields that no launcher is known to write are left out.

use common::flow::scan::Value;
use common::flow::sentinel::{COMPLETED, FAILED, ReadSentinel};

/// A sentinel without anything that an agent said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedSentinel {
    is_completed: bool,
    reason: Option<Box<str>>,
    cause: Option<Box<str>>,
    json: Box<str>,
}

impl WatchedSentinel {
    /// Keeps what may be shown of a sentinel that was read.
    pub fn of(sentinel: &ReadSentinel<'_>) -> WatchedSentinel {
        let is_completed = sentinel.is_completed();
        let word = |wanted| sentinel.fields().find_map(|(key, value)| word(value).filter(|_| key == wanted));
        let fields =
            sentinel.fields().filter_map(|(key, value)| Some(format!(",\"{key}\":{}", shown(value)?)));
        let kind = if is_completed { COMPLETED } else { FAILED };
        WatchedSentinel {
            is_completed,
            reason: word("reason").map(Box::from),
            cause: word("cause").map(Box::from),
            json: format!("{{\"type\":\"{kind}\"{}}}", fields.collect::<String>()).into(),
        }
    }

    /// The one for an agent that has no sentinel when its time is up.
    pub fn missing() -> WatchedSentinel {
        WatchedSentinel::failed("no-sentinel")
    }

    /// The one for an agent whose file does not appear.
    pub fn not_started() -> WatchedSentinel {
        WatchedSentinel::failed("not-started")
    }

    fn failed(reason: &str) -> WatchedSentinel {
        WatchedSentinel {
            is_completed: false,
            reason: Some(reason.into()),
            cause: None,
            json: format!("{{\"type\":\"{FAILED}\",\"reason\":\"{reason}\"}}").into(),
        }
    }

    /// Whether the run completed.
    pub fn is_completed(&self) -> bool {
        self.is_completed
    }

    /// `reason`, where it is one word.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// `cause`, where it is one word.
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// The sentinel as a JSON object.
    pub fn json(&self) -> &str {
        &self.json
    }
}

/// A value as JSON, where it may be shown.
fn shown(value: Value<'_>) -> Option<String> {
    Some(match value {
        Value::Null => "null".to_owned(),
        Value::Bool(yes) => yes.to_string(),
        Value::Number(digits) => digits?.to_owned(),
        Value::Text { text, whole: true } if is_word(text) || is_time(text) => format!("\"{text}\""),
        Value::Text { .. } | Value::Object | Value::Array => return None,
    })
}

/// The text of a value that is one word.
fn word(value: Value<'_>) -> Option<&str> {
    match value {
        Value::Text { text, whole: true } if is_word(text) => Some(text),
        _ => None,
    }
}

/// Whether a text is one word of ASCII letters, digits, `-`, `_` and `.`, as every status, reason and cause is.
pub fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Whether a text may be a time (RFC 3339), which has no letters but T and Z.
fn is_time(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || "TZ:.+-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{WatchedLine, WatchedLines};
    use common::flow::stream::LineReader;

    fn read(line: &str) -> Option<WatchedSentinel> {
        let mut lines = LineReader::<WatchedLines>::new();
        lines.push(line.as_bytes(), |_| panic!("no line has ended"));
        match lines.finish() {
            Some(WatchedLine::Sentinel(sentinel)) => Some(sentinel),
            _ => None,
        }
    }

    #[test]
    fn a_sentinel_is_shown_without_what_an_agent_may_have_said() {
        for (line, json) in [
            (
                r#"{"message":"x","cause":"killed","elapsed_seconds":1.50,"rc":null,"reason":"error","type":"handoff.failed"}"#,
                r#"{"type":"handoff.failed","reason":"error","rc":null,"elapsed_seconds":1.50,"cause":"killed"}"#,
            ),
            (
                r#"{"type":"handoff.failed","reason":"error","cause":"usage-limit","retry":"later","retry_at":"2026-01-31T09:05:00Z"}"#,
                r#"{"type":"handoff.failed","reason":"error","cause":"usage-limit","retry":"later","retry_at":"2026-01-31T09:05:00Z"}"#,
            ),
            (
                r#"{"type":"handoff.completed","elapsed_seconds":3,"lingered":true}"#,
                r#"{"type":"handoff.completed","elapsed_seconds":3,"lingered":true}"#,
            ),
            (
                r#"{"type":"handoff.completed","reason":"what I said","cause":{"a":1},"rc":[1]}"#,
                r#"{"type":"handoff.completed"}"#,
            ),
        ] {
            assert_eq!(read(line).expect("a sentinel").json(), json);
        }
        assert_eq!(read(r#"{"type":"handoff.started"}"#), None);
    }

    #[test]
    fn reason_and_cause_are_words() {
        let sentinel =
            |fields| read(&format!(r#"{{"type":"handoff.failed",{fields}}}"#)).expect("a sentinel");
        let words = |fields| {
            let sentinel = sentinel(fields);
            (sentinel.reason().map(str::to_owned), sentinel.cause().map(str::to_owned))
        };
        let both = Some("error".to_owned()).zip(Some("killed".to_owned()));
        let (reason, cause) = both.unzip();
        assert_eq!(words(r#""reason":"error","cause":"killed""#), (reason, cause));
        assert_eq!(words(r#""reason":"what I said","cause":7"#), (None, None));
        assert_eq!(WatchedSentinel::missing().json(), r#"{"type":"handoff.failed","reason":"no-sentinel"}"#);
    }
}
