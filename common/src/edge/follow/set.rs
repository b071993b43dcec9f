//! Many files that are followed together.

use super::file::{FileChange, Followed, Looked};
use super::wake::{Hint, Wake};
use crate::edge::pump::CHUNK;
use crate::sys::fs_watch::Waker;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often files are polled.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Files whose changes give no notice.
    pub poll: Duration,
    /// All other files, because a notice may be lost.
    pub net: Duration,
}

/// Files that are followed, each known by its place among the paths that were given.
#[derive(Debug)]
pub struct Set {
    /// `None` once the caller has no more use for the file.
    files: Vec<Option<Followed>>,
    wake: Wake,
    pace: Pace,
    next_poll: Instant,
    next_net: Instant,
    room: Vec<u8>,
    pending: Pending,
    /// The files whose path is a link. A write to its target gives no notice in the folder of the link.
    links: BTreeSet<usize>,
    wakers: Vec<Waker>,
}

impl Set {
    /// Follows the files at `paths`, which need not be there, nor their folders.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>, pace: Pace) -> Set {
        let files: Vec<Option<Followed>> = paths.into_iter().map(|path| Some(Followed::new(path))).collect();
        // The watches come first, and the first look after them, so that nothing falls between the two.
        let wake = Wake::new(files.iter().flatten().map(Followed::path));
        let now = Instant::now();
        Set {
            files,
            wake,
            pace,
            next_poll: now,
            next_net: now,
            room: vec![0; CHUNK],
            pending: Pending::default(),
            links: BTreeSet::new(),
            wakers: Vec::new(),
        }
    }

    /// Ends each wait as soon as `signals` can be read or the reader of `output` has left.
    pub fn woken_by(mut self, signals: OwnedFd, output: OwnedFd) -> Set {
        self.wakers = vec![Waker::Readable(signals), Waker::HungUp(output)];
        self
    }

    /// Waits until something may have changed, but not beyond `until`, and gives each change to `each`, with the index of
    /// the file. A file for which `each` breaks is no longer followed. The first call looks at all files.
    ///
    /// Reading ends at `until` too, after a chunk at least, and what is left of it is for the next call: however large
    /// the files are, a call returns in time.
    pub fn round(
        &mut self,
        until: Option<Instant>,
        mut each: impl FnMut(usize, FileChange<'_>) -> ControlFlow<()>,
    ) {
        self.wait(until);
        for _ in 0..self.pending.order.len() {
            let Some((index, is_hinted)) = self.pending.next() else { return };
            self.look_at(index, is_hinted, until, &mut each);
            if until.is_some_and(|until| Instant::now() >= until) {
                return;
            }
        }
    }

    /// Gives the changes of one file to `each` without a wait: at least a chunk, and none after `until`.
    pub fn look(
        &mut self,
        index: usize,
        until: Instant,
        mut each: impl FnMut(usize, FileChange<'_>) -> ControlFlow<()>,
    ) {
        while self.look_at(index, false, Some(until), &mut each) == Looked::More && Instant::now() < until {}
    }

    fn look_at(
        &mut self,
        index: usize,
        hinted: bool,
        until: Option<Instant>,
        each: &mut impl FnMut(usize, FileChange<'_>) -> ControlFlow<()>,
    ) -> Looked {
        let Some(file) = &mut self.files[index] else { return Looked::Unwanted };
        let looked = file.look(hinted, until, &mut self.room, &mut |told| each(index, told));
        if file.is_link() {
            self.links.insert(index);
        }
        match looked {
            Looked::Done => {}
            Looked::More => self.pending.add(index, true),
            Looked::Unwanted => self.forget(index),
        }
        looked
    }

    /// Stops following a file.
    pub fn forget(&mut self, index: usize) {
        if let Some(file) = self.files[index].take() {
            self.wake.forget(index, file.path());
            self.links.remove(&index);
        }
    }

    /// Whether there was anything at the path of this file at the last look.
    pub fn is_there(&self, index: usize) -> bool {
        self.files[index].as_ref().is_some_and(Followed::is_there)
    }

    /// Whether there was anything at the path of this file at any look.
    pub fn was_there(&self, index: usize) -> bool {
        self.files[index].as_ref().is_some_and(Followed::was_there)
    }

    /// Whether a writer has this file for itself; `None` when it is not there or that cannot be asked.
    pub fn is_taken(&self, index: usize) -> Option<bool> {
        self.files[index].as_ref().and_then(Followed::is_taken)
    }

    /// Waits until there are files to look at.
    fn wait(&mut self, until: Option<Instant>) {
        let is_polled = self.polled().next().is_some();
        let poll = is_polled.then_some(self.next_poll);
        let next = [poll, until].into_iter().flatten().fold(self.next_net, Instant::min);
        let most = next.saturating_duration_since(Instant::now());
        let most = if self.pending.order.is_empty() { most } else { Duration::ZERO };
        let hint = self.wake.wait(most, &self.wakers);
        let now = Instant::now();
        if hint == Hint::All || now >= self.next_net {
            self.wake.renew();
            self.next_net = now + self.pace.net;
            self.next_poll = now + self.pace.poll;
            (0..self.files.len()).for_each(|index| self.pending.add(index, false));
            return;
        }
        let Hint::Some(hinted) = hint else { return };
        hinted.into_iter().for_each(|index| self.pending.add(index, true));
        if is_polled && now >= self.next_poll {
            self.next_poll = now + self.pace.poll;
            let polled: Vec<usize> = self.polled().collect();
            polled.into_iter().for_each(|index| self.pending.add(index, false));
        }
    }

    /// The files that are polled.
    fn polled(&self) -> impl Iterator<Item = usize> {
        self.wake.unwatched().chain(self.links.iter().copied())
    }
}

/// The files to look at, in this order, each once.
#[derive(Debug, Default)]
struct Pending {
    order: VecDeque<usize>,
    /// Whether it has probably changed: a notice names it, or there is more to read.
    hinted: HashMap<usize, bool>,
}

impl Pending {
    fn add(&mut self, index: usize, is_hinted: bool) {
        match self.hinted.get_mut(&index) {
            Some(hinted) => *hinted |= is_hinted,
            None => {
                self.hinted.insert(index, is_hinted);
                self.order.push_back(index);
            }
        }
    }

    fn next(&mut self) -> Option<(usize, bool)> {
        let index = self.order.pop_front()?;
        Some((index, self.hinted.remove(&index).unwrap_or_default()))
    }
}
