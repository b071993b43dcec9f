//! Notices of changes in folders, as the kernel gives them.

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

/// A notice of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A file of this name was made in this folder, moved into it, or changed.
    Of(Watch, OsString),
    /// This folder was moved or removed. Notices of it may have ended.
    Gone(Watch),
    /// The queue of notices was full, and some were lost.
    Lost,
}

/// The changes of a folder that are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Names that appear in it.
    Names,
    /// Names that appear in it, and writes to its files.
    Contents,
}

/// A source of notices.
pub trait Notices: Debug {
    /// Watches `folder` for what is `wanted`, beside what was wanted of it before. `None` where there are no notices, or
    /// not of all changes, as in a folder that other machines write to.
    fn watch(&mut self, folder: &Path, wanted: Wanted) -> Option<Watch>;

    /// Stops watching this folder.
    fn forget(&mut self, watch: Watch);

    /// Waits until there are notices or one of `wakers` is ready, but no longer than `most`. Returns some of the notices.
    fn wait(&mut self, most: Duration, wakers: &[Waker]) -> Vec<Notice>;
}

/// A descriptor that ends a wait.
#[derive(Debug)]
pub enum Waker {
    /// It is ready when it can be read.
    Readable(OwnedFd),
    /// It is ready when its other end was closed.
    HungUp(OwnedFd),
}

/// Waits until `first` can be read or one of `wakers` is ready, but no longer than `most`. Returns whether `first` can be
/// read.
fn poll(first: Option<BorrowedFd<'_>>, most: Duration, wakers: &[Waker]) -> bool {
    let first = first.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
    let others = wakers.iter().map(|waker| match waker {
        Waker::Readable(fd) => PollFd::new(fd.as_fd(), PollFlags::POLLIN),
        // poll(2) always reports a hang-up.
        Waker::HungUp(fd) => PollFd::new(fd.as_fd(), PollFlags::empty()),
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

/// The source of notices on this platform.
pub fn here() -> Box<dyn Notices> {
    #[cfg(target_os = "linux")]
    if !super::is_forced_portable()
        && let Some(inotify) = linux::Notifier::new()
    {
        return Box::new(inotify);
    }
    Box::new(portable::NoNotices)
}
