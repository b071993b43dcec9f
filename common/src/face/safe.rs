//! Escapes control characters for a terminal.
//!
//! Text of Codex, of a model or in a file name must not move the cursor, set the clipboard or reorder a line. Characters
//! that control a terminal are written as escapes, all others as they are.

use std::borrow::Cow;
use std::fmt::Write;

/// `text` on one line: every control character escaped, LF and TAB too.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, is_control)
}

/// `text` as a block: LF and TAB stay.
pub fn block(text: &str) -> Cow<'_, str> {
    escape(text, |c| c != '\n' && c != '\t' && is_control(c))
}

/// Lines of JSON with the same meaning: control characters are written as `\u` escapes, as JSON allows in any string. LF
/// and TAB stay. CR, which JSON allows between values alone, becomes a space.
pub fn json(lines: &str) -> Cow<'_, str> {
    escape_with(
        lines,
        |c| c != '\n' && c != '\t' && is_control(c),
        |c, out| {
            if c == '\r' {
                out.push(' ');
            } else {
                // None of them is beyond U+FFFF. A String takes all that is written to it.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
        },
    )
}

/// Whether `c` controls a terminal: C0, DEL, C1, and the bidirectional controls of Unicode (UAX 9, table 2: the
/// marks, embeddings, overrides and isolates).
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escape(text: &str, bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    escape_with(text, bad, |c, out| out.extend(c.escape_default()))
}

fn escape_with(text: &str, bad: impl Fn(char) -> bool, escaped: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(&bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if bad(c) {
            escaped(c, &mut out);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(line("a\x1b]52;c;eA==\x07b"), "a\\u{1b}]52;c;eA==\\u{7}b");
        assert_eq!(line("x\r\n\ty\u{9b}2J\u{202e}z\u{7f}"), "x\\r\\n\\ty\\u{9b}2J\\u{202e}z\\u{7f}");
        assert_eq!(block("x\r\n\ty\u{2067}"), "x\\r\n\ty\\u{2067}");
    }

    #[test]
    fn records_are_shown_as_the_same_json() {
        let value = "\u{7f}\u{9b}2J\u{202e}\u{200f}\u{e9}\u{1f680}";
        let record = format!("{{\"a\":\t\"{value}\"}}\r\n");
        let shown = json(&record);
        assert_eq!(shown, "{\"a\":\t\"\\u007f\\u009b2J\\u202e\\u200f\u{e9}\u{1f680}\"} \n");
        let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(read["a"], value);
    }

    #[test]
    fn other_text_stays_as_it_is() {
        let text = "naïve — 漢字 👩‍💻 \u{2028}";
        assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
    }
}
