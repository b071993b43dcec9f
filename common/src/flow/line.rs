//! The framer: splits chunks of any size at line ends.
//!
//! Only LF ends a line. Nothing is copied or removed: the pieces of a chunk, joined, are the chunk. A line that spans
//! chunks comes in parts.

use memchr::memchr;

/// A piece of one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A part of a line whose LF is not in this chunk. Never empty.
    Part(&'a [u8]),
    /// The end of a line, or a whole line, with its LF as the last byte.
    End(&'a [u8]),
}

/// Splits `chunk` into the pieces of its lines, in order.
pub fn pieces(chunk: &[u8]) -> Pieces<'_> {
    Pieces { rest: chunk }
}

/// The pieces of a chunk; see [`pieces`].
#[derive(Debug, Clone)]
pub struct Pieces<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        match memchr(b'\n', self.rest) {
            Some(at) => {
                let (line, rest) = self.rest.split_at(at + 1);
                self.rest = rest;
                Some(Piece::End(line))
            }
            None => Some(Piece::Part(std::mem::take(&mut self.rest))),
        }
    }
}
