//! A finished progress file.

use std::path::Path;

use serde_json::Value;

/// The events of a progress file and its sentinel.
#[derive(Debug)]
pub(crate) struct Progress {
    /// The lines before the sentinel, without their LF.
    pub(crate) events: Vec<String>,
    /// The sentinel, without its LF.
    pub(crate) sentinel: String,
    value: Value,
}

impl Progress {
    /// Reads a file; see [`Progress::parse`].
    #[track_caller]
    pub(crate) fn read(file: impl AsRef<Path>) -> Progress {
        let file = file.as_ref();
        Progress::parse(&std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display())))
    }

    /// Asserts that `bytes` are whole lines of one JSON object each, and that exactly the last is a sentinel, with
    /// the keys and values that sentinels have, in their order.
    #[track_caller]
    pub(crate) fn parse(bytes: &[u8]) -> Progress {
        let text = std::str::from_utf8(bytes).expect("a progress file in UTF-8");
        let lines = text.strip_suffix('\n').unwrap_or_else(|| panic!("the last line has no LF: {text}"));
        let mut values: Vec<(&str, Value)> = lines.split('\n').map(|line| (line, object(line))).collect();
        let (sentinel, value) = values.pop().expect("a line");
        assert!(is_sentinel(&value), "the last line is no sentinel: {sentinel}");
        if let Some((line, _)) = values.iter().find(|(_, value)| is_sentinel(value)) {
            panic!("a sentinel that is not the last line: {line}");
        }
        assert_eq!(sentinel, in_order(&value), "the form of the sentinel");
        let events = values.into_iter().map(|(line, _)| line.to_owned()).collect();
        Progress { events, sentinel: sentinel.to_owned(), value }
    }

    /// The run completed.
    #[track_caller]
    pub(crate) fn completed(&self) -> &Progress {
        self.is("handoff.completed", &Value::Null, &Value::Null, &Value::Null)
    }

    /// The run failed with status `rc` and this cause; no cause is an empty one.
    #[track_caller]
    pub(crate) fn failed(&self, rc: i32, cause: &str) -> &Progress {
        let cause = if cause.is_empty() { Value::Null } else { cause.into() };
        self.is("handoff.failed", &"error".into(), &rc.into(), &cause)
    }

    /// The run failed with status `rc`, of whatever cause.
    #[track_caller]
    pub(crate) fn failed_with(&self, rc: i32) -> &Progress {
        self.is("handoff.failed", &"error".into(), &rc.into(), &self.value["cause"])
    }

    /// The run failed for this reason, which is not `error`.
    #[track_caller]
    pub(crate) fn failed_by(&self, reason: &str) -> &Progress {
        self.is("handoff.failed", &reason.into(), &Value::Null, &Value::Null)
    }

    #[track_caller]
    fn is(&self, kind: &str, reason: &Value, rc: &Value, cause: &Value) -> &Progress {
        let value = &self.value;
        let is = (&value["type"], &value["reason"], &value["rc"], &value["cause"]);
        assert_eq!(is, (&kind.into(), reason, rc, cause), "{}", self.sentinel);
        self
    }

    /// The events are these lines, byte for byte.
    #[track_caller]
    pub(crate) fn events_are<'a>(&self, expected: impl IntoIterator<Item = &'a str>) -> &Progress {
        assert_eq!(self.events, expected.into_iter().collect::<Vec<_>>());
        self
    }

    /// The last event of this type, of an item of this type.
    #[track_caller]
    pub(crate) fn last(&self, kind: &str, item: Option<&str>) -> Value {
        let of_kind = |event: &Value| event["type"] == kind && event["item"]["type"].as_str() == item;
        let last = self.events.iter().map(|line| object(line)).rfind(of_kind);
        last.unwrap_or_else(|| panic!("no {kind} {item:?}: {:#?}", self.events))
    }

    /// The `elapsed_seconds` of the sentinel.
    pub(crate) fn elapsed_seconds(&self) -> u64 {
        self.value["elapsed_seconds"].as_u64().expect("whole seconds")
    }

    /// Whether the sentinel says that Codex did not end by itself.
    pub(crate) fn lingered(&self) -> bool {
        self.value["lingered"] == true
    }

    /// The `output_tokens` of the sentinel, if it has them.
    pub(crate) fn output_tokens(&self) -> Option<u64> {
        self.value["output_tokens"].as_u64()
    }
}

#[track_caller]
fn object(line: &str) -> Value {
    match serde_json::from_str(line) {
        Ok(value @ Value::Object(_)) => value,
        Ok(_) => panic!("not an object: {line}"),
        Err(error) => panic!("{error}: {line}"),
    }
}

fn is_sentinel(value: &Value) -> bool {
    value["type"] == "handoff.completed" || value["type"] == "handoff.failed"
}

/// The causes there are.
const CAUSES: &[&str] = &[
    "auth",
    "usage-limit",
    "capacity",
    "policy",
    "context-full",
    "transport",
    "config",
    "no-thread",
    "thread-busy",
    "no-result",
    "incomplete",
    "killed",
    "spawn",
    "wrong-thread",
    "tampered",
    "refused",
    "io",
    "lost",
];

/// The sentinel as it should have been written.
#[track_caller]
fn in_order(sentinel: &Value) -> String {
    let (required, last): (&[&str], &[&str]) = match (sentinel["type"].as_str(), sentinel["reason"].as_str())
    {
        (Some("handoff.completed"), _) => (&["type", "elapsed_seconds"], &["output_tokens", "lingered"]),
        (_, Some("error")) => (&["type", "reason", "rc", "elapsed_seconds"], &["cause"]),
        _ => (&["type", "reason", "elapsed_seconds"], &["cause"]),
    };
    assert!(sentinel["elapsed_seconds"].is_u64(), "no whole seconds: {sentinel}");
    if let Some(cause) = sentinel.get("cause") {
        assert!(
            cause.as_str().is_some_and(|cause| CAUSES.contains(&cause)),
            "no cause that there is: {sentinel}"
        );
    }
    let required = required.iter().map(|key| format!("\"{key}\":{}", sentinel[*key]));
    assert!(sentinel.get("lingered").is_none_or(|lingered| *lingered == true), "{sentinel}");
    let last = last.iter().filter_map(|key| Some(format!("\"{key}\":{}", sentinel.get(*key)?)));
    format!("{{{}}}", required.chain(last).collect::<Vec<_>>().join(","))
}
