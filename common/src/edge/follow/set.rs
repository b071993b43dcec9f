//! Many files that are followed together.

use super::file::{Followed, Told};
use super::wake::{Hint, Wake};
use crate::edge::pump::CHUNK;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often files are looked at without a notice.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Those that there are no notices of.
    pub poll: Duration,
    /// All others: the net under notices that are lost.
    pub net: Duration,
}

/// Files that are followed, each known by its place among the paths that were given.
#[derive(Debug)]
pub struct Set {
    /// None once nobody wants to hear of it any more.
    files: Vec<Option<Followed>>,
    wake: Wake,
    pace: Pace,
    next_poll: Instant,
    next_net: Instant,
    room: Vec<u8>,
}

impl Set {
    /// Follows the files at `paths`, which need not be there, nor their folders.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>, pace: Pace) -> Set {
        let files: Vec<Option<Followed>> = paths.into_iter().map(|path| Some(Followed::new(path))).collect();
        // The watches come first, and the first look after them, so that nothing falls between the two.
        let wake = Wake::new(files.iter().flatten().map(Followed::path));
        let now = Instant::now();
        Set { files, wake, pace, next_poll: now, next_net: now, room: vec![0; CHUNK] }
    }

    /// Waits until something may have changed, but not beyond `until`, and tells `each` what did, with the index of
    /// the file. A file at which `each` breaks off is not told of again. The first call looks at all files.
    pub fn round(
        &mut self,
        until: Option<Instant>,
        mut each: impl FnMut(usize, Told<'_>) -> ControlFlow<()>,
    ) {
        for index in self.due(until) {
            let Some(file) = &mut self.files[index] else { continue };
            if file.look(&mut self.room, &mut |told| each(index, told)).is_break() {
                self.wake.forget(index, file.path());
                self.files[index] = None;
            }
        }
    }

    /// Waits, and gives the files to look at.
    fn due(&mut self, until: Option<Instant>) -> Vec<usize> {
        let poll = self.wake.deaf().next().map(|_| self.next_poll);
        let next = [poll, until].into_iter().flatten().fold(self.next_net, Instant::min);
        let hint = self.wake.wait(next.saturating_duration_since(Instant::now()));
        let now = Instant::now();
        if hint == Hint::All || now >= self.next_net {
            self.wake.mend();
            self.next_net = now + self.pace.net;
            self.next_poll = now + self.pace.poll;
            return (0..self.files.len()).collect();
        }
        let Hint::Some(mut files) = hint else { return Vec::new() };
        if now >= self.next_poll {
            self.next_poll = now + self.pace.poll;
            files.extend(self.wake.deaf());
        }
        files
    }
}
