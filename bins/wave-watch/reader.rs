//! Reads the lines of many progress files with few scanners.

use crate::activity::Activity;
use crate::sentinel::WatchedSentinel;
use common::flow::event::ActivityFields;
use common::flow::scan::{Scan, Want};
use common::flow::sentinel::ReadSentinel;
use common::flow::stream::{Line, LineReader, View};

/// What a line of a progress file is to a watcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchedLine {
    /// White space alone.
    Blank,
    /// An event, and the activity that it tells, if any.
    Event(Option<Activity>),
    /// A sentinel.
    Sentinel(WatchedSentinel),
    /// JSON text that is not an object.
    NotObject,
    /// Not JSON text in valid UTF-8.
    Malformed,
}

/// The view of a watcher.
#[derive(Debug)]
pub struct WatchedLines;

impl View for WatchedLines {
    const WANTS: &'static [Want] = ActivityFields::WANTS;
    type Of<'a> = WatchedLine;

    fn of(line: Line<'_>) -> WatchedLine {
        match (line.scan, ReadSentinel::of(line.scan)) {
            (_, Some(sentinel)) => WatchedLine::Sentinel(WatchedSentinel::of(&sentinel)),
            (Scan::Object(found), None) => WatchedLine::Event(Activity::of(&ActivityFields::of(found))),
            (Scan::Blank, _) => WatchedLine::Blank,
            (Scan::NotObject, _) => WatchedLine::NotObject,
            (Scan::Malformed, _) => WatchedLine::Malformed,
        }
    }
}

/// Where reading stands in one file.
#[derive(Debug, Default)]
pub enum FileReader {
    /// Before its first byte.
    #[default]
    Start,
    /// Between two lines.
    Between,
    /// Within a line, with the reader that has begun it.
    Within(Box<LineReader<WatchedLines>>),
}

/// A line reader that no file uses. Ten thousand files between two lines need only this one.
#[derive(Debug)]
pub struct SpareReader(Option<Box<LineReader<WatchedLines>>>);

impl Default for SpareReader {
    /// Makes the reader at once: asking the processor of a virtual machine for its vector instructions can take 0.1 ms,
    /// which would delay the first sentinel.
    fn default() -> SpareReader {
        SpareReader(Some(Box::default()))
    }
}

impl SpareReader {
    /// The reader for the next bytes of a file. Only the first line of a file may begin with a BOM.
    fn take(&mut self, file: FileReader) -> Box<LineReader<WatchedLines>> {
        if let FileReader::Within(lines) = file {
            return lines;
        }
        let mut lines = self.0.take().unwrap_or_default();
        if matches!(file, FileReader::Start) {
            lines.start_over();
        }
        lines
    }

    /// Takes back a reader whose line has ended or was dropped.
    fn put_back(&mut self, lines: Box<LineReader<WatchedLines>>) {
        self.0 = Some(lines);
    }
}

impl FileReader {
    /// Takes a chunk, and hands each line that ends in it to `each`.
    pub fn push(&mut self, spare: &mut SpareReader, chunk: &[u8], each: impl FnMut(WatchedLine)) {
        if chunk.is_empty() {
            return;
        }
        let mut lines = spare.take(std::mem::take(self));
        lines.push(chunk, each);
        *self = if lines.is_in_line() {
            FileReader::Within(lines)
        } else {
            spare.put_back(lines);
            FileReader::Between
        };
    }

    /// Drops the line that has begun: its writer took it back. `is_first` is whether it is the first line of the file.
    pub fn rewind(&mut self, spare: &mut SpareReader, is_first: bool) {
        let next = if is_first { FileReader::Start } else { FileReader::Between };
        if let FileReader::Within(mut lines) = std::mem::replace(self, next) {
            lines.rewind();
            spare.put_back(lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a file that comes in these chunks.
    fn lines<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<WatchedLine> {
        let (mut reader, mut spare, mut all) = (FileReader::default(), SpareReader::default(), vec![]);
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
                WatchedLine::Event(None),
                WatchedLine::Blank,
                WatchedLine::Event(Some(Activity::Error)),
                WatchedLine::NotObject,
                WatchedLine::Malformed
            ]
        );
        assert!(matches!(&whole[5], WatchedLine::Sentinel(sentinel) if sentinel.reason() == Some("timeout")));
        assert_eq!(whole.len(), 6);
        for at in 0..=text.len() {
            assert_eq!(lines([&text[..at], &text[at..]]), whole, "cut at {at}");
        }
        assert_eq!(lines(text.chunks(1)), whole);
    }

    #[test]
    fn a_bom_may_begin_each_file_and_no_later_line() {
        let mut spare = SpareReader::default();
        let bom = "\u{feff}{}\n".as_bytes();
        for _ in 0..2 {
            let (mut reader, mut all) = (FileReader::default(), vec![]);
            reader.push(&mut spare, bom, |line| all.push(line));
            reader.push(&mut spare, bom, |line| all.push(line));
            assert_eq!(all, [WatchedLine::Event(None), WatchedLine::Malformed]);
        }
    }

    #[test]
    fn a_line_that_was_taken_back_is_dropped() {
        let (mut reader, mut spare, mut all) = (FileReader::default(), SpareReader::default(), vec![]);
        reader.push(&mut spare, b"\xef\xbb", |line| all.push(line));
        reader.rewind(&mut spare, true);
        reader.push(&mut spare, "\u{feff}{}\n{\"a".as_bytes(), |line| all.push(line));
        reader.rewind(&mut spare, false);
        reader.push(&mut spare, b"{}\n", |line| all.push(line));
        assert_eq!(all, [WatchedLine::Event(None), WatchedLine::Event(None)]);
    }
}
