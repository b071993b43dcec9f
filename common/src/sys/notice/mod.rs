//! Notices of changes in folders: what a kernel tells of its own accord.

#[cfg(target_os = "linux")]
mod linux;
mod portable;

use nix::poll::{PollFd, PollFlags, PollTimeout};
use std::ffi::OsString;
use std::fmt::Debug;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

/// A folder that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Watch(i32);

/// What a kernel tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// In this folder something of this name was made, moved there, or changed.
    Of(Watch, OsString),
    /// This folder was moved or removed; notices of it may have ended.
    Gone(Watch),
    /// There were more notices than there was room for.
    Lost,
}

/// What is to be told of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// What comes to be in it.
    Names,
    /// That, and what is written to its files.
    Contents,
}

/// What a platform can tell.
pub trait Notices: Debug {
    /// Asks for notices of what is `wanted` in `folder`, beside what was wanted of it before. `None` where they are
    /// not to be had, or would not tell of all changes, as in a folder that other machines write to.
    fn watch(&mut self, folder: &Path, wanted: Wanted) -> Option<Watch>;

    /// Asks for no more notices of this folder.
    fn forget(&mut self, watch: Watch);

    /// Waits until there are notices, or one of `bells` rings, but no longer than `most`, and gives some of the
    /// notices.
    fn wait(&mut self, most: Duration, bells: &[Bell]) -> Vec<Notice>;
}

/// A descriptor that ends a wait.
#[derive(Debug)]
pub enum Bell {
    /// When it can be read from.
    Readable(OwnedFd),
    /// When the other end has gone.
    Hung(OwnedFd),
}

/// Waits until `first`, if there is one, can be read from, or one of `bells` rings, but no longer than `most`. Whether
/// it was the first, as far as is known.
fn poll(first: Option<BorrowedFd<'_>>, most: Duration, bells: &[Bell]) -> bool {
    let first = first.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
    let others = bells.iter().map(|bell| match bell {
        Bell::Readable(fd) => PollFd::new(fd.as_fd(), PollFlags::POLLIN),
        // A hang-up is told without being asked for.
        Bell::Hung(fd) => PollFd::new(fd.as_fd(), PollFlags::empty()),
    });
    let mut fds: Vec<PollFd<'_>> = first.into_iter().chain(others).collect();
    // In whole milliseconds, rounded up: too early would be busy waiting. ppoll(2) is exact, and not everywhere.
    let millis = most.as_micros().div_ceil(1000);
    let timeout = i32::try_from(millis).ok().and_then(|millis| PollTimeout::try_from(millis).ok());
    match nix::poll::poll(&mut fds, timeout.unwrap_or(PollTimeout::MAX)) {
        Ok(0) | Err(_) => false,
        Ok(_) => fds[0].any() == Some(true),
    }
}

/// What there is on this platform.
pub fn here() -> Box<dyn Notices> {
    #[cfg(target_os = "linux")]
    if !super::is_forced_portable()
        && let Some(inotify) = linux::Notifier::new()
    {
        return Box::new(inotify);
    }
    Box::new(portable::Clock)
}
