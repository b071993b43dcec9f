//! An incremental JSON scanner: it takes a line in parts and gives a verdict and the wanted values.
//!
//! It checks that a line is exactly one JSON object in valid UTF-8 (RFC 8259) and keeps the values at the wanted
//! paths, up to a cap each. Everything else is checked and skipped. A line may come in parts of any size. Memory is
//! taken for the kept values, the longest wanted key, and one bit for each open object or array.
//!
//! The tests compare it with serde_json. It differs from `serde_json::Value` in these points:
//!
//! - Of duplicate keys the first counts when the key is `id`, the last otherwise (serde_json: the last).
//! - An unpaired surrogate escape is valid and becomes U+FFFD (serde_json: an error). RFC 8259 section 8.2 leaves
//!   it open, and Codex cuts long outputs without regard for pairs.
//! - Nesting is limited to [`DEPTH_LIMIT`] (serde_json: 127); deeper is malformed.
//! - A number keeps its digits, however many, and has no range (serde_json: an error above the range of `f64`).
//! - A BOM may begin the first line.

mod block;
mod byte_path;
mod container_stack;
mod drive;
mod escape;
mod fast_path;
mod grammar;
mod keys;
mod machine;
mod number;
mod prefix;
mod string;
mod text;
mod utf8;
mod values;

use super::line::{Piece, pieces};
use grammar::Ending;
use machine::Machine;
use utf8::Utf8Checker;

pub use container_stack::DEPTH_LIMIT;

/// A value to keep.
#[derive(Debug, Clone, Copy)]
pub struct Want {
    /// The keys from the top of the line down to the value, one to three of them, none through an array.
    pub path: &'static [&'static str],
    /// The maximum bytes of decoded text, or of a number's digits, that are kept. A longer text is cut at a character.
    pub cap: usize,
}

/// The verdict on a line.
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
    /// A string, decoded; an unpaired surrogate escape is U+FFFD.
    Text {
        /// The text, or its beginning.
        text: &'a str,
        /// False when the cap cut it.
        whole: bool,
    },
    /// An object; nothing of it is kept here.
    Object,
    /// An array; nothing of it is kept.
    Array,
}

/// The kept values of one line.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    scanner: &'a Scanner,
}

impl<'a> Found<'a> {
    /// The value of want number `want`; `None` when the line has no such key.
    /// Of duplicate keys the first counts when the key is `id`, the last otherwise.
    ///
    /// # Panics
    ///
    /// When the table has no such want.
    pub fn get(&self, want: usize) -> Option<Value<'a>> {
        self.scanner.machine.values.get(want)
    }

    /// The bytes of want number `want`, when it is a string. Faster than [`Found::get`], and enough for a comparison.
    ///
    /// # Panics
    ///
    /// When the table has no such want.
    #[inline]
    pub fn word(&self, want: usize) -> Option<&'a [u8]> {
        self.scanner.machine.values.text_bytes(want)
    }
}

/// The state of one line between its parts.
#[derive(Debug)]
pub struct Scanner {
    machine: Machine,
    utf8: Utf8Checker,
    /// The number of bytes of a BOM at the beginning of the first line. 3 when none can follow any more.
    bom: usize,
    /// True from `finish` to the next call, while the values of the line may be read.
    finished: bool,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

impl Scanner {
    /// A scanner that keeps the values of `wants`. Its first line may begin with a BOM.
    ///
    /// # Panics
    ///
    /// When a path has no key, more than three keys, or stands in the table twice, and when there are more than 64
    /// different keys and beginnings of paths.
    pub fn new(wants: &'static [Want]) -> Scanner {
        Scanner { machine: Machine::new(wants), utf8: Utf8Checker::default(), bom: 0, finished: false }
    }

    /// Drops the current line. The next one is the first of another input, and may begin with a BOM.
    pub fn start_over(&mut self) {
        self.finished = true;
        self.begin();
        self.bom = 0;
    }

    /// Takes more of the current line: any bytes but LF.
    pub fn push(&mut self, part: &[u8]) {
        self.begin();
        let part = if self.bom < BOM.len() { self.after_bom(part) } else { part };
        if self.machine.is_malformed() {
            return;
        }
        let ascii = self.machine.push(part);
        self.check(ascii, part);
    }

    /// Checks the UTF-8 of a part that the machine has taken.
    fn check(&mut self, ascii: bool, part: &[u8]) {
        if (!ascii || self.utf8.is_open()) && !self.utf8.push(part) {
            self.machine.set_malformed();
        }
    }

    /// Takes the next piece off `bytes`, a chunk of a stream of lines, and returns it; `None` at the end of the chunk.
    /// After the end of a line, call `finish`.
    ///
    /// It does the work of [`pieces`] and `push` in one pass: a line that has been scanned ends at its LF, which saves
    /// the search for it.
    pub fn take<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<Piece<'a>> {
        if bytes.is_empty() {
            return None;
        }
        self.begin();
        if self.bom < BOM.len() || self.machine.is_malformed() {
            return self.take_framed(bytes);
        }
        let (end, ascii) = self.machine.push_line(bytes);
        self.check(ascii, &bytes[..end]);
        let (line, rest) = bytes.split_at(bytes.len().min(end + 1));
        *bytes = rest;
        Some(if end < line.len() { Piece::End(line) } else { Piece::Part(line) })
    }

    /// [`Scanner::take`] for a line that may begin with a BOM or is malformed.
    fn take_framed<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<Piece<'a>> {
        let piece = pieces(bytes).next()?;
        let (Piece::Part(part) | Piece::End(part)) = piece;
        self.push(part.strip_suffix(b"\n").unwrap_or(part));
        *bytes = &bytes[part.len()..];
        Some(piece)
    }

    /// Whether the current line can no longer become valid JSON, whatever follows.
    pub fn is_malformed(&self) -> bool {
        !self.finished && self.machine.is_malformed()
    }

    /// Ends the line; the next `push` or `finish` is about a new one.
    pub fn finish(&mut self) -> Scan<'_> {
        self.begin();
        let whole = !self.utf8.is_open() && matches!(self.bom, 0 | 3);
        self.bom = BOM.len();
        self.finished = true;
        match self.machine.ending() {
            _ if !whole => Scan::Malformed,
            Ending::Blank => Scan::Blank,
            Ending::Object => Scan::Object(Found { scanner: self }),
            Ending::NotObject => Scan::NotObject,
            Ending::Malformed => Scan::Malformed,
        }
    }

    /// Drops the line before when a new one begins.
    fn begin(&mut self) {
        if self.finished {
            self.finished = false;
            self.machine.clear();
            self.utf8.clear();
        }
    }

    /// Removes the BOM from the first bytes of the first line.
    fn after_bom<'a>(&mut self, mut part: &'a [u8]) -> &'a [u8] {
        while let (Some(wanted), Some((first, rest))) = (BOM.get(self.bom), part.split_first()) {
            if first == wanted {
                self.bom += 1;
                part = rest;
            } else {
                if self.bom > 0 {
                    self.machine.set_malformed();
                }
                self.bom = BOM.len();
            }
        }
        part
    }
}
