//! Who descends from whom, and signals to one process: what a platform knows of it.

#[cfg(target_os = "linux")]
mod linux;
mod portable;

use nix::sys::signal::Signal;
use std::fmt::Debug;

/// A process as the kernel shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: i32,
    /// Its parent's number.
    pub(crate) parent: i32,
    /// The session it is in.
    pub(crate) session: i32,
    /// When it started, in the kernel's own unit. Number and start together name a process for good.
    pub(crate) start: u64,
    /// Whether it is dead and not yet buried. A process whose first thread has ended and others have not is alive.
    pub(crate) zombie: bool,
}

/// What a platform can tell and do.
pub(crate) trait Descent: Debug + Sync {
    /// Makes this process the one that orphans among its descendants are given to. False when that is not to be had
    /// here, or when processes cannot be listed; then the others do nothing.
    fn adopt_orphans(&self) -> bool;

    /// The children of this process, where they can be listed at once and without reading every process.
    fn children(&self) -> Option<Vec<i32>>;

    /// One process, when it is there.
    fn process(&self, pid: i32) -> Option<Process>;

    /// Every process there is. One that ends meanwhile may be missing.
    fn table(&self) -> Vec<Process>;

    /// The name of the program of `process`, while it is there.
    fn name(&self, process: &Process) -> Option<String>;

    /// Sends `signal` to `process` and to no other, even when its number was given away since it was listed.
    fn signal(&self, process: &Process, signal: Signal);
}

/// What there is on this platform.
pub(crate) fn here() -> &'static dyn Descent {
    #[cfg(target_os = "linux")]
    if !super::is_forced_portable() {
        return &linux::Linux;
    }
    &portable::Portable
}
