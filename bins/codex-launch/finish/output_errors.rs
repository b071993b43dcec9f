//! What of a run could not be written, or was changed by others.

use crate::run::progress_file::{Settled, Tampering};
use common::face::say::why;
use common::flow::cause::Cause;
use std::io;

const PROGRESS: &str = "progress file";

/// The outputs that failed, each once, in the order in which they are told.
#[derive(Debug, Default)]
pub struct OutputErrors(Vec<Loss>);

/// One of them.
#[derive(Debug)]
struct Loss {
    what: &'static str,
    line: String,
    cause: Cause,
}

impl OutputErrors {
    /// Nothing is output_errors.
    pub fn new() -> OutputErrors {
        OutputErrors::default()
    }

    /// Takes note of a failure of `what`, if there was one. Of an output that fails again, as a full disk does for
    /// event and sentinel, the first failure is enough.
    pub fn note(&mut self, what: &'static str, error: Option<io::Error>) {
        if let Some(error) = error {
            self.add(what, format!("{what}: write: {}", why(&error)), Cause::Io);
        }
    }

    /// Takes note of how the progress file was found at the end, and says whether it is in its place. What another
    /// program has done to it explains everything else that went wrong with it.
    pub fn settled(&mut self, settled: Settled) -> bool {
        let Settled { tampering, error } = settled;
        let is_in_place = error.is_none();
        match tampering {
            Some(tampering) => {
                self.0.retain(|known| known.what != PROGRESS);
                let line = format!("{PROGRESS}: {}", tampered(tampering, error.as_ref()));
                self.0.insert(0, Loss { what: PROGRESS, line, cause: Cause::Tampered });
            }
            None => self.note(PROGRESS, error),
        }
        is_in_place
    }

    fn add(&mut self, what: &'static str, line: String, cause: Cause) {
        if !self.0.iter().any(|known| known.what == what) {
            self.0.push(Loss { what, line, cause });
        }
    }

    /// What is to be told, a line each.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|loss| loss.line.as_str())
    }

    /// Which of these is the reason of a run that has no other, with its cause.
    pub fn first(&self) -> Option<(&str, Cause)> {
        self.0.first().map(|loss| (loss.line.as_str(), loss.cause))
    }
}

/// What another program has done to the progress file, and what came of it; `error` is why it could not be put right.
pub fn tampered(tampering: Tampering, error: Option<&io::Error>) -> String {
    let (done, then) = match tampering {
        Tampering::Grown => ("wrote to it", "that was cut off"),
        Tampering::Shrunk => ("truncated it", "the events before that are lost"),
        Tampering::Changed => ("changed what was in it", "its events are lost"),
        Tampering::Moved => ("moved, removed or replaced it", "it was written anew under its name"),
        Tampering::FolderMoved => ("moved or replaced its folder", ""),
    };
    let then = error.map_or(then.to_owned(), why);
    format!("another program {done} while the run went on: {then}")
}
