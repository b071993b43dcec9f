//! The last line of the progress file.

use crate::finish::ending::Ending;
use crate::finish::report;
use crate::run::progress_file::ProgressFile;
use std::io;
use std::time::Duration;

/// The last line of the progress file, and the one that takes its place when events are lost for it.
#[derive(Debug)]
pub struct Seal {
    line: String,
    if_lost: String,
    is_in_place: bool,
}

impl Seal {
    /// The sentinel of `ending`. `is_in_place` is whether a reader finds the progress file under its name.
    pub fn of(ending: &Ending, elapsed: Duration, output_tokens: Option<u64>, is_in_place: bool) -> Seal {
        let seconds = elapsed.as_secs();
        Seal {
            line: ending.sentinel(seconds, output_tokens).line(),
            if_lost: ending.sentinel_if_lost(seconds, output_tokens).line(),
            is_in_place,
        }
    }

    /// Writes the sentinel. When no reader will find it in the progress file, it is printed on stderr. Returns the failure,
    /// also when the sentinel was written in the place of events.
    pub fn write_to(&self, progress: Option<ProgressFile>) -> Option<io::Error> {
        let last_line =
            |mut progress: ProgressFile| progress.last_line(self.line.as_bytes(), self.if_lost.as_bytes());
        let sealed = progress.map_or(Ok(None), last_line);
        if !(sealed.is_ok() && self.is_in_place) {
            report::unsealed(&self.if_lost);
        }
        sealed.unwrap_or_else(Some)
    }
}
