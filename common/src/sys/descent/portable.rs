//! Where nothing is known beyond the process group.

use super::{Descent, Process};
use nix::sys::signal::Signal;

/// A platform that tells nothing.
#[derive(Debug)]
pub(super) struct Portable;

impl Descent for Portable {
    fn adopt_orphans(&self) -> bool {
        false
    }

    fn children(&self) -> Option<Vec<i32>> {
        None
    }

    fn process(&self, _pid: i32) -> Option<Process> {
        None
    }

    fn table(&self) -> Vec<Process> {
        Vec::new()
    }

    fn name(&self, _process: &Process) -> Option<String> {
        None
    }

    fn signal(&self, _process: &Process, _signal: Signal) {}
}
