//! The lines of a progress file, in chunks of any size.

use crate::activity::Activity;
use common::flow::event::{self, Outline};
use common::flow::line::Piece;
use common::flow::scan::{Scan, Scanner};
use common::flow::sentinel::Shown;

/// What a line is to a watcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Nothing but white space.
    Blank,
    /// An event, and what the agent did if it tells that.
    Event(Option<Activity>),
    /// The end of the run.
    Sentinel(Shown),
    /// JSON text that is no object.
    NotObject,
    /// Not JSON text in valid UTF-8.
    Malformed,
}

impl Line {
    fn of(scan: Scan<'_>) -> Line {
        match scan {
            Scan::Blank => Line::Blank,
            Scan::NotObject => Line::NotObject,
            Scan::Malformed => Line::Malformed,
            Scan::Object(found) => match Shown::of(found) {
                Some(sentinel) => Line::Sentinel(sentinel),
                None => Line::Event(Activity::of(&Outline::of(found))),
            },
        }
    }
}

/// Where reading stands in one file.
#[derive(Debug, Default)]
pub enum Reader {
    /// Before its first byte.
    #[default]
    Start,
    /// Between two lines.
    Between,
    /// Within a line, which this scanner has begun.
    Within(Box<Scanner>),
}

/// A scanner for whoever begins a line. Ten thousand files that rest between two lines need no more than this one.
#[derive(Debug)]
pub struct Spare(Option<Box<Scanner>>);

impl Default for Spare {
    /// The scanner is made at once: asking a virtual machine's processor what vectors it has can take 0.1 ms, and the
    /// first sentinel is not to wait for that.
    fn default() -> Spare {
        Spare(Some(Box::new(event::outline_scanner())))
    }
}

impl Spare {
    /// The scanner of a line that has begun or begins now. The first line of a file may begin with a BOM.
    fn hire(&mut self, reader: Reader) -> Box<Scanner> {
        if let Reader::Within(scanner) = reader {
            return scanner;
        }
        let mut scanner = self.0.take().unwrap_or_else(|| Box::new(event::outline_scanner()));
        if matches!(reader, Reader::Start) {
            scanner.start_over();
        }
        scanner
    }

    /// Takes one back that is done with its line, or that is to forget it.
    fn release(&mut self, mut scanner: Box<Scanner>) {
        scanner.finish();
        self.0 = Some(scanner);
    }
}

impl Reader {
    /// Takes more of the file and hands each line that ends in it to `each`.
    pub fn push(&mut self, spare: &mut Spare, bytes: &[u8], mut each: impl FnMut(Line)) {
        if bytes.is_empty() {
            return;
        }
        let mut scanner = spare.hire(std::mem::take(self));
        let mut is_open = false;
        let mut rest = bytes;
        while let Some(piece) = scanner.take(&mut rest) {
            match piece {
                Piece::Part(_) => is_open = true,
                Piece::End(_) => each(Line::of(scanner.finish())),
            }
        }
        *self = if is_open {
            Reader::Within(scanner)
        } else {
            spare.release(scanner);
            Reader::Between
        };
    }

    /// Forgets the line that has begun, and goes back to where it began: `at_start` is whether that is the file's
    /// beginning.
    pub fn back(&mut self, spare: &mut Spare, at_start: bool) {
        let next = if at_start { Reader::Start } else { Reader::Between };
        if let Reader::Within(scanner) = std::mem::replace(self, next) {
            spare.release(scanner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a file that comes in these chunks.
    fn lines<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Line> {
        let (mut reader, mut spare, mut all) = (Reader::default(), Spare::default(), vec![]);
        chunks.into_iter().for_each(|chunk| reader.push(&mut spare, chunk, |line| all.push(line)));
        all
    }

    #[test]
    fn the_lines_are_the_same_under_every_cut() {
        let text = "\u{feff}{\"type\":\"turn.started\"}\r\n\n{\"type\":\"error\",\"message\":\"\u{6f22}\"}\n[]\n{\n\
                    {\"type\":\"handoff.failed\",\"reason\":\"timeout\",\"elapsed_seconds\":3}\n{\"type\":\"x";
        let text = text.as_bytes();
        let whole = lines([text]);
        assert_eq!(
            whole[..5],
            [
                Line::Event(None),
                Line::Blank,
                Line::Event(Some(Activity::Error)),
                Line::NotObject,
                Line::Malformed
            ]
        );
        assert!(matches!(&whole[5], Line::Sentinel(shown) if shown.reason() == Some("timeout")));
        assert_eq!(whole.len(), 6);
        for at in 0..=text.len() {
            assert_eq!(lines([&text[..at], &text[at..]]), whole, "cut at {at}");
        }
        assert_eq!(lines(text.chunks(1)), whole);
    }

    #[test]
    fn a_bom_passes_at_the_beginning_of_each_file_and_nowhere_else() {
        let mut spare = Spare::default();
        let bom = "\u{feff}{}\n".as_bytes();
        for _ in 0..2 {
            let (mut reader, mut all) = (Reader::default(), vec![]);
            reader.push(&mut spare, bom, |line| all.push(line));
            reader.push(&mut spare, bom, |line| all.push(line));
            assert_eq!(all, [Line::Event(None), Line::Malformed]);
        }
    }

    #[test]
    fn a_line_that_was_taken_back_is_forgotten() {
        let (mut reader, mut spare, mut all) = (Reader::default(), Spare::default(), vec![]);
        reader.push(&mut spare, b"\xef\xbb", |line| all.push(line));
        reader.back(&mut spare, true);
        reader.push(&mut spare, "\u{feff}{}\n{\"a".as_bytes(), |line| all.push(line));
        reader.back(&mut spare, false);
        reader.push(&mut spare, b"{}\n", |line| all.push(line));
        assert_eq!(all, [Line::Event(None), Line::Event(None)]);
    }
}
