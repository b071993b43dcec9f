//! Lines that go one way or the other: each is judged whole before a byte of it is passed on.

use super::spool::Spool;
use std::io;

/// What has been judged, in the order in which it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged<'a> {
    /// Whole lines that were accepted, or the next piece of one.
    Accepted(&'a [u8]),
    /// Lines that were refused, or the next piece of one.
    Refused(&'a [u8]),
}

impl Judged<'_> {
    fn new(accepted: bool, bytes: &[u8]) -> Judged<'_> {
        if accepted { Judged::Accepted(bytes) } else { Judged::Refused(bytes) }
    }
}

/// Where lines wait that are not judged yet.
#[derive(Debug)]
pub struct Sift {
    line: Line,
}

/// Where the beginning of a line that spans chunks is.
#[derive(Debug)]
enum Line {
    /// It began in this chunk, or has not begun.
    Here,
    /// It waits.
    Waiting(Spool),
    /// It was refused early, and has been passed on.
    Refused,
    /// It could not wait: the temporary file failed.
    Lost(io::Error),
}

impl Sift {
    /// A sift at the beginning of a line.
    pub fn new() -> Sift {
        Sift { line: Line::Here }
    }

    /// Whether a line has begun and not ended.
    pub fn is_in_line(&self) -> bool {
        !matches!(self.line, Line::Here)
    }

    /// Takes `chunk`, piece by piece.
    pub fn chunk<'a>(&'a mut self, chunk: &'a [u8]) -> Chunk<'a> {
        Chunk { line: &mut self.line, chunk, start: 0, at: 0, accepted: true }
    }
}

impl Default for Sift {
    fn default() -> Sift {
        Sift::new()
    }
}

/// A chunk of which more and more is judged. Lines of one kind that stand side by side are passed on together.
#[derive(Debug)]
pub struct Chunk<'a> {
    line: &'a mut Line,
    chunk: &'a [u8],
    /// The bytes from `start` to `at` are whole lines that are judged alike and have not been passed on.
    start: usize,
    at: usize,
    accepted: bool,
}

impl<'a> Chunk<'a> {
    /// Takes the next `length` bytes, a part of a line that ends in a later chunk. They wait, unless the line is
    /// `refused` already.
    ///
    /// # Errors
    /// When what waits cannot be read back.
    pub fn part(&mut self, length: usize, refused: bool, mut each: impl FnMut(Judged<'_>)) -> io::Result<()> {
        self.pass(&mut each);
        let part = self.skip(length);
        *self.line = match std::mem::replace(self.line, Line::Here) {
            Line::Here if refused => Line::Refused,
            Line::Waiting(mut spool) if refused => {
                spool.take(|bytes| {
                    each(Judged::Refused(bytes));
                    Ok(())
                })?;
                Line::Refused
            }
            Line::Here => wait(Spool::new(), part),
            Line::Waiting(spool) => wait(spool, part),
            line => line,
        };
        if matches!(self.line, Line::Refused) {
            each(Judged::Refused(part));
        }
        Ok(())
    }

    /// Takes the next `length` bytes, the end of a line that is `accepted`, or is not.
    ///
    /// # Errors
    /// When the line could not wait, or cannot be read back.
    pub fn end(&mut self, length: usize, accepted: bool, mut each: impl FnMut(Judged<'_>)) -> io::Result<()> {
        match std::mem::replace(self.line, Line::Here) {
            Line::Here => {
                if self.accepted != accepted {
                    self.pass(each);
                    self.accepted = accepted;
                }
                self.at += length;
                return Ok(());
            }
            Line::Refused => {
                self.pass(&mut each);
                each(Judged::Refused(self.skip(length)));
            }
            Line::Waiting(mut spool) => {
                self.pass(&mut each);
                spool.push(self.skip(length))?;
                spool.take(|bytes| {
                    each(Judged::new(accepted, bytes));
                    Ok(())
                })?;
            }
            Line::Lost(error) => {
                self.pass(each);
                self.skip(length);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Passes on what is judged.
    pub fn pass(&mut self, mut each: impl FnMut(Judged<'_>)) {
        let lines = &self.chunk[self.start..self.at];
        self.start = self.at;
        if !lines.is_empty() {
            each(Judged::new(self.accepted, lines));
        }
    }

    /// The next `length` bytes, which are seen to by the caller.
    fn skip(&mut self, length: usize) -> &'a [u8] {
        let bytes = &self.chunk[self.at..self.at + length];
        self.at += length;
        self.start = self.at;
        bytes
    }
}

fn wait(mut spool: Spool, part: &[u8]) -> Line {
    spool.push(part).map_or_else(Line::Lost, |()| Line::Waiting(spool))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of `chunks` when lines that begin with `x` are refused, as soon as that is seen where `early`.
    fn sifted(chunks: &[&str], early: bool) -> Vec<(char, String)> {
        let mut sift = Sift::new();
        let mut all: Vec<(char, String)> = Vec::new();
        let mut each = |judged: Judged<'_>| {
            let (kind, bytes) = match judged {
                Judged::Accepted(bytes) => ('+', bytes),
                Judged::Refused(bytes) => ('-', bytes),
            };
            all.push((kind, String::from_utf8(bytes.to_vec()).unwrap()));
        };
        let mut refused = None;
        for chunk in chunks {
            let mut judging = sift.chunk(chunk.as_bytes());
            for piece in chunk.split_inclusive('\n') {
                let bad = *refused.get_or_insert(piece.starts_with('x'));
                if piece.ends_with('\n') {
                    judging.end(piece.len(), !bad, &mut each).unwrap();
                    refused = None;
                } else {
                    judging.part(piece.len(), bad && early, &mut each).unwrap();
                }
            }
            judging.pass(&mut each);
        }
        all
    }

    fn is(sifted: &[(char, String)], expected: &[(char, &str)]) {
        let sifted: Vec<(char, &str)> = sifted.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
        assert_eq!(sifted, expected);
    }

    #[test]
    fn lines_of_one_kind_go_together_and_stay_in_order() {
        is(&sifted(&["a\nb\nx\nx2\nc\n"], false), &[('+', "a\nb\n"), ('-', "x\nx2\n"), ('+', "c\n")]);
    }

    #[test]
    fn a_line_waits_for_its_judgement() {
        is(&sifted(&["a\nb", "", "c", "d\ne\n"], false), &[('+', "a\n"), ('+', "bcd\n"), ('+', "e\n")]);
        is(&sifted(&["a\nx", "y", "z\ne\n"], false), &[('+', "a\n"), ('-', "xyz\n"), ('+', "e\n")]);
    }

    #[test]
    fn a_line_that_is_refused_early_waits_no_longer() {
        let all = sifted(&["a\nx", "y", "z\ne\n"], true);
        is(&all, &[('+', "a\n"), ('-', "x"), ('-', "y"), ('-', "z\n"), ('+', "e\n")]);
    }
}
