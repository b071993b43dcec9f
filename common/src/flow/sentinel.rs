//! The last line of a progress file: that the run is over, and how.

use super::cause::Cause;
use super::event::{self, Handoff, Scalar};
use super::scan::{Found, Scan};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sentinel {
    /// It completed.
    Completed {
        /// Whole seconds since Codex started, rounded down.
        elapsed_seconds: u64,
        /// The thread's total as the last completed turn said it.
        output_tokens: Option<u64>,
        /// Whether Codex had to be ended because it did not end by itself.
        lingered: bool,
    },
    /// It failed.
    Failed {
        /// In which of the three ways.
        reason: Reason,
        /// Whole seconds since Codex started, rounded down.
        elapsed_seconds: u64,
        /// What it failed of, where that is known.
        cause: Option<Cause>,
    },
}

/// The three ways of failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The time limit.
    Timeout,
    /// Anything that went wrong; `rc` is the launcher's exit status.
    Error {
        /// The launcher's exit status.
        rc: u8,
    },
    /// A signal to the launcher.
    Cancelled,
}

/// A sentinel as its readers find it, whoever wrote it. What they need not understand may be missing or odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading<'a> {
    /// How the run ended.
    pub outcome: Outcome<'a>,
    /// `elapsed_seconds`, where it is a whole number.
    pub elapsed_seconds: Option<u64>,
}

/// How a run ended, as its sentinel says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// `handoff.completed`
    Completed {
        /// `output_tokens`, where it is a whole number.
        output_tokens: Option<u64>,
        /// Whether `lingered` is true.
        lingered: bool,
    },
    /// `handoff.failed`
    Failed {
        /// `reason`, where it is a text.
        reason: Option<&'a str>,
        /// `rc`, where it is a whole number.
        rc: Option<u64>,
        /// `cause`, where it is a text.
        cause: Option<&'a str>,
    },
}

impl<'a> Reading<'a> {
    /// Reads the sentinel from a line that a scanner of [`super::event`] has scanned. Types that merely begin with
    /// `handoff.` are none: tomorrow's launcher may have more to say before it ends.
    pub fn of(scan: Scan<'a>) -> Option<Reading<'a>> {
        let handoff = Handoff::of(scan)?;
        let outcome = match handoff.kind {
            "handoff.completed" => {
                Outcome::Completed { output_tokens: handoff.output_tokens, lingered: handoff.lingered }
            }
            "handoff.failed" => {
                Outcome::Failed { reason: handoff.reason, rc: handoff.rc, cause: handoff.cause }
            }
            _ => return None,
        };
        Some(Reading { outcome, elapsed_seconds: handoff.elapsed_seconds })
    }

    /// Whether the run completed.
    pub fn is_completed(&self) -> bool {
        matches!(self.outcome, Outcome::Completed { .. })
    }
}

/// A sentinel as it is shown to others: what launchers are known to write, as it was read, and nothing else.
///
/// A file may come from a launcher that is not ours, and a line that has the type of a sentinel may have anything
/// beside it. So a string is kept only where it is a word, and unknown keys are not kept at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    completed: bool,
    /// In the order in which launchers write them.
    fields: Vec<(&'static str, Field)>,
}

/// The value of a field of a [`Shown`] sentinel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    /// `null`, `true`, `false`, or the digits of a number.
    Bare(Box<str>),
    /// A word: ASCII letters, digits, `-`, `_`, `.`, as in every reason and cause of a launcher; or a time as in
    /// `retry_at`.
    Word(Box<str>),
}

impl Shown {
    /// Reads it from an object that a scanner of [`super::event`] has scanned, if that is a sentinel.
    pub fn of(found: Found<'_>) -> Option<Shown> {
        let completed = Reading::of(Scan::Object(found))?.is_completed();
        let fields = event::launcher_fields(found).filter_map(|(key, value)| Some((key, Field::of(value)?)));
        Some(Shown { completed, fields: fields.collect() })
    }

    /// The one that stands for a sentinel that did not come.
    pub fn missing() -> Shown {
        Shown::failed("no-sentinel")
    }

    /// The one that stands for the sentinel of a run that did not begin.
    pub fn not_started() -> Shown {
        Shown::failed("not-started")
    }

    fn failed(reason: &str) -> Shown {
        Shown { completed: false, fields: vec![("reason", Field::Word(reason.into()))] }
    }

    /// Whether the run completed.
    pub fn is_completed(&self) -> bool {
        self.completed
    }

    /// `reason`, where it is a word.
    pub fn reason(&self) -> Option<&str> {
        self.word("reason")
    }

    /// `cause`, where it is a word.
    pub fn cause(&self) -> Option<&str> {
        self.word("cause")
    }

    fn word(&self, wanted: &str) -> Option<&str> {
        self.fields.iter().find_map(|(key, value)| match value {
            Field::Word(word) if *key == wanted => Some(&**word),
            _ => None,
        })
    }

    /// What it has beside its type, each key with its value.
    pub fn fields(&self) -> &[(&'static str, Field)] {
        &self.fields
    }
}

impl Field {
    fn of(value: Scalar<'_>) -> Option<Field> {
        Some(match value {
            Scalar::Null => Field::Bare("null".into()),
            Scalar::Bool(yes) => Field::Bare(yes.to_string().into()),
            Scalar::Number(digits) => Field::Bare(digits.into()),
            Scalar::Text(text) if is_word(text) || is_time(text) => Field::Word(text.into()),
            Scalar::Text(_) => return None,
        })
    }
}

/// Whether a text is one word, which can say no more than a status or a reason does.
pub fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Whether a text may be a time (RFC 3339), which has no letter but T and Z.
fn is_time(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || "TZ:.+-".contains(c))
}

/// Whether a stream has come to its sentinel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Not yet.
    Open,
    /// Its last line, but for blank ones, is its only sentinel.
    Settled {
        /// Whether the run completed.
        completed: bool,
    },
    /// There was a sentinel, and there are lines after it.
    Overrun,
}

impl Standing {
    /// How it is after one more whole line, which a scanner of [`super::event`] has scanned.
    pub fn after(self, line: Scan<'_>) -> Standing {
        match (self, line) {
            (_, Scan::Blank) => self,
            (Standing::Open, _) => match Reading::of(line) {
                Some(reading) => Standing::Settled { completed: reading.is_completed() },
                None => Standing::Open,
            },
            (Standing::Settled { .. } | Standing::Overrun, _) => Standing::Overrun,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(line: &str, expected: Option<Outcome<'_>>) {
        for mut scanner in [event::scanner(), event::handoff_scanner()] {
            scanner.push(line.as_bytes());
            assert_eq!(Reading::of(scanner.finish()).map(|reading| reading.outcome), expected, "{line}");
        }
    }

    #[test]
    fn exactly_two_types_are_sentinels() {
        let completed = |output_tokens| Some(Outcome::Completed { output_tokens, lingered: false });
        let failed = |reason, rc, cause| Some(Outcome::Failed { reason, rc, cause });
        outcome(
            r#"{"type":"handoff.completed","elapsed_seconds":7,"output_tokens":20}"#,
            completed(Some(20)),
        );
        outcome(
            r#"{"type":"handoff.completed","elapsed_seconds":7,"output_tokens":20,"lingered":true}"#,
            Some(Outcome::Completed { output_tokens: Some(20), lingered: true }),
        );
        outcome(r#" {"x":{"type":"y"},"type":"handoff.completed","output_tokens":"7"}"#, completed(None));
        outcome(
            r#"{"type":"handoff.failed","reason":"error","rc":70,"elapsed_seconds":0,"cause":"no-result"}"#,
            failed(Some("error"), Some(70), Some("no-result")),
        );
        outcome(r#"{"type":"handoff.failed","reason":null,"rc":-1}"#, failed(None, None, None));
        for line in [
            r#"{"type":"handoff.started"}"#,
            r#"{"type":"handoff.completed2"}"#,
            r#"{"type":"Handoff.completed"}"#,
            r#"{"type":["handoff.completed"]}"#,
            r#"{"item":{"type":"handoff.completed"}}"#,
            r#"{"type":"item.completed","item":{"text":"{\"type\":\"handoff.completed\"}"}}"#,
            r#"[{"type":"handoff.completed"}]"#,
            r#"{"type":"handoff.completed"}}"#,
            r#"{"type":"handoff.completed""#,
            "",
        ] {
            outcome(line, None);
        }
    }

    #[test]
    fn a_stream_is_settled_by_a_sentinel_that_nothing_follows() {
        let after = |lines: &[&str]| {
            lines.iter().fold(Standing::Open, |standing, line| {
                let mut scanner = event::handoff_scanner();
                scanner.push(line.as_bytes());
                standing.after(scanner.finish())
            })
        };
        let (c, f) = (r#"{"type":"handoff.completed"}"#, r#"{"type":"handoff.failed"}"#);
        assert_eq!(after(&["{}", "[", "\r"]), Standing::Open);
        assert_eq!(after(&["{}", c, ""]), Standing::Settled { completed: true });
        assert_eq!(after(&[f]), Standing::Settled { completed: false });
        for overrun in [&[c, c][..], &[c, f], &[c, "{}"], &[c, "["], &[c, "{}", c]] {
            assert_eq!(after(overrun), Standing::Overrun);
        }
    }

    #[test]
    fn a_sentinel_is_shown_as_it_was_read_without_what_may_be_private() {
        let shown = |line: &str| {
            let mut scanner = event::outline_scanner();
            scanner.push(line.as_bytes());
            let Scan::Object(found) = scanner.finish() else { panic!("{line}") };
            Shown::of(found)
        };
        let word = |text: &str| Field::Word(text.into());
        let bare = |text: &str| Field::Bare(text.into());
        let failed = shown(
            r#"{"message":"x","cause":"killed","elapsed_seconds":1.50,"rc":null,"reason":"error","type":"handoff.failed"}"#,
        );
        let failed = failed.expect("a sentinel");
        assert_eq!(
            failed.fields(),
            [
                ("reason", word("error")),
                ("rc", bare("null")),
                ("elapsed_seconds", bare("1.50")),
                ("cause", word("killed"))
            ]
        );
        assert_eq!((failed.is_completed(), failed.reason()), (false, Some("error")));
        assert_eq!(failed.cause(), Some("killed"));
        let later = r#"{"type":"handoff.failed","reason":"error","cause":"usage-limit","retry":"later","retry_at":"2026-01-31T09:05:00Z"}"#;
        let later = shown(later).expect("a sentinel");
        assert_eq!(
            later.fields()[2..],
            [("retry", word("later")), ("retry_at", word("2026-01-31T09:05:00Z"))]
        );
        let lingered = shown(r#"{"type":"handoff.completed","elapsed_seconds":3,"lingered":true}"#);
        assert_eq!(lingered.expect("a sentinel").fields()[1], ("lingered", bare("true")));
        let odd = shown(r#"{"type":"handoff.completed","reason":"what I said","cause":{"a":1},"rc":[1]}"#);
        assert_eq!(odd, Some(Shown { completed: true, fields: vec![] }));
        assert_eq!(shown(r#"{"type":"handoff.started"}"#), None);
    }
}
