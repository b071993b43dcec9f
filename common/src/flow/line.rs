//! The framer: chunks of any size in, lines out.
//!
//! Only LF ends a line. Nothing is copied and nothing is removed: the pieces of a chunk, put together, are the
//! chunk. A line that spans chunks arrives as parts; who needs it whole keeps the parts itself.

use memchr::memchr;

/// A piece of one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// More of the current line, whose LF is not in this chunk. Never empty.
    Part(&'a [u8]),
    /// The rest of the current line with its LF, which is the last byte.
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
