//! Holds each line back until it is judged: accepted lines go one way, refused ones the other.
//!
//! Who reads the lines judges them, and tells the hold how long each piece of a chunk is and what it belongs to. Lines of
//! one kind that stand side by side in a chunk reach the sink together. A line that spans chunks waits in a [`Spool`] until
//! it has ended, or until it is refused early.

use super::spool::Spool;
use std::io;

/// Where judged bytes go, in the order in which they came.
pub trait Sink {
    /// Takes whole lines that were accepted, or a piece of one (see [`Sink::accept_long`]).
    ///
    /// # Errors
    /// When they cannot be written.
    fn accept(&mut self, lines: &[u8]) -> io::Result<()>;

    /// Takes one accepted line that spans chunks: `feed` hands its pieces to the function that it is given. A sink that
    /// writes a line whole or not at all does so here.
    ///
    /// # Errors
    /// When it cannot be written, or of `feed`: when what waited cannot be read back.
    fn accept_long(
        &mut self,
        feed: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<()> {
        feed(&mut |piece| self.accept(piece))
    }

    /// Takes whole lines that were refused, or a piece of one.
    ///
    /// # Errors
    /// When they cannot be written.
    fn refuse(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// The line that is held back between chunks.
#[derive(Debug)]
pub struct Hold {
    line: Line,
}

/// Where the beginning of the current line is.
#[derive(Debug)]
enum Line {
    /// In the current chunk, or the line has not begun.
    Here,
    /// It waits for the judgement.
    Waiting(Spool),
    /// In the sink: the line was refused early.
    Refused,
    /// Nowhere: the temporary file failed.
    Lost(io::Error),
}

impl Hold {
    /// A hold at the beginning of a line.
    pub fn new() -> Hold {
        Hold { line: Line::Here }
    }

    /// Whether a line has begun and not ended.
    pub fn is_in_line(&self) -> bool {
        !matches!(self.line, Line::Here)
    }

    /// Begins a chunk. Each of its bytes is told to the [`HeldChunk`], and then it is flushed.
    pub fn chunk<'a>(&'a mut self, chunk: &'a [u8]) -> HeldChunk<'a> {
        HeldChunk { line: &mut self.line, chunk, start: 0, at: 0, accepted: true }
    }
}

impl Default for Hold {
    fn default() -> Hold {
        Hold::new()
    }
}

/// A chunk that is being judged. After an error it may go on with the next piece.
#[derive(Debug)]
pub struct HeldChunk<'a> {
    line: &'a mut Line,
    chunk: &'a [u8],
    /// `chunk[start..at]` are whole lines that are judged alike and have not reached the sink.
    start: usize,
    at: usize,
    accepted: bool,
}

impl<'a> HeldChunk<'a> {
    /// Takes the next `length` bytes, a part of a line that ends in a later chunk. They wait, unless the line is
    /// `refused` already.
    ///
    /// # Errors
    /// Of the sink, and when what waits cannot be read back. That the temporary file cannot be written is an error of the
    /// line's end.
    pub fn part(&mut self, length: usize, refused: bool, sink: &mut impl Sink) -> io::Result<()> {
        let flushed = self.flush(sink);
        let part = self.skip(length);
        let mut refuse = Ok(());
        *self.line = match std::mem::replace(self.line, Line::Here) {
            Line::Here if refused => Line::Refused,
            Line::Waiting(mut spool) if refused => {
                refuse = spool.take(|bytes| sink.refuse(bytes));
                Line::Refused
            }
            Line::Here => wait(Spool::new(), part),
            Line::Waiting(spool) => wait(spool, part),
            line => line,
        };
        if matches!(self.line, Line::Refused) {
            refuse = refuse.and_then(|()| sink.refuse(part));
        }
        flushed.and(refuse)
    }

    /// Takes the next `length` bytes, the end of a line that is `accepted` or refused.
    ///
    /// # Errors
    /// Of the sink, and when the line could not wait or cannot be read back.
    pub fn end(&mut self, length: usize, accepted: bool, sink: &mut impl Sink) -> io::Result<()> {
        let line = std::mem::replace(self.line, Line::Here);
        if matches!(line, Line::Here) {
            let flushed = if self.accepted == accepted { Ok(()) } else { self.flush(sink) };
            self.accepted = accepted;
            self.at += length;
            return flushed;
        }
        let flushed = self.flush(sink);
        let end = self.skip(length);
        let ended = match line {
            Line::Waiting(mut spool) => spool.push(end).and_then(|()| {
                if accepted {
                    sink.accept_long(|write| spool.take(write))
                } else {
                    spool.take(|bytes| sink.refuse(bytes))
                }
            }),
            Line::Lost(error) => Err(error),
            Line::Here | Line::Refused => sink.refuse(end),
        };
        flushed.and(ended)
    }

    /// Hands on what is judged and has not reached the sink.
    ///
    /// # Errors
    /// Of the sink.
    pub fn flush(&mut self, sink: &mut impl Sink) -> io::Result<()> {
        let lines = &self.chunk[self.start..self.at];
        self.start = self.at;
        match self.accepted {
            _ if lines.is_empty() => Ok(()),
            true => sink.accept(lines),
            false => sink.refuse(lines),
        }
    }

    /// The next `length` bytes, which do not go with the lines before them.
    fn skip(&mut self, length: usize) -> &'a [u8] {
        let bytes = &self.chunk[self.at..self.at + length];
        self.at += length;
        self.start = self.at;
        bytes
    }
}

/// The line with `part` behind what waits in `spool`.
fn wait(mut spool: Spool, part: &[u8]) -> Line {
    spool.push(part).map_or_else(Line::Lost, |()| Line::Waiting(spool))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes note of what reaches it, and fails at accepted bytes that contain `!`.
    #[derive(Default)]
    struct Notes(Vec<(char, String)>);

    impl Notes {
        fn add(&mut self, kind: char, bytes: &[u8]) {
            self.0.push((kind, String::from_utf8(bytes.to_vec()).unwrap()));
        }
    }

    impl Sink for Notes {
        fn accept(&mut self, lines: &[u8]) -> io::Result<()> {
            if lines.contains(&b'!') {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.add('+', lines);
            Ok(())
        }

        fn refuse(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.add('-', bytes);
            Ok(())
        }
    }

    /// What becomes of `chunks` when lines that begin with `x` are refused, as soon as that is seen where `early`; and
    /// how many errors there are.
    fn held(chunks: &[&str], early: bool) -> (Vec<(char, String)>, usize) {
        let (mut hold, mut sink, mut errors) = (Hold::new(), Notes::default(), 0);
        let mut refused = None;
        for chunk in chunks {
            let mut judging = hold.chunk(chunk.as_bytes());
            for piece in chunk.split_inclusive('\n') {
                let bad = *refused.get_or_insert(piece.starts_with('x'));
                let taken = if piece.ends_with('\n') {
                    refused = None;
                    judging.end(piece.len(), !bad, &mut sink)
                } else {
                    judging.part(piece.len(), bad && early, &mut sink)
                };
                errors += usize::from(taken.is_err());
            }
            errors += usize::from(judging.flush(&mut sink).is_err());
        }
        (sink.0, errors)
    }

    fn is(held: &(Vec<(char, String)>, usize), expected: &[(char, &str)], errors: usize) {
        let notes: Vec<(char, &str)> = held.0.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
        assert_eq!((&notes[..], held.1), (expected, errors));
    }

    #[test]
    fn lines_of_one_kind_go_together_and_stay_in_order() {
        is(&held(&["a\nb\nx\nx2\nc\n"], false), &[('+', "a\nb\n"), ('-', "x\nx2\n"), ('+', "c\n")], 0);
    }

    #[test]
    fn a_line_waits_for_its_judgement() {
        is(&held(&["a\nb", "", "c", "d\ne\n"], false), &[('+', "a\n"), ('+', "bcd\n"), ('+', "e\n")], 0);
        is(&held(&["a\nx", "y", "z\ne\n"], false), &[('+', "a\n"), ('-', "xyz\n"), ('+', "e\n")], 0);
    }

    #[test]
    fn a_line_that_is_refused_early_waits_no_longer() {
        let all = held(&["a\nx", "y", "z\ne\n"], true);
        is(&all, &[('+', "a\n"), ('-', "x"), ('-', "y"), ('-', "z\n"), ('+', "e\n")], 0);
    }

    #[test]
    fn a_sink_that_fails_loses_those_lines_and_no_others() {
        is(&held(&["a!\nx\nb\n"], false), &[('-', "x\n"), ('+', "b\n")], 1);
        is(&held(&["a!", "\nx", "y\nb\n"], true), &[('-', "x"), ('-', "y\n"), ('+', "b\n")], 1);
        is(&held(&["a!\nb", "c\nd\n"], false), &[('+', "bc\n"), ('+', "d\n")], 1);
    }

    #[test]
    fn a_long_line_is_one_write_to_a_sink_that_wants_it_so() {
        #[derive(Default)]
        struct Long(Vec<usize>);
        impl Sink for Long {
            fn accept(&mut self, _: &[u8]) -> io::Result<()> {
                panic!("no line lies in one chunk");
            }
            fn accept_long(
                &mut self,
                feed: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
            ) -> io::Result<()> {
                let mut length = 0;
                feed(&mut |piece| {
                    length += piece.len();
                    Ok(())
                })?;
                self.0.push(length);
                Ok(())
            }
            fn refuse(&mut self, _: &[u8]) -> io::Result<()> {
                panic!("no line is refused");
            }
        }
        let (mut hold, mut sink) = (Hold::new(), Long::default());
        for chunk in [&b"ab"[..], &b"c".repeat(3 << 20), b"\n"] {
            let mut held = hold.chunk(chunk);
            match chunk {
                b"\n" => held.end(1, true, &mut sink).unwrap(),
                part => held.part(part.len(), false, &mut sink).unwrap(),
            }
        }
        assert_eq!((sink.0, hold.is_in_line()), (vec![2 + (3 << 20) + 1], false));
    }
}
