//! Output for a terminal is escaped; output for anything else is exact.
//!
//! A [`Target`] finds out once whether a descriptor is a terminal. Texts, records and streams then go through it.
//! Messages on stderr go through [`super::say`], which always escapes them.

use super::lossy_utf8::LossyUtf8;
use super::safe;
use std::borrow::Cow;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

/// The kind of output that is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A terminal.
    Terminal,
    /// A file, a pipe or a device: it gets the exact bytes.
    Other,
}

impl Target {
    /// The target behind `descriptor`.
    pub fn of(descriptor: impl AsFd) -> Target {
        if descriptor.as_fd().is_terminal() { Target::Terminal } else { Target::Other }
    }

    /// The target behind standard output.
    pub fn stdout() -> Target {
        Target::of(io::stdout())
    }

    /// A text as it is written to this target, as an answer or a table.
    pub fn text(self, text: &str) -> Cow<'_, str> {
        match self {
            Target::Terminal => safe::block(text),
            Target::Other => Cow::Borrowed(text),
        }
    }

    /// A text that need not be UTF-8, as an answer that a program left in a file.
    pub fn bytes(self, text: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Target::Terminal => Cow::Owned(safe::block(&String::from_utf8_lossy(text)).into_owned().into()),
            Target::Other => Cow::Borrowed(text),
        }
    }

    /// Lines of JSON as they are written to this target. They mean the same on each.
    pub fn records(self, records: &str) -> Cow<'_, str> {
        match self {
            Target::Terminal => safe::json(records),
            Target::Other => Cow::Borrowed(records),
        }
    }
}

/// A stream of JSON lines that passes through to a target, in chunks of any size.
///
/// A terminal gets each line as the same JSON, with control characters written as escapes. A line that is no JSON
/// is escaped in the same way, and bytes that are not UTF-8 are replaced by U+FFFD.
#[derive(Debug)]
pub struct JsonLines {
    target: Target,
    decoder: LossyUtf8,
}

impl JsonLines {
    /// A stream to `target`.
    pub fn new(target: Target) -> JsonLines {
        JsonLines { target, decoder: LossyUtf8::new() }
    }

    /// What is written for the next chunk.
    pub fn push<'a>(&mut self, chunk: &'a [u8]) -> Cow<'a, [u8]> {
        match self.target {
            Target::Terminal => Cow::Owned(safe::json(&self.decoder.push(chunk)).into_owned().into_bytes()),
            Target::Other => Cow::Borrowed(chunk),
        }
    }

    /// What is written at the end of the stream.
    pub fn end(&mut self) -> &'static [u8] {
        self.decoder.end().as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_gets_the_exact_bytes() {
        let (_reader, writer) = io::pipe().unwrap();
        let pipe = Target::of(&writer);
        assert_eq!(pipe, Target::Other);
        assert_eq!(pipe.text("\u{1b}[2J"), "\u{1b}[2J");
        assert_eq!(pipe.bytes(b"\x1b\xff"), &b"\x1b\xff"[..]);
        assert_eq!(pipe.records("{\"a\":\"\u{9b}\"}\n"), "{\"a\":\"\u{9b}\"}\n");
        let mut stream = JsonLines::new(pipe);
        assert_eq!(stream.push(b"\xe2\x82"), &b"\xe2\x82"[..]);
        assert_eq!(stream.end(), b"");
    }

    #[test]
    fn a_terminal_gets_no_control_characters() {
        let terminal = Target::Terminal;
        assert_eq!(terminal.text("a\tb\n\u{1b}[2J"), "a\tb\n\\u{1b}[2J");
        assert_eq!(terminal.bytes(b"\x1b\xff\n"), "\\u{1b}\u{fffd}\n".as_bytes());
        assert_eq!(terminal.records("{\"a\":\"\u{9b}\"}\n"), "{\"a\":\"\\u009b\"}\n");
    }

    #[test]
    fn a_stream_on_a_terminal_is_the_same_however_it_is_cut() {
        let bytes = "{\"a\":\"\u{20ac}\u{9b}\u{202e}\"}\r\nx\u{1b}\n".as_bytes();
        let bytes = [bytes, b"\xff\x80\n{\"b\":\"\xe2"].concat();
        let whole = "{\"a\":\"\u{20ac}\\u009b\\u202e\"} \nx\\u001b\n\u{fffd}\u{fffd}\n{\"b\":\"\u{fffd}";
        for size in 1..=bytes.len() {
            let mut stream = JsonLines::new(Target::Terminal);
            let mut shown: Vec<u8> =
                bytes.chunks(size).flat_map(|chunk| stream.push(chunk).into_owned()).collect();
            shown.extend_from_slice(stream.end());
            assert_eq!(String::from_utf8(shown).unwrap(), whole, "chunks of {size}");
        }
    }
}
