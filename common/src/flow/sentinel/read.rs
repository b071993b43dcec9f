//! Which line is a sentinel, and what it says, whoever wrote it.

use super::super::event::keys::{
    CAUSE, ELAPSED_SECONDS, LINGERED, OUTPUT_TOKENS, RC, REASON, RETRY_AT, TYPE, WANTS,
};
use super::super::event::keys::{text, whole_number};
use super::super::scan::{Found, Scan, Value};
use super::{COMPLETED, FAILED};

/// A sentinel on a line that was read. A field that is missing or of another kind is `None`: a launcher may leave out
/// or add what it likes. Texts are cut at 64 bytes.
#[derive(Debug, Clone, Copy)]
pub struct ReadSentinel<'a> {
    is_completed: bool,
    found: Found<'a>,
}

impl<'a> ReadSentinel<'a> {
    /// Reads the sentinel on a line that any view of [`super::super::event`] has scanned. Other types that begin with
    /// `handoff.` are none: a later launcher may use them for lines before the end.
    pub fn of(scan: Scan<'a>) -> Option<ReadSentinel<'a>> {
        let Scan::Object(found) = scan else { return None };
        let is_completed = match found.word(TYPE)? {
            kind if kind == COMPLETED.as_bytes() => true,
            kind if kind == FAILED.as_bytes() => false,
            _ => return None,
        };
        Some(ReadSentinel { is_completed, found })
    }

    /// Whether the run completed.
    pub fn is_completed(&self) -> bool {
        self.is_completed
    }

    /// `reason`, where it is a text.
    pub fn reason(&self) -> Option<&'a str> {
        text(self.found, REASON)
    }

    /// `cause`, where it is a text.
    pub fn cause(&self) -> Option<&'a str> {
        text(self.found, CAUSE)
    }

    /// `rc`, where it is a whole number.
    pub fn rc(&self) -> Option<u64> {
        whole_number(self.found, RC)
    }

    /// `elapsed_seconds`, where it is a whole number.
    pub fn elapsed_seconds(&self) -> Option<u64> {
        whole_number(self.found, ELAPSED_SECONDS)
    }

    /// `output_tokens`, where it is a whole number.
    pub fn output_tokens(&self) -> Option<u64> {
        whole_number(self.found, OUTPUT_TOKENS)
    }

    /// Whether `lingered` is true.
    pub fn lingered(&self) -> bool {
        self.found.get(LINGERED) == Some(Value::Bool(true))
    }

    /// The fields beside `type` that a launcher is known to write, in its order. Other fields of the line are not among
    /// them.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, Value<'a>)> {
        let found = self.found;
        (TYPE + 1..=RETRY_AT).filter_map(move |want| Some((WANTS[want].path[0], found.get(want)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::event::{EventLines, Sentinels};
    use super::super::super::stream::LineReader;
    use super::*;

    /// What the sentinel on `line` says, under two views.
    fn check(line: &str, expected: Option<&str>) {
        let shown = |scan| {
            let sentinel = ReadSentinel::of(scan)?;
            let numbers = [sentinel.rc(), sentinel.elapsed_seconds(), sentinel.output_tokens()];
            let words = [sentinel.reason(), sentinel.cause()];
            Some(format!("{} {numbers:?} {words:?} {}", sentinel.is_completed(), sentinel.lingered()))
        };
        let mut lines = LineReader::<Sentinels>::new();
        lines.push(line.as_bytes(), |_| panic!("no line has ended"));
        assert_eq!(lines.finish().and_then(shown).as_deref(), expected, "{line}");
        let mut lines = LineReader::<EventLines>::new();
        lines.push(line.as_bytes(), |_| panic!("no line has ended"));
        assert_eq!(lines.finish().and_then(|(_, line)| shown(line.scan)).as_deref(), expected, "{line}");
    }

    #[test]
    fn exactly_two_types_are_sentinels() {
        check(
            r#"{"type":"handoff.completed","elapsed_seconds":7,"output_tokens":20}"#,
            Some("true [None, Some(7), Some(20)] [None, None] false"),
        );
        check(
            r#"{"type":"handoff.completed","elapsed_seconds":7,"output_tokens":20,"lingered":true}"#,
            Some("true [None, Some(7), Some(20)] [None, None] true"),
        );
        check(
            r#" {"x":{"type":"y"},"type":"handoff.completed","output_tokens":"7"}"#,
            Some("true [None, None, None] [None, None] false"),
        );
        check(
            r#"{"type":"handoff.failed","reason":"error","rc":70,"elapsed_seconds":0,"cause":"no-result"}"#,
            Some("false [Some(70), Some(0), None] [Some(\"error\"), Some(\"no-result\")] false"),
        );
        check(
            r#"{"type":"handoff.failed","reason":null,"rc":-1}"#,
            Some("false [None, None, None] [None, None] false"),
        );
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
        ] {
            check(line, None);
        }
    }

    #[test]
    fn the_fields_are_those_of_a_launcher_in_its_order() {
        let line = r#"{"message":"x","cause":"killed","elapsed_seconds":1.50,"rc":null,"reason":"error","type":"handoff.failed"}"#;
        let mut lines = LineReader::<Sentinels>::new();
        lines.push(line.as_bytes(), |_| panic!("no line has ended"));
        let sentinel = lines.finish().and_then(ReadSentinel::of).expect("a sentinel");
        let text = |text| Value::Text { text, whole: true };
        assert_eq!(
            sentinel.fields().collect::<Vec<_>>(),
            [
                ("reason", text("error")),
                ("rc", Value::Null),
                ("elapsed_seconds", Value::Number(Some("1.50"))),
                ("cause", text("killed"))
            ]
        );
    }
}
