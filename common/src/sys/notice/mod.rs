//! Notices of changes in folders: what a kernel tells of its own accord.

#[cfg(target_os = "linux")]
mod linux;
mod portable;

use std::ffi::OsString;
use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

/// A folder that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Watch(i32);

/// What a kernel tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notice {
    /// In this folder something of this name was made, moved there, or changed.
    Of(Watch, OsString),
    /// This folder was moved or removed; notices of it may have ended.
    Gone(Watch),
    /// There were more notices than there was room for.
    Lost,
}

/// What is to be told of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// What comes to be in it.
    Names,
    /// That, and what is written to its files.
    Contents,
}

/// What a platform can tell.
pub(crate) trait Notices: Debug {
    /// Asks for notices of what is `wanted` in `folder`, beside what was wanted of it before. `None` where they are
    /// not to be had, or would not tell of all changes, as in a folder that other machines write to.
    fn watch(&mut self, folder: &Path, wanted: Wanted) -> Option<Watch>;

    /// Asks for no more notices of this folder.
    fn forget(&mut self, watch: Watch);

    /// Waits until there are notices, but no longer than `most`, and gives some of them.
    fn wait(&mut self, most: Duration) -> Vec<Notice>;
}

/// What there is on this platform. The variable CODEX_FILTERS_PORTABLE, set to anything, stands for a platform that
/// has nothing, so that the way without can be tested on any.
pub(crate) fn here() -> Box<dyn Notices> {
    #[cfg(target_os = "linux")]
    if std::env::var_os("CODEX_FILTERS_PORTABLE").is_none()
        && let Some(inotify) = linux::Notifier::new()
    {
        return Box::new(inotify);
    }
    Box::new(portable::Clock)
}
