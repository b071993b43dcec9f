//! Where a sentinel may stand: on the last line, and nowhere else.

use super::super::scan::Scan;
use super::ReadSentinel;

/// Where the sentinel of a stream stands, after the lines so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// There is none.
    #[default]
    Missing,
    /// It is the last line, but for blank ones, and the only sentinel.
    Last {
        /// Whether the run completed.
        is_completed: bool,
    },
    /// Lines stand behind it.
    NotLast,
}

impl Position {
    /// The position after one more whole line, as a reader of [`super::super::event::Sentinels`] gives it.
    pub fn after(self, line: Scan<'_>) -> Position {
        match (self, line) {
            (_, Scan::Blank) => self,
            (Position::Missing, _) => match ReadSentinel::of(line) {
                Some(sentinel) => Position::Last { is_completed: sentinel.is_completed() },
                None => Position::Missing,
            },
            (Position::Last { .. } | Position::NotLast, _) => Position::NotLast,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::event::Sentinels;
    use super::super::super::stream::LineReader;
    use super::*;

    #[test]
    fn only_a_sentinel_that_nothing_follows_is_the_last_line() {
        let after = |lines: &[&str]| {
            let mut position = Position::Missing;
            let text = lines.join("\n") + "\n";
            LineReader::<Sentinels>::new().push(text.as_bytes(), |line| position = position.after(line));
            position
        };
        let (c, f) = (r#"{"type":"handoff.completed"}"#, r#"{"type":"handoff.failed"}"#);
        assert_eq!(after(&["{}", "[", "\r"]), Position::Missing);
        assert_eq!(after(&["{}", c, ""]), Position::Last { is_completed: true });
        assert_eq!(after(&[f]), Position::Last { is_completed: false });
        for lines in [&[c, c][..], &[c, f], &[c, "{}"], &[c, "["], &[c, "{}", c]] {
            assert_eq!(after(lines), Position::NotLast);
        }
    }
}
