//! Finds the sentinel of a file, and where in the file it stands.

use common::flow::event::Sentinels;
use common::flow::sentinel::ReadSentinel;
use common::flow::stream::{LineReader, Step};
use std::ops::Range;

/// A search through a file that has no sentinel so far.
pub struct Search {
    lines: LineReader<Sentinels>,
    /// Where the current line begins.
    line: u64,
    /// Where the next byte is.
    at: u64,
}

/// A sentinel that was found.
pub struct FoundSentinel {
    /// Where in the file it is, without its LF.
    pub line: Range<u64>,
    /// Where the chunk begins that has its end.
    pub chunk: u64,
    /// Whether the run completed.
    pub is_completed: bool,
}

impl Search {
    /// A search from the beginning of a file.
    pub fn new() -> Search {
        Search { lines: LineReader::new(), line: 0, at: 0 }
    }

    /// Takes a chunk. Returns the first sentinel; the rest of the chunk is not read.
    pub fn push(&mut self, mut chunk: &[u8]) -> Option<FoundSentinel> {
        let start = self.at;
        while let Some(step) = self.lines.read(&mut chunk) {
            match step {
                Step::Part(part) => self.at += part.len() as u64,
                Step::End(end, line) => {
                    self.at += end.len() as u64;
                    if let Some(sentinel) = ReadSentinel::of(line) {
                        let line = self.line..self.at - 1;
                        return Some(FoundSentinel {
                            line,
                            chunk: start,
                            is_completed: sentinel.is_completed(),
                        });
                    }
                    self.line = self.at;
                }
            }
        }
        None
    }

    /// Goes back to the beginning of the current line: its writer took it back.
    pub fn rewind(&mut self) {
        self.lines.rewind();
        self.at = self.line;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentinel_is_found_where_it_is_however_it_is_cut() {
        let before = "{}\nnoise\n{\"x\":{\"type\":\"handoff.completed\"}}\n";
        let sentinel = r#"{"type":"handoff.failed"}"#;
        let all = format!("{before}{sentinel}\n{{}}\n");
        for size in 1..all.len() {
            let mut search = Search::new();
            let found = all.as_bytes().chunks(size).find_map(|chunk| search.push(chunk)).unwrap();
            let (start, end) = (before.len() as u64, (before.len() + sentinel.len()) as u64);
            assert_eq!((found.line, found.is_completed), (start..end, false));
            assert_eq!(found.chunk, end / size as u64 * size as u64);
        }
    }

    #[test]
    fn a_line_that_was_taken_back_is_dropped() {
        let mut search = Search::new();
        assert!(search.push(b"{}\n{\"type\":\"handoff.com").is_none());
        search.rewind();
        let found = search.push(b"{\"type\":\"handoff.completed\"}\n").unwrap();
        assert_eq!((found.line, found.is_completed), (3..31, true));
    }
}
