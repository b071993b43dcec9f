//! Who descends from whom, where no facility is used to tell: nothing is known beyond the process group.

use nix::sys::signal::Signal;

/// A process; none is ever known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: i32,
    /// Its parent's number.
    pub(crate) parent: i32,
    /// When it started.
    pub(crate) start: u64,
    /// Whether it is dead and not yet buried.
    pub(crate) zombie: bool,
}

/// Not available here.
pub(crate) fn adopt_orphans() -> bool {
    false
}

/// Not available here: no process is known.
pub(crate) fn table() -> Vec<Process> {
    Vec::new()
}

/// Not available here: nothing is signalled.
pub(crate) fn signal(_process: &Process, _signal: Signal) {}
