//! Where nothing is known beyond the process group.

use super::{Process, ProcessTable};
use nix::errno::Errno;
use nix::sys::signal::Signal;
use std::io;

/// A platform that tells nothing.
#[derive(Debug)]
pub(super) struct Portable;

impl ProcessTable for Portable {
    fn become_subreaper(&self) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this platform does not list descendants"))
    }

    fn has_children_of_others(&self) -> bool {
        false
    }

    fn children(&self) -> Option<Vec<i32>> {
        None
    }

    fn descendants(&self) -> Vec<Process> {
        Vec::new()
    }

    fn signal(&self, _process: &Process, _signal: Option<Signal>) -> Result<(), Errno> {
        Err(Errno::ESRCH)
    }

    fn is_nested(&self, _process: &Process) -> bool {
        false
    }

    fn name(&self, _process: &Process) -> Option<String> {
        None
    }
}
