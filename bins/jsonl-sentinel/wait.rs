//! `wait`: until each file has its sentinel.

use crate::args::Wait;
use crate::{NAME, print};
use common::edge::follow::{Pace, Set, Told};
use common::edge::output::Output;
use common::edge::pump::CHUNK;
use common::face::exit::Status;
use common::face::say::{self, why};
use common::face::terminal::{JsonLines, Target};
use common::flow::event;
use common::flow::line::Piece;
use common::flow::scan::Scanner;
use common::flow::sentinel::Reading;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::time::{Duration, Instant};

/// A look at fifty files takes less than half a millisecond.
const PACE: Pace = Pace { poll: Duration::from_millis(200), net: Duration::from_secs(1) };

/// How long the first look at the files may take beyond the limit: one at files that are there takes less.
const FIRST_LOOK: Duration = Duration::from_millis(50);

/// Waits as `config` says.
pub fn run(config: Wait) -> Status {
    let until = config.time.map(|time| Instant::now() + time);
    match print::stdout() {
        Ok(stdout) => Waiting::new(stdout, &config).run(until),
        Err(status) => status,
    }
}

/// What is waited for.
struct Waiting<'a> {
    stdout: Output,
    config: &'a Wait,
    /// What was read of each file; none once it has its sentinel.
    files: Vec<Option<Reader>>,
    /// How many have none.
    open: usize,
    /// Whether a run failed.
    failed: bool,
}

impl<'a> Waiting<'a> {
    fn new(stdout: Output, config: &'a Wait) -> Waiting<'a> {
        let files: Vec<Option<Reader>> = config.files.iter().map(|_| Some(Reader::new())).collect();
        Waiting { stdout, config, open: files.len(), files, failed: false }
    }

    fn run(mut self, until: Option<Instant>) -> Status {
        let mut set = Set::new(self.config.files.iter().cloned(), PACE);
        let mut wrong = None;
        // However short the limit is, a file that has its sentinel already is found to have it.
        let first_look = Instant::now() + FIRST_LOOK;
        let mut round_end = until.map(|until| until.max(first_look));
        while !self.is_over() {
            set.round(round_end, |file, told| {
                if wrong.is_some() || self.is_over() {
                    return ControlFlow::Break(());
                }
                self.take(file, told).unwrap_or_else(|status| {
                    wrong = Some(status);
                    ControlFlow::Break(())
                })
            });
            if let Some(status) = wrong {
                return status;
            }
            if !self.is_over() && until.is_some_and(|until| Instant::now() >= until) {
                self.say_missing();
                return Status::TIMEOUT;
            }
            round_end = until;
        }
        if self.failed { Status::NO } else { Status::DONE }
    }

    fn is_over(&self) -> bool {
        self.open == 0 || self.config.any && self.open < self.files.len()
    }

    /// Takes what is told of a file. The error is the status, and has been said.
    fn take(&mut self, file: usize, told: Told<'_>) -> Result<ControlFlow<()>, Status> {
        let path = &self.config.files[file];
        let Some(reader) = &mut self.files[file] else { return Ok(ControlFlow::Break(())) };
        match told {
            Told::Bytes(bytes) => {
                let Some(found) = reader.push(bytes) else { return Ok(ControlFlow::Continue(())) };
                let name = match self.files.len() {
                    1 => String::new(),
                    _ => format!("{}\t", print::path(path)),
                };
                found.print(&mut self.stdout, &name, bytes, path)?;
                self.failed |= !found.completed;
                self.files[file] = None;
                self.open -= 1;
                Ok(ControlFlow::Break(()))
            }
            Told::Back => {
                reader.back();
                Ok(ControlFlow::Continue(()))
            }
            Told::Pause(_) => Ok(ControlFlow::Continue(())),
            Told::Anew(_) => {
                *reader = Reader::new();
                Ok(ControlFlow::Continue(()))
            }
            Told::Unreadable(error) => Err(cannot_read(path, &why(&error))),
            Told::Irregular => Err(cannot_read(path, "not a regular file")),
        }
    }

    /// Says whose sentinels have not come, as far as one line shows them.
    fn say_missing(&self) {
        let mut missing = self.files.iter().zip(&self.config.files).filter(|(reader, _)| reader.is_some());
        let first = missing.next().map_or(String::new(), |(_, path)| path.display().to_string());
        let more = match missing.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        say::line(NAME, &format!("timed out: found no sentinel in {first}{more}"));
    }
}

/// Says so, and gives the status.
fn cannot_read(path: &Path, why: &str) -> Status {
    say::line(NAME, &format!("{}: read: {why}", path.display()));
    Status::NO_INPUT
}

/// What was read of a file that has no sentinel yet.
struct Reader {
    scanner: Scanner,
    /// Where the line that the next byte belongs to begins.
    line: u64,
    /// Where the next byte is.
    at: u64,
}

impl Reader {
    fn new() -> Reader {
        Reader { scanner: event::handoff_scanner(), line: 0, at: 0 }
    }

    /// Takes more of the file, up to its sentinel.
    fn push(&mut self, bytes: &[u8]) -> Option<Found> {
        let chunk = self.at;
        let mut rest = bytes;
        while let Some(piece) = self.scanner.take(&mut rest) {
            match piece {
                Piece::Part(part) => self.at += part.len() as u64,
                Piece::End(end) => {
                    let line = self.line..self.at + end.len() as u64 - 1;
                    if let Some(reading) = Reading::of(self.scanner.finish()) {
                        return Some(Found { line, chunk, completed: reading.is_completed() });
                    }
                    self.at += end.len() as u64;
                    self.line = self.at;
                }
            }
        }
        None
    }

    /// Goes back to the beginning of the line.
    fn back(&mut self) {
        self.scanner.finish();
        self.at = self.line;
    }
}

/// A sentinel that was found.
struct Found {
    /// Where in the file it is, without its LF.
    line: Range<u64>,
    /// Where the chunk begins that has its end.
    chunk: u64,
    completed: bool,
}

impl Found {
    /// Prints it as it was read, behind `name`: from the `chunk`, or from the file where it began before that.
    fn print(&self, stdout: &mut Output, name: &str, chunk: &[u8], path: &Path) -> Result<(), Status> {
        // A sentinel is valid UTF-8, so nothing is left at its end.
        let mut shown = JsonLines::new(Target::of(&*stdout));
        let in_chunk = |at: u64| at.checked_sub(self.chunk).and_then(|at| usize::try_from(at).ok());
        let written = match (in_chunk(self.line.start), in_chunk(self.line.end)) {
            (Some(start), Some(end)) => {
                let line = shown.push(&chunk[start..end]);
                stdout.lines(&[name.as_bytes(), &line, b"\n"].concat())
            }
            _ => {
                let mut file = File::open(path).and_then(|mut file| {
                    file.seek(SeekFrom::Start(self.line.start))?;
                    Ok(file.take(self.line.end - self.line.start))
                });
                let file = file.as_mut().map_err(|error| cannot_read(path, &why(error)))?;
                stdout.line_in_pieces(|write| {
                    write(name.as_bytes())?;
                    let mut piece = vec![0; CHUNK];
                    loop {
                        match file.read(&mut piece)? {
                            0 => return write(b"\n"),
                            count => write(&shown.push(&piece[..count]))?,
                        }
                    }
                })
            }
        };
        written.map_err(|error| print::failed(&error))
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
            let mut reader = Reader::new();
            let found = all.as_bytes().chunks(size).find_map(|chunk| reader.push(chunk)).unwrap();
            let (start, end) = (before.len() as u64, (before.len() + sentinel.len()) as u64);
            assert_eq!((found.line, found.completed), (start..end, false));
            assert_eq!(found.chunk, end / size as u64 * size as u64);
        }
    }

    #[test]
    fn a_line_that_was_taken_back_is_forgotten() {
        let mut reader = Reader::new();
        assert!(reader.push(b"{}\n{\"type\":\"handoff.com").is_none());
        reader.back();
        let found = reader.push(b"{\"type\":\"handoff.completed\"}\n").unwrap();
        assert_eq!((found.line, found.completed), (3..31, true));
    }
}
