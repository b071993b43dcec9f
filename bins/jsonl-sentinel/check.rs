//! `check`: whether finished files keep their promise.

use crate::{NAME, print};
use common::edge::pump::CHUNK;
use common::face::exit::Status;
use common::face::safe;
use common::face::say::{self, why};
use common::flow::event;
use common::flow::line::Piece;
use common::flow::scan::{Scan, Scanner};
use common::flow::sentinel::{Outcome, Reading, Standing};
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Finding {
    Completed,
    /// With its reason, and its cause behind a colon if it has one.
    Failed(String),
    /// This is wrong with this line.
    Wrong(u64, &'static str),
}

/// Checks `files` and prints a line for each.
pub fn run(files: &[PathBuf]) -> Status {
    let mut worst = Status::DONE;
    let mut stdout = match print::stdout() {
        Ok(stdout) => stdout,
        Err(status) => return status,
    };
    for path in files {
        let (words, status) = match File::open(path).and_then(check) {
            Ok(finding) => finding.tell(),
            Err(error) => {
                say::line(NAME, &format!("{}: read: {}", path.display(), why(&error)));
                ("cannot be read".to_owned(), Status::NO_INPUT)
            }
        };
        if status.code() > worst.code() {
            worst = status;
        }
        let line = format!("{}: {}\n", print::path(path), safe::line(&words));
        if let Err(error) = stdout.lines(line.as_bytes()) {
            return print::failed(&error);
        }
    }
    worst
}

impl Finding {
    fn tell(&self) -> (String, Status) {
        match self {
            Finding::Completed => ("completed".to_owned(), Status::DONE),
            Finding::Failed(reason) => (format!("failed: {reason}"), Status::NO),
            Finding::Wrong(line, what) => (format!("line {line}: {what}"), Status::DATA),
        }
    }
}

fn check(mut file: impl Read) -> io::Result<Finding> {
    let mut checker = Checker::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(checker.end()),
            Ok(count) => {
                if let Some(finding) = checker.push(&chunk[..count]) {
                    return Ok(finding);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A file that is being read.
struct Checker {
    scanner: Scanner,
    standing: Standing,
    /// The reason in a failed sentinel, and its cause.
    reason: String,
    /// The number of the line that the next byte belongs to.
    line: u64,
    is_in_line: bool,
}

impl Checker {
    fn new() -> Checker {
        Checker {
            scanner: event::handoff_scanner(),
            standing: Standing::Open,
            reason: String::new(),
            line: 1,
            is_in_line: false,
        }
    }

    /// Takes more; gives the first thing that is wrong.
    fn push(&mut self, chunk: &[u8]) -> Option<Finding> {
        let mut rest = chunk;
        while let Some(piece) = self.scanner.take(&mut rest) {
            match piece {
                Piece::Part(_) => {
                    self.is_in_line = true;
                    if self.scanner.is_malformed() {
                        return Some(self.wrong(MALFORMED));
                    }
                }
                Piece::End(_) => {
                    self.is_in_line = false;
                    if let Some(what) = self.judge() {
                        return Some(self.wrong(what));
                    }
                    self.line += 1;
                }
            }
        }
        None
    }

    /// Takes a whole line; says what is wrong with it.
    fn judge(&mut self) -> Option<&'static str> {
        let line = self.scanner.finish();
        let before = self.standing;
        self.standing = before.after(line);
        let reading = Reading::of(line);
        match (line, reading.map(|reading| reading.outcome)) {
            (Scan::Malformed, _) => return Some(MALFORMED),
            (Scan::NotObject, _) => return Some("not a JSON object"),
            (_, None) if self.standing == Standing::Overrun => return Some("after the sentinel"),
            (_, Some(_)) if self.standing == Standing::Overrun => return Some("a second sentinel"),
            (_, Some(Outcome::Failed { reason, cause, .. })) => {
                let cause = cause.map_or(String::new(), |cause| format!(": {cause}"));
                self.reason = format!("{}{cause}", reason.unwrap_or("unknown"));
            }
            _ => {}
        }
        None
    }

    fn wrong(&self, what: &'static str) -> Finding {
        Finding::Wrong(self.line, what)
    }

    fn end(&mut self) -> Finding {
        match self.standing {
            _ if self.is_in_line => self.wrong("no line end"),
            Standing::Settled { completed: true } => Finding::Completed,
            Standing::Settled { completed: false } => Finding::Failed(std::mem::take(&mut self.reason)),
            Standing::Open | Standing::Overrun => {
                Finding::Wrong(self.line.saturating_sub(1).max(1), "the file ends without a sentinel")
            }
        }
    }
}

const MALFORMED: &str = "not JSON in valid UTF-8";
