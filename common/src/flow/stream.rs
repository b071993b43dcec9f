//! The line reader: chunks of a stream in, what a view makes of each line out.
//!
//! Four types do all reading of lines:
//!
//! | type | what it is |
//! |---|---|
//! | [`View`] | what a reader needs: the wanted values, how much of a line, and the type that it makes of them |
//! | [`LineReader`] | splits chunks into lines, scans them, and gives each to the view |
//! | [`Line`] | a line that has ended, as the view gets it: the scanner's verdict with its values, and the bytes |
//! | [`Step`] | one step of a reader whose caller needs the bytes too: a part of a line, or its end |
//!
//! Three journeys through them:
//!
//! 1. *Codex's stdout to the progress file.* A chunk goes to [`LineReader::read`]. A [`Step::Part`] waits in a hold
//!    (`edge::hold`), or goes to the noise when [`LineReader::is_malformed`] says so. A [`Step::End`] has the event, by
//!    which the line is accepted or refused; the hold writes accepted lines of a chunk together.
//! 2. *A sentinel from the disk to a watcher's record.* A chunk of the followed file goes to [`LineReader::push`]. The view
//!    makes a sentinel or an activity of the line, and the record is written from that. When the writer takes back the
//!    beginning of a line, [`LineReader::rewind`] drops it.
//! 3. *A usage object from a file to the table.* A chunk goes to [`LineReader::push`]. The view has the line as text
//!    (`KEEP`), because the names of its numbers are not known beforehand. It makes a `UsageEvent` of the line, whose numbers
//!    `usage_of` reads; the ledger of `usage-diff` subtracts.

use super::line::Piece;
use super::scan::{Scan, Scanner, Want};
use std::marker::PhantomData;

/// The longest line that a view with [`View::KEEP`] of this size gets whole, in bytes. A longer one is scanned all the
/// same.
pub const LINE_CAP: usize = 1 << 20;

/// What a reader needs of each line, and what it makes of that.
pub trait View {
    /// The values that the scanner keeps.
    const WANTS: &'static [Want];

    /// The longest line whose bytes are kept for the view. 0 when it needs none.
    const KEEP: usize = 0;

    /// What a line is to the reader.
    type Of<'a>;

    /// Reads a line that has ended.
    fn of(line: Line<'_>) -> Self::Of<'_>;
}

/// A line that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The verdict and the wanted values.
    pub scan: Scan<'a>,
    /// The bytes without the LF. `None` when the line is longer than [`View::KEEP`], or that is 0.
    pub bytes: Option<&'a [u8]>,
}

impl<'a> Line<'a> {
    /// The line as text; `None` when its bytes are not kept or are not UTF-8.
    pub fn text(&self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes?).ok()
    }

    /// Whether the line is one JSON object.
    pub fn is_object(&self) -> bool {
        matches!(self.scan, Scan::Object(_))
    }
}

/// A step through a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'c, T> {
    /// A part of a line whose LF is not in this chunk. Never empty.
    Part(&'c [u8]),
    /// The end of a line, or a whole line, with its LF; and what the line is.
    End(&'c [u8], T),
}

/// Reads the lines of a stream.
#[derive(Debug)]
pub struct LineReader<V> {
    scanner: Scanner,
    /// Whether a line has begun and not ended.
    is_in_line: bool,
    /// The bytes of the current line from earlier chunks; `None` when they are longer than `V::KEEP`.
    kept: Option<Vec<u8>>,
    view: PhantomData<V>,
}

impl<V: View> LineReader<V> {
    /// A reader at the beginning of a stream, whose first line may begin with a BOM.
    pub fn new() -> LineReader<V> {
        LineReader {
            scanner: Scanner::new(V::WANTS),
            is_in_line: false,
            kept: Some(Vec::new()),
            view: PhantomData,
        }
    }

    /// Takes a chunk, and hands each line that ends in it to `each`.
    pub fn push(&mut self, mut chunk: &[u8], mut each: impl FnMut(V::Of<'_>)) {
        while let Some(step) = self.read(&mut chunk) {
            if let Step::End(_, line) = step {
                each(line);
            }
        }
    }

    /// Takes the next step through `chunk`, whose beginning moves behind it; `None` at the end of the chunk.
    pub fn read<'s, 'c: 's>(&'s mut self, chunk: &mut &'c [u8]) -> Option<Step<'c, V::Of<'s>>> {
        match self.scanner.take(chunk)? {
            Piece::Part(part) => {
                if !std::mem::replace(&mut self.is_in_line, true) {
                    self.kept.get_or_insert_default().clear();
                }
                self.keep(part);
                Some(Step::Part(part))
            }
            Piece::End(end) if self.is_in_line => {
                self.keep(&end[..end.len() - 1]);
                Some(Step::End(end, self.end()))
            }
            Piece::End(end) => {
                // The usual line lies in one chunk, and nothing of it is copied.
                let bytes = Some(&end[..end.len() - 1]).filter(|line| 0 < V::KEEP && line.len() <= V::KEEP);
                Some(Step::End(end, V::of(Line { scan: self.scanner.finish(), bytes })))
            }
        }
    }

    /// Takes the end of the stream. Returns a last line without its LF, whatever it is; `None` when there is none.
    pub fn finish(&mut self) -> Option<V::Of<'_>> {
        self.is_in_line.then(|| self.end())
    }

    /// Drops the line that has begun: its writer took it back.
    pub fn rewind(&mut self) {
        if self.is_in_line {
            self.end();
        }
    }

    /// Drops the line that has begun and takes another stream from its beginning. One reader serves many files so.
    pub fn start_over(&mut self) {
        self.rewind();
        self.scanner.start_over();
    }

    /// Whether a line has begun and not ended.
    pub fn is_in_line(&self) -> bool {
        self.is_in_line
    }

    /// Whether the line that has begun can no longer become valid JSON, whatever follows.
    pub fn is_malformed(&self) -> bool {
        self.scanner.is_malformed()
    }

    fn keep(&mut self, part: &[u8]) {
        if V::KEEP == 0 {
            return;
        }
        match &mut self.kept {
            Some(kept) if kept.len() + part.len() <= V::KEEP => kept.extend_from_slice(part),
            kept => *kept = None,
        }
    }

    /// Ends the line that has begun. What is kept of it stays until the next one begins.
    fn end(&mut self) -> V::Of<'_> {
        self.is_in_line = false;
        let bytes = self.kept.as_deref().filter(|_| V::KEEP > 0);
        V::of(Line { scan: self.scanner.finish(), bytes })
    }
}

impl<V: View> Default for LineReader<V> {
    fn default() -> LineReader<V> {
        LineReader::new()
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::{EventLines, Sentinels};
    use super::*;

    fn lines(parts: &[&[u8]]) -> Vec<(String, Option<Vec<u8>>)> {
        let mut all = Vec::new();
        let mut reader = LineReader::<EventLines>::new();
        for part in parts {
            reader.push(part, |(event, line)| {
                all.push((format!("{event:?}"), line.bytes.map(<[u8]>::to_vec)));
            });
        }
        if let Some((event, line)) = reader.finish() {
            all.push((format!("{event:?}"), line.bytes.map(<[u8]>::to_vec)));
        }
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
    fn the_bytes_of_the_steps_are_those_of_the_chunk() {
        let mut reader = LineReader::<Sentinels>::new();
        let mut chunk = &b"{}\n[1,\n{\"a"[..];
        let mut steps = Vec::new();
        while let Some(step) = reader.read(&mut chunk) {
            steps.push(match step {
                Step::Part(part) => (part, None),
                Step::End(end, scan) => (end, Some(matches!(scan, Scan::Object(_)))),
            });
        }
        assert_eq!(steps, [(&b"{}\n"[..], Some(true)), (b"[1,\n", Some(false)), (b"{\"a", None)]);
        assert!(reader.is_in_line() && !reader.is_malformed());
        let mut chunk = &b"\":x"[..];
        assert!(matches!(reader.read(&mut chunk), Some(Step::Part(b"\":x"))));
        assert!(reader.is_in_line() && reader.is_malformed());
    }

    #[test]
    fn a_last_line_without_lf_is_given_as_it_is() {
        for (rest, is_object) in [
            ("{}", true),
            ("{\"type\":\"turn.comp", false),
            ("{", false),
            ("[]", false),
            (" ", false),
            ("x", false),
        ] {
            let mut reader = LineReader::<EventLines>::new();
            reader.push(b"{}\n", |_| {});
            reader.push(rest.as_bytes(), |_| panic!("no line has ended"));
            let (_, line) = reader.finish().expect("a line has begun");
            assert_eq!((line.is_object(), line.text()), (is_object, Some(rest)), "{rest}");
            assert!(reader.finish().is_none());
        }
    }

    #[test]
    fn a_line_taken_back_is_dropped() {
        let mut names = Vec::new();
        let mut reader = LineReader::<EventLines>::new();
        reader.rewind();
        reader.push(b"{\"type\":\"turn.completed\",", |_| panic!("no line has ended"));
        reader.rewind();
        assert!(!reader.is_in_line());
        reader.push(b"{\"type\":\"turn.started\"}\n", |(event, line)| {
            names.push((format!("{event:?}"), line.text().map(str::len)));
        });
        assert_eq!(names, [("TurnStarted".to_owned(), Some(23))]);
    }

    #[test]
    fn a_line_beyond_the_cap_is_scanned_and_not_kept() {
        let line =
            |length: usize| format!("{{\"type\":\"turn.started\",\"x\":\"{}\"}}", "x".repeat(length - 30));
        for (length, is_kept) in [(LINE_CAP, true), (LINE_CAP + 1, false)] {
            let line = [&line(length), "\n{}\n"].concat();
            for at in [1000, length, line.len()] {
                let (left, right) = line.as_bytes().split_at(at);
                let all = lines(&[left, right]);
                assert_eq!(all[0].0, "TurnStarted");
                assert_eq!(all[0].1.is_some(), is_kept, "cut at {at}");
                assert_eq!(all[1].1.as_deref(), Some(&b"{}"[..]));
            }
        }
    }

    #[test]
    fn a_view_that_keeps_no_bytes_gets_none() {
        struct Bytes;
        impl View for Bytes {
            const WANTS: &'static [Want] = &[];
            type Of<'a> = Option<&'a [u8]>;
            fn of(line: Line<'_>) -> Option<&[u8]> {
                line.bytes
            }
        }
        let mut reader = LineReader::<Bytes>::new();
        for chunk in [&b"{}\n{"[..], b"}\n"] {
            reader.push(chunk, |bytes| assert_eq!(bytes, None));
        }
    }
}
