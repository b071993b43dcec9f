//! Chunks of a stream in, its scanned lines out.

use super::line::Piece;
use super::scan::{Scan, Scanner};

/// How long a line may be to be at hand whole, in bytes. A longer one is scanned all the same.
pub const LINE_CAP: usize = 1 << 20;

/// A line that has come to its end.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// What the scanner found.
    pub scan: Scan<'a>,
    /// Its bytes without the LF; `None` of a line longer than [`LINE_CAP`].
    pub bytes: Option<&'a [u8]>,
}

impl<'a> Line<'a> {
    /// The line as text, when it is at hand and is one.
    pub fn text(&self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes?).ok()
    }
}

/// Frames a stream and scans its lines.
#[derive(Debug)]
pub struct Stream {
    scanner: Scanner,
    /// Whether a line has begun and not come to its end.
    is_open: bool,
    /// What came of the current line in earlier chunks; `None` when that is more than is kept.
    kept: Option<Vec<u8>>,
}

impl Stream {
    /// The beginning of a stream whose lines `scanner` scans.
    pub fn new(scanner: Scanner) -> Stream {
        Stream { scanner, is_open: false, kept: Some(Vec::new()) }
    }

    /// Takes a chunk, and hands each line that ends in it to `each`.
    pub fn push(&mut self, chunk: &[u8], mut each: impl FnMut(Line<'_>)) {
        let mut rest = chunk;
        while let Some(piece) = self.scanner.take(&mut rest) {
            match piece {
                Piece::Part(part) => {
                    self.keep(part);
                    self.is_open = true;
                }
                Piece::End(end) => {
                    let end = &end[..end.len() - 1];
                    if self.is_open {
                        self.keep(end);
                        self.end(&mut each);
                    } else {
                        // The usual line lies in one chunk, and nothing of it is copied.
                        each(Line { scan: self.scanner.finish(), bytes: Some(end) });
                    }
                }
            }
        }
    }

    /// Takes the end of the stream. A last line without its LF is handed to `each` when it is a whole object, to
    /// which nothing that matters could have been added; any other is the torn beginning of one, and is nothing.
    pub fn finish(mut self, mut each: impl FnMut(Line<'_>)) {
        if self.is_open {
            self.end(&mut |line: Line<'_>| {
                if matches!(line.scan, Scan::Object(_)) {
                    each(line);
                }
            });
        }
    }

    /// Forgets the line that has not come to its end: its writer took it back.
    pub fn back(&mut self) {
        if self.is_open {
            self.end(&mut |_: Line<'_>| {});
        }
    }

    fn keep(&mut self, part: &[u8]) {
        self.kept = self.kept.take().filter(|kept| kept.len() + part.len() <= LINE_CAP).map(|mut kept| {
            kept.extend_from_slice(part);
            kept
        });
    }

    fn end(&mut self, each: &mut impl FnMut(Line<'_>)) {
        each(Line { scan: self.scanner.finish(), bytes: self.kept.as_deref() });
        self.is_open = false;
        self.kept.get_or_insert_default().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::{self, Event};
    use super::*;

    fn lines(parts: &[&[u8]]) -> Vec<(String, Option<Vec<u8>>)> {
        let mut all = Vec::new();
        let mut take = |line: Line<'_>| {
            all.push((format!("{:?}", Event::of(line.scan)), line.bytes.map(<[u8]>::to_vec)));
        };
        let mut stream = Stream::new(event::scanner());
        parts.iter().for_each(|part| stream.push(part, &mut take));
        stream.finish(&mut take);
        all
    }

    #[test]
    fn the_lines_are_the_same_under_every_cut() {
        let bytes =
            "\u{feff}{\"type\":\"turn.started\"}\r\n\n[\n{\"type\":\"error\",\"message\":\"\u{20ac}\"}\n{}"
                .as_bytes();
        let whole = lines(&[bytes]);
        let names: Vec<&str> = whole.iter().map(|(event, _)| event.as_str()).collect();
        assert_eq!(names, ["TurnStarted", "Blank", "Malformed", "Error(Some(\"€\"))", "Other"]);
        assert_eq!(whole[3].1.as_deref(), Some("{\"type\":\"error\",\"message\":\"\u{20ac}\"}".as_bytes()));
        for at in 0..=bytes.len() {
            assert_eq!(lines(&[&bytes[..at], &bytes[at..]]), whole, "cut at {at}");
        }
        assert_eq!(lines(&bytes.chunks(1).collect::<Vec<_>>()), whole);
    }

    #[test]
    fn a_torn_last_line_is_nothing() {
        for rest in ["{\"type\":\"turn.comp", "{", "[]", " ", "x"] {
            assert_eq!(lines(&[b"{}\n", rest.as_bytes()]).len(), 1, "{rest}");
        }
    }

    #[test]
    fn a_line_taken_back_is_forgotten() {
        let mut names = Vec::new();
        let mut stream = Stream::new(event::scanner());
        stream.back();
        stream.push(b"{\"type\":\"turn.completed\",", |_| panic!("no line has ended"));
        stream.back();
        stream.push(b"{\"type\":\"turn.started\"}\n", |line| {
            names.push((format!("{:?}", Event::of(line.scan)), line.text().map(str::len)));
        });
        assert_eq!(names, [("TurnStarted".to_owned(), Some(23))]);
    }

    #[test]
    fn a_line_beyond_the_cap_is_scanned_and_not_kept() {
        let line =
            |length: usize| format!("{{\"type\":\"turn.started\",\"x\":\"{}\"}}", "x".repeat(length - 30));
        for (length, is_kept) in [(LINE_CAP, true), (LINE_CAP + 1, false)] {
            let (line, next) = (line(length), b"\n{}\n");
            assert_eq!(line.len(), length);
            let (left, right) = line.split_at(1000);
            let all = lines(&[left.as_bytes(), right.as_bytes(), next]);
            assert_eq!(all[0].0, "TurnStarted");
            assert_eq!(all[0].1.is_some(), is_kept);
            assert_eq!(all[1].1.as_deref(), Some(&b"{}"[..]));
        }
    }
}
