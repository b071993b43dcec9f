//! `check`: whether finished files have one sentinel, as their last line, and only objects before it.

use crate::{NAME, print};
use common::edge::reader::Input;
use common::face::exit::Status;
use common::face::safe;
use common::face::say::{self, why};
use common::flow::event::Sentinels;
use common::flow::scan::Scan;
use common::flow::sentinel::{Position, ReadSentinel};
use common::flow::stream::{LineReader, Step};
use std::io;
use std::path::PathBuf;

/// What a file turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Finding {
    Completed,
    /// The reason, and behind a colon the cause if there is one.
    Failed(String),
    /// The number of the first wrong line, and what is wrong with it.
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
        let (words, status) = match Input::open(path).and_then(check) {
            Ok(finding) => finding.report(),
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
    /// The words that are printed, and the status.
    fn report(&self) -> (String, Status) {
        match self {
            Finding::Completed => ("completed".to_owned(), Status::DONE),
            Finding::Failed(reason) => (format!("failed: {reason}"), Status::NO),
            Finding::Wrong(line, what) => (format!("line {line}: {what}"), Status::DATA),
        }
    }
}

fn check(mut input: Input) -> io::Result<Finding> {
    let mut checker = Checker::new();
    loop {
        let chunk = input.read()?;
        if chunk.is_empty() {
            return Ok(checker.end());
        }
        if let Err(finding) = checker.push(chunk) {
            return Ok(finding);
        }
    }
}

const MALFORMED: &str = "not JSON in valid UTF-8";

/// The state of a file that is being checked.
struct Checker {
    lines: LineReader<Sentinels>,
    position: Position,
    /// The reason of a failed sentinel, and behind a colon its cause.
    reason: String,
    /// The number of the line that the next byte belongs to.
    number: u64,
}

impl Checker {
    fn new() -> Checker {
        Checker { lines: LineReader::new(), position: Position::Missing, reason: String::new(), number: 1 }
    }

    /// Takes a chunk. The error is the first thing that is wrong.
    fn push(&mut self, mut chunk: &[u8]) -> Result<(), Finding> {
        while let Some(step) = self.lines.read(&mut chunk) {
            let judged = match step {
                Step::End(_, line) => Some(judge(&mut self.position, &mut self.reason, line)),
                Step::Part(_) => None,
            };
            let what = match judged {
                Some(what) => what,
                None if self.lines.is_malformed() => Err(MALFORMED),
                None => continue,
            };
            what.map_err(|what| Finding::Wrong(self.number, what))?;
            self.number += 1;
        }
        Ok(())
    }

    /// Takes the end of the file.
    fn end(self) -> Finding {
        match self.position {
            _ if self.lines.is_in_line() => Finding::Wrong(self.number, "no line end"),
            Position::Last { is_completed: true } => Finding::Completed,
            Position::Last { is_completed: false } => Finding::Failed(self.reason),
            Position::Missing | Position::NotLast => {
                Finding::Wrong((self.number - 1).max(1), "the file ends without a sentinel")
            }
        }
    }
}

/// Judges one more line, at `position` so far. The error is what is wrong with it.
fn judge(position: &mut Position, reason: &mut String, line: Scan<'_>) -> Result<(), &'static str> {
    *position = position.after(line);
    let sentinel = ReadSentinel::of(line);
    match (line, sentinel) {
        (Scan::Malformed, _) => Err(MALFORMED),
        (Scan::NotObject, _) => Err("not a JSON object"),
        (Scan::Object(_), None) if *position == Position::NotLast => Err("after the sentinel"),
        (_, Some(_)) if *position == Position::NotLast => Err("a second sentinel"),
        (_, Some(sentinel)) if !sentinel.is_completed() => {
            let cause = sentinel.cause().map_or(String::new(), |cause| format!(": {cause}"));
            *reason = format!("{}{cause}", sentinel.reason().unwrap_or("unknown"));
            Ok(())
        }
        _ => Ok(()),
    }
}
