//! The scanner: one line in parts, a verdict and a few kept values out.
//!
//! It checks that a line is exactly one JSON object in valid UTF-8 (RFC 8259) and keeps the values at the wanted
//! paths, up to a cap each; the rest is checked and passed over. It never needs the line in one piece.

/// A value to keep.
#[derive(Debug, Clone, Copy)]
pub struct Want {
    /// The keys from the top of the line down to the value, one to three of them, none through an array.
    pub path: &'static [&'static str],
    /// How many bytes of decoded text (or of a number's digits) are kept; a longer text is cut at a character.
    pub cap: usize,
}

/// What a line is.
#[derive(Debug, Clone, Copy)]
pub enum Scan<'a> {
    /// Nothing but JSON white space (a CR before the LF is white space).
    Blank,
    /// One JSON object.
    Object(Found<'a>),
    /// Valid JSON text that is not an object.
    NotObject,
    /// Anything else.
    Malformed,
}

/// A kept value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it was written; `None` when it was longer than the cap.
    Number(Option<&'a str>),
    /// A string, decoded; an unpaired surrogate escape is U+FFFD. `whole` is false when the cap cut it.
    Text { text: &'a str, whole: bool },
    /// An object; nothing of it is kept here.
    Object,
    /// An array; nothing of it is kept.
    Array,
}

/// The kept values of one line, by their place in the table of wants.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    scanner: &'a Scanner,
}

impl<'a> Found<'a> {
    /// The value of want number `want`; `None` when the line has no such key.
    /// Of duplicate keys the first counts when the key is `id`, the last otherwise.
    pub fn get(&self, want: usize) -> Option<Value<'a>> {
        let _ = (want, self.scanner);
        todo!()
    }
}

/// The state of one line between its parts.
#[derive(Debug)]
pub struct Scanner {
    wants: &'static [Want],
}

impl Scanner {
    /// A scanner that keeps the values of `wants`. The first line it is given may begin with a BOM.
    pub fn new(wants: &'static [Want]) -> Scanner {
        Scanner { wants }
    }

    /// Takes more of the current line: any bytes but LF.
    pub fn push(&mut self, part: &[u8]) {
        let _ = (part, self.wants);
        todo!()
    }

    /// Whether the current line can no longer become valid JSON, whatever follows.
    pub fn is_malformed(&self) -> bool {
        todo!()
    }

    /// Ends the line; the next `push` or `finish` is about a new one.
    pub fn finish(&mut self) -> Scan<'_> {
        todo!()
    }
}
