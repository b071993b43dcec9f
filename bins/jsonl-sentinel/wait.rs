//! `wait`: waits until each file has its sentinel, and prints the sentinels.

mod print_found;
mod search;

use crate::args::Wait;
use crate::{NAME, print};
use common::edge::follow::{FileChange, Pace, Set};
use common::edge::output::Output;
use common::face::exit::Status;
use common::face::say::{self, why};
use search::Search;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// A look at fifty files takes less than half a millisecond.
const PACE: Pace = Pace { poll: Duration::from_millis(200), net: Duration::from_secs(1) };

/// How far the first look at the files may go beyond the time limit. A look at files that are there takes less.
const FIRST_LOOK: Duration = Duration::from_millis(50);

/// Waits as `config` says.
pub fn run(config: Wait) -> Status {
    let until = config.time.map(|time| Instant::now() + time);
    match print::stdout() {
        Ok(stdout) => Waiting::new(stdout, &config).run(until),
        Err(status) => status,
    }
}

/// The files that are waited for.
struct Waiting<'a> {
    stdout: Output,
    config: &'a Wait,
    /// The search through each file; `None` once its sentinel was found.
    searches: Vec<Option<Search>>,
    /// The number of files without a sentinel.
    open: usize,
    /// Whether a run failed.
    any_failed: bool,
}

impl<'a> Waiting<'a> {
    fn new(stdout: Output, config: &'a Wait) -> Waiting<'a> {
        let searches: Vec<Option<Search>> = config.files.iter().map(|_| Some(Search::new())).collect();
        Waiting { stdout, config, open: searches.len(), searches, any_failed: false }
    }

    fn run(mut self, until: Option<Instant>) -> Status {
        let mut set = Set::new(self.config.files.iter().cloned(), PACE);
        // However short the limit is, a sentinel that is there already is found.
        let first_look = Instant::now() + FIRST_LOOK;
        let mut round_end = until.map(|until| until.max(first_look));
        while !self.is_over() {
            if let Err(status) = self.round(&mut set, round_end) {
                return status;
            }
            if !self.is_over() && until.is_some_and(|until| Instant::now() >= until) {
                self.print_missing();
                return Status::TIMEOUT;
            }
            round_end = until;
        }
        if self.any_failed { Status::NO } else { Status::DONE }
    }

    /// Waits for changes, and takes them. The error is the status, and has been printed.
    fn round(&mut self, set: &mut Set, end: Option<Instant>) -> Result<(), Status> {
        let mut result = Ok(());
        set.round(end, |file, change| {
            if result.is_err() || self.is_over() {
                return ControlFlow::Break(());
            }
            self.take(file, change).unwrap_or_else(|status| {
                result = Err(status);
                ControlFlow::Break(())
            })
        });
        result
    }

    fn is_over(&self) -> bool {
        self.open == 0 || self.config.any && self.open < self.searches.len()
    }

    /// Takes a change of a file. The error is the status, and has been printed.
    fn take(&mut self, file: usize, change: FileChange<'_>) -> Result<ControlFlow<()>, Status> {
        let path = &self.config.files[file];
        let Some(search) = &mut self.searches[file] else { return Ok(ControlFlow::Break(())) };
        match change {
            FileChange::Bytes(bytes) => {
                if let Some(found) = search.push(bytes) {
                    print_found::print(
                        &found,
                        &mut self.stdout,
                        &name(path, self.searches.len()),
                        bytes,
                        path,
                    )?;
                    self.any_failed |= !found.is_completed;
                    self.searches[file] = None;
                    self.open -= 1;
                    return Ok(ControlFlow::Break(()));
                }
            }
            FileChange::Rewind => search.rewind(),
            FileChange::Pause(_) => {}
            FileChange::Restart(_) => *search = Search::new(),
            FileChange::Unreadable(error) => return Err(cannot_read(path, &why(&error))),
            FileChange::Irregular => return Err(cannot_read(path, "not a regular file")),
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Prints which files have no sentinel: the first one, and how many more.
    fn print_missing(&self) {
        let mut missing = self.searches.iter().zip(&self.config.files).filter(|(search, _)| search.is_some());
        let first = missing.next().map_or(String::new(), |(_, path)| path.display().to_string());
        let more = match missing.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        say::line(NAME, &format!("timed out: found no sentinel in {first}{more}"));
    }
}

/// The beginning of a printed line: the file and a tab, unless there is only one file.
fn name(path: &Path, files: usize) -> String {
    if files == 1 { String::new() } else { format!("{}\t", print::path(path)) }
}

/// Prints that a file cannot be read, and returns the status.
fn cannot_read(path: &Path, why: &str) -> Status {
    say::line(NAME, &format!("{}: read: {why}", path.display()));
    Status::NO_INPUT
}
