//! Everything that a run started: finding it, signalling it, burying it.
//!
//! Codex starts each shell command in a session of its own, and such a command survives a signal to Codex's group
//! (measured with 0.156.1 and 0.171.0). So on Linux this process adopts orphans, and every process of the run stays
//! its descendant for as long as it lives: parent links lead to each of them. Elsewhere there is the group alone.

use crate::sys::descent::{self, Descent, Process};
use crate::sys::process::{self, Exit, Reaped};
use nix::sys::signal::Signal;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// How many looks must find nobody where children that are none of the run's hide the exact answer.
const LOOKS: u32 = 3;

/// How long one KILL to everything goes after processes that replace themselves meanwhile.
const BURST: Duration = Duration::from_millis(20);

/// How many dead are buried at a time. Processes that replace themselves without end can die faster than that.
const MOST_BURIED: usize = 1000;

/// How long [`Tree::raze`] goes on: most processes die of KILL at once, and one that the kernel holds is not waited
/// for longer than two seconds.
const RAZE: Duration = Duration::from_secs(2);
const RAZE_PAUSE: Duration = Duration::from_millis(2);

/// A living process of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descendant {
    /// Its number.
    pub pid: i32,
    /// The name of its program, as `ps` shows it. The process chose it, so it may hold any character.
    pub name: String,
}

/// The processes of one run.
#[derive(Debug)]
pub struct Tree {
    descent: &'static dyn Descent,
    /// Whether descendants can be found; else only the program's group is known.
    finds_descendants: bool,
    strangers: Strangers,
}

/// The descendants of this process that are none of the run's: a shell that became this program with `exec` may have
/// left some (`codex-launch > >(tee log)`).
#[derive(Debug, Default)]
struct Strangers {
    /// Those that were there before the run.
    before: HashSet<(i32, u64)>,
    /// The session of this process. Everything that a run starts is in a session of its own and cannot come into
    /// this one, so whoever is here and was adopted is a stranger's child. `None` before that is asked.
    session: Option<i32>,
}

impl Strangers {
    fn has(&self, process: &Process) -> bool {
        self.session == Some(process.session) || self.before.contains(&(process.pid, process.start))
    }
}

impl Tree {
    /// To be called before the first process of the run is started.
    pub fn new() -> Tree {
        let descent = descent::here();
        let finds_descendants = descent.adopt_orphans();
        let before = match finds_descendants.then(process::reap_any) {
            None | Some(Reaped::NoChildren) => HashSet::new(),
            Some(_) => {
                let all = descend(std::process::id().cast_signed(), &descent.table(), &Strangers::default());
                all.iter().map(|process| (process.pid, process.start)).collect()
            }
        };
        Tree {
            descent,
            finds_descendants,
            strangers: Strangers { before, session: Some(process::session()) },
        }
    }

    /// Buries the dead, and says how `program` ended if it is among them. Where only the group is known, `program`
    /// is not buried, so that the group's number stays its own.
    pub(crate) fn bury(&self, program: i32) -> Option<Exit> {
        if !self.finds_descendants {
            return process::peek(program);
        }
        // The dead come in the order in which this process got them, so the program is among the first.
        let mut dead = (0..MOST_BURIED).map_while(|_| match process::reap_any() {
            Reaped::Child(pid, exit) => Some((pid, exit)),
            Reaped::NoneDead | Reaped::NoChildren => None,
        });
        dead.find(|&(pid, _)| pid == program).map(|(_, exit)| exit)
    }

    /// Whether no process of the run is alive. A living descendant hangs, through living or dead parents, on a child
    /// of this process, so "no children", once the dead are buried, is exact. A reading of all of /proc is not: it
    /// can miss a process that starts its successor and ends, over and over.
    pub(super) fn is_alone(&self) -> bool {
        bury_all() == Reaped::NoChildren
            || !self.strangers.before.is_empty() && (0..LOOKS).all(|_| self.sees_nobody())
    }

    /// Whether all children of this process are strangers.
    fn sees_nobody(&self) -> bool {
        match self.descent.children() {
            Some(children) => {
                let living = children.into_iter().filter_map(|pid| self.descent.process(pid));
                living.into_iter().all(|child| child.zombie || self.strangers.has(&child))
            }
            None => self.processes().is_empty(),
        }
    }

    /// Sends `signal` to every living process of the run.
    pub(super) fn signal_all(&self, signal: Signal) {
        for process in self.processes() {
            self.descent.signal(&process, signal);
        }
    }

    /// Sends KILL to every living process of the run, and for a moment to those that come after: a process that
    /// starts its successor and ends is soon a child of this one, and children can be listed faster than it lives.
    /// Whoever is dead is buried, so the program must have been.
    pub(super) fn kill_all(&self) {
        if self.finds_descendants && self.strangers.before.is_empty() {
            let start = Instant::now();
            while bury_all() == Reaped::NoneDead && start.elapsed() < BURST {
                let Some(children) = self.descent.children() else { break };
                children.into_iter().for_each(process::kill_child);
            }
        }
        self.signal_all(Signal::SIGKILL);
    }

    /// To be called when it does not matter any more how anything ends. From then on there are no dead to bury, and
    /// the lists of children have only the living: where thousands die in the time that one such list takes, no living
    /// one would be found among them.
    pub(super) fn leave_the_dead(&self) {
        if self.finds_descendants {
            process::leave_burying_to_kernel();
            // No more of them come.
            while matches!(process::reap_any(), Reaped::Child(..)) {}
        }
    }

    /// Ends every process that descends from this one, where nothing was launched yet and nothing is to be saved.
    pub fn raze(&self) {
        self.leave_the_dead();
        let start = Instant::now();
        while self.finds_descendants && !self.is_alone() && start.elapsed() < RAZE {
            self.kill_all();
            std::thread::sleep(RAZE_PAUSE);
        }
    }

    /// Whether `program`, which another process started, is gone with its group; nobody tells how it ended.
    pub(super) fn is_out_of_sight(&self, program: i32) -> bool {
        !self.finds_descendants && !process::is_child(program) && !process::has_group(program)
    }

    /// Whether a run that another process began can be ended by `program`: the group is its own.
    pub(super) fn can_take_over(&self, program: i32) -> bool {
        if self.finds_descendants { process::is_child(program) } else { process::has_group(program) }
    }

    /// Whether descendants can be found, or else only the group.
    pub(super) fn finds_descendants(&self) -> bool {
        self.finds_descendants
    }

    /// The living processes of the run; none where they cannot be found. Each is named by number and program.
    pub fn descendants(&self) -> Vec<Descendant> {
        let describe =
            |process: Process| Some(Descendant { pid: process.pid, name: self.descent.name(&process)? });
        self.processes().into_iter().filter_map(describe).collect()
    }

    fn processes(&self) -> Vec<Process> {
        if !self.finds_descendants {
            return Vec::new();
        }
        descend(std::process::id().cast_signed(), &self.descent.table(), &self.strangers)
    }
}

/// Buries all dead children, if they are not too many: what is there afterwards.
fn bury_all() -> Reaped {
    let mut looks = (0..MOST_BURIED).map(|_| process::reap_any());
    looks.find(|found| !matches!(found, Reaped::Child(..))).unwrap_or(Reaped::NoneDead)
}

impl Default for Tree {
    fn default() -> Tree {
        Tree::new()
    }
}

/// The living descendants of `root` in `table`, leaving out `strangers` and what descends from them.
fn descend(root: i32, table: &[Process], strangers: &Strangers) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<&Process>> = HashMap::new();
    for process in table {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for &child in children.remove(&parent).iter().flatten() {
            if !strangers.has(child) {
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
        Process { pid, parent, session: 10, start: 100 + u64::from(pid.unsigned_abs()), zombie: false }
    }

    fn pids(table: &[Process], strangers: &Strangers) -> Vec<i32> {
        let mut pids: Vec<i32> = descend(10, table, strangers).iter().map(|process| process.pid).collect();
        pids.sort_unstable();
        pids
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
        assert_eq!(pids(&table, &Strangers::default()), [11, 12]);
    }

    #[test]
    fn strangers_and_the_dead_are_left_out_and_the_children_of_the_dead_are_not() {
        let mut table = [process(11, 10), process(12, 11), process(13, 10), process(14, 13)];
        table[2].zombie = true;
        let before = |start| Strangers { before: HashSet::from([(11, start)]), session: Some(1) };
        assert_eq!(pids(&table, &before(111)), [14]);
        // The number alone does not make a stranger: it may have been given to another process since.
        assert_eq!(pids(&table, &before(7)), [11, 12, 14]);
    }

    #[test]
    fn who_is_in_our_session_is_no_child_of_the_run() {
        let mut table = [process(11, 10), process(12, 10)];
        table[0].session = 9;
        let strangers = Strangers { before: HashSet::new(), session: Some(9) };
        assert_eq!(pids(&table, &strangers), [12]);
    }

    #[test]
    fn session_0_is_a_session_like_others() {
        // That is its number in a pid namespace whose first process was started without setsid, as in a container.
        let mut table = [process(11, 10), process(12, 10)];
        table[0].session = 0;
        assert_eq!(pids(&table, &Strangers::default()), [11, 12]);
        assert_eq!(pids(&table, &Strangers { before: HashSet::new(), session: Some(0) }), [12]);
    }
}
