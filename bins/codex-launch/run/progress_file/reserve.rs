//! The room that a file keeps for its last line, so that a disk that fills up takes no event for it.

use common::sys::reserve::reserve;
use std::fs::File;
use std::io;

/// How much room a last line has. File systems give it in whole blocks.
const LAST_LINE: u64 = 512;

/// How much more is reserved at a time, so that not each line needs a reservation of its own.
const AHEAD: u64 = 64 << 10;

/// The room that one file has for its last line: up to which offset it is reserved, if it is to have any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reserve(Option<u64>);

impl Reserve {
    /// Of a file that needs none, or that none can be reserved for.
    pub(super) fn none() -> Reserve {
        Reserve(None)
    }

    /// Of a file of `length` bytes that is to have it from now on.
    pub(super) fn kept_in(file: &File, length: u64) -> Reserve {
        let mut room = Reserve(Some(0));
        room.renew(file, length);
        room
    }

    /// Sees to it that there is room for the last line behind `more` bytes at the end, which is at `length`.
    ///
    /// # Errors
    /// When there is not.
    pub(super) fn keep(&mut self, file: &File, length: u64, more: u64) -> io::Result<()> {
        let Some(end) = self.0 else { return Ok(()) };
        let needed = more + LAST_LINE;
        if length + needed <= end {
            return Ok(());
        }
        let up_to = |bytes| reserve(file, length, bytes).map(|()| Some(length + bytes));
        self.0 = match up_to(needed + AHEAD) {
            Ok(end) => end,
            Err(error) if error.kind() == io::ErrorKind::Unsupported => None,
            Err(_) => up_to(needed)?,
        };
        Ok(())
    }

    /// Reserves it again: to cut a file gives back all room behind its end.
    pub(super) fn renew(&mut self, file: &File, length: u64) {
        if self.0.is_some() {
            self.0 = Some(0);
            // Where there is none any more, the last line does without. A disk that is full already is found out by
            // the first line.
            let _ = self.keep(file, length, 0);
        }
    }
}
