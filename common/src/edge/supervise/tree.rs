//! Everything that a run started: finding it, signalling it, burying it.
//!
//! Codex starts each shell command in a session of its own, and such a command survives a signal to Codex's group
//! (measured with 0.156.1 and 0.171.0). So on Linux this process adopts orphans, and every process of the run stays
//! its descendant for as long as it lives: parent links lead to each of them. Elsewhere there is the group alone.

use crate::sys::descent::{self, Descent, Process};
use crate::sys::process::{self, Exit, Reaped};
use nix::sys::signal::Signal;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// How many readings of /proc must find nobody where children that are none of the run's hide the exact answer.
const READINGS: u32 = 3;

/// How long [`Tree::raze`] goes on: most processes die of KILL at once, and one that the kernel holds is not waited
/// for longer than two seconds.
const RAZE_LOOKS: u32 = 1000;
const RAZE_PAUSE: Duration = Duration::from_millis(2);

/// The processes of one run.
#[derive(Debug)]
pub struct Tree {
    descent: &'static dyn Descent,
    /// Whether descendants can be found; else only the program's group is known.
    finds_descendants: bool,
    /// The children that were there before: a shell that became this program with `exec` may have left some
    /// (`codex-launch > >(tee log)`), and they are none of the run's.
    strangers: HashSet<(i32, u64)>,
}

impl Tree {
    /// To be called before the first process of the run is started.
    pub fn new() -> Tree {
        let descent = descent::here();
        let finds_descendants = descent.adopt_orphans();
        let me = std::process::id().cast_signed();
        let strangers = match finds_descendants.then(process::reap_any) {
            None | Some(Reaped::NoChildren) => HashSet::new(),
            Some(_) => descent.table().iter().filter(|p| p.parent == me).map(|p| (p.pid, p.start)).collect(),
        };
        Tree { descent, finds_descendants, strangers }
    }

    /// Buries the dead, and says how `program` ended if it is among them. Where only the group is known, `program`
    /// is not buried, so that the group's number stays its own.
    pub(super) fn bury(&self, program: i32) -> Option<Exit> {
        if !self.finds_descendants {
            return process::peek(program);
        }
        let mut found = None;
        while let Reaped::Child(pid, exit) = process::reap_any() {
            if pid == program {
                found = Some(exit);
            }
        }
        found
    }

    /// Whether no process of the run is alive. A living descendant hangs, through living or dead parents, on a child
    /// of this process, so "no children", once the dead are buried, is exact. A reading of /proc is not: it can miss a
    /// process that starts its successor and ends, over and over. With strangers among the children it has to do,
    /// several times in a row.
    pub(super) fn is_alone(&self) -> bool {
        let mut reaped = process::reap_any();
        while matches!(reaped, Reaped::Child(..)) {
            reaped = process::reap_any();
        }
        let has_strangers = !self.strangers.is_empty();
        reaped == Reaped::NoChildren || has_strangers && (0..READINGS).all(|_| self.descendants().is_empty())
    }

    /// Sends `signal` to every living process of the run.
    pub(super) fn signal_all(&self, signal: Signal) {
        for process in self.descendants() {
            self.descent.signal(&process, signal);
        }
    }

    /// Ends every process that descends from this one, where nothing was launched yet and nothing is to be saved.
    pub fn raze(&self) {
        for _ in 0..RAZE_LOOKS {
            if !self.finds_descendants || self.is_alone() {
                return;
            }
            self.signal_all(Signal::SIGKILL);
            std::thread::sleep(RAZE_PAUSE);
        }
    }

    /// Whether descendants can be found, or else only the group.
    pub(super) fn finds_descendants(&self) -> bool {
        self.finds_descendants
    }

    fn descendants(&self) -> Vec<Process> {
        if !self.finds_descendants {
            return Vec::new();
        }
        descend(std::process::id().cast_signed(), &self.descent.table(), &self.strangers)
    }
}

impl Default for Tree {
    fn default() -> Tree {
        Tree::new()
    }
}

/// The living descendants of `root` in `table`, leaving out `strangers` and what descends from them.
fn descend(root: i32, table: &[Process], strangers: &HashSet<(i32, u64)>) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<&Process>> = HashMap::new();
    for process in table {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for &child in children.remove(&parent).iter().flatten() {
            if !strangers.contains(&(child.pid, child.start)) {
                parents.push(child.pid);
                found.push(*child);
            }
        }
    }
    found.retain(|process| !process.zombie);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        Process { pid, parent, start: 100 + pid.unsigned_abs() as u64, zombie: false }
    }

    #[test]
    fn descendants_are_found_through_any_number_of_parents() {
        let table = [
            process(1, 0),
            process(10, 1),
            process(11, 10),
            process(12, 11),
            process(20, 1),
            process(21, 20),
        ];
        let mut pids: Vec<i32> = descend(10, &table, &HashSet::new()).iter().map(|p| p.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [11, 12]);
    }

    #[test]
    fn strangers_and_the_dead_are_left_out_and_the_children_of_the_dead_are_not() {
        let mut table = [process(11, 10), process(12, 11), process(13, 10), process(14, 13)];
        table[2].zombie = true;
        let strangers = HashSet::from([(11, 111)]);
        let pids: Vec<i32> = descend(10, &table, &strangers).iter().map(|p| p.pid).collect();
        assert_eq!(pids, [14]);
        // The number alone does not make a stranger: it may have been given to another process since.
        let reused = HashSet::from([(11, 7)]);
        assert_eq!(descend(10, &table, &reused).len(), 3);
    }
}
