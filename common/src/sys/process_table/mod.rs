//! The processes that descend from this one, and signals to one of them: what a platform knows of it.

#[cfg(target_os = "linux")]
mod children;
#[cfg(target_os = "linux")]
mod linux;
mod portable;
#[cfg(target_os = "linux")]
mod table;

use nix::errno::Errno;
use nix::sys::signal::Signal;
use std::fmt::Debug;
use std::io;
use std::os::fd::OwnedFd;

/// A living process that descends from this one.
#[derive(Debug)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// A descriptor of it, where there was one to be had: it never comes to mean another process, as a number can.
    descriptor: Option<OwnedFd>,
}

/// What a platform can tell and do.
pub trait ProcessTable: Debug + Sync {
    /// Makes this process the subreaper of its descendants: it becomes the parent of each orphan among them.
    ///
    /// # Errors
    /// When that is not to be had here, or when processes cannot be listed: why. Then the others do nothing.
    fn become_subreaper(&self) -> io::Result<()>;

    /// Whether orphans that this process did not start could come to it once it is a subreaper.
    fn has_children_of_others(&self) -> bool;

    /// The children of this process, dead ones included, where they can be listed at once and without reading every
    /// process.
    fn children(&self) -> Option<Vec<i32>>;

    /// The living descendants of this process. One that starts or changes its parent meanwhile may be missing.
    fn descendants(&self) -> Vec<Process>;

    /// Sends `signal` to `process` and to no other, even when its number was given away since it was listed.
    ///
    /// # Errors
    /// `ESRCH` when it is gone, `EPERM` when it may not be signalled.
    fn signal(&self, process: &Process, signal: Option<Signal>) -> Result<(), Errno>;

    /// Whether it is in a pid namespace below that of this process.
    fn is_nested(&self, process: &Process) -> bool;

    /// The name of its program, as `ps` shows it: at most 15 bytes, chosen by the process itself.
    fn name(&self, process: &Process) -> Option<String>;
}

/// What there is on this platform.
pub fn here() -> &'static dyn ProcessTable {
    #[cfg(target_os = "linux")]
    if !super::is_forced_portable() {
        return &linux::Linux;
    }
    &portable::Portable
}
