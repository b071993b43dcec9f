//! Who descends from whom, by the parent that /proc/PID/stat names: for a kernel without lists of children.
//!
//! This reads every process there is. What it reads of a process in the midst of an exec can come as late as a file
//! system answers, so never. A thread of its own reads, and nobody waits for it longer than [`PATIENCE`].

use std::collections::HashMap;
use std::fs;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long one process may take to be read. It takes some microseconds.
const PATIENCE: Duration = Duration::from_millis(100);

/// The processes that could not be read in time. They are not tried again: each costs a thread, which may never end.
static STUCK: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// The descendants of process `root`, parents before their children.
pub(super) fn descendants(root: i32) -> Vec<i32> {
    descend(root, &parents(pids(), &STUCK, read_parent))
}

fn pids() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Each of `pids` with its parent, as `read` gives it. Those in `stuck` are left out, and those that take too long join
/// them.
fn parents(mut pids: Vec<i32>, stuck: &Mutex<Vec<i32>>, read: fn(i32) -> Option<i32>) -> Vec<(i32, i32)> {
    let mut stuck = stuck.lock().unwrap_or_else(PoisonError::into_inner);
    pids.retain(|pid| !stuck.contains(pid));
    let mut found = Vec::new();
    while !pids.is_empty() {
        let (send, answers) = channel();
        let asked = pids.clone();
        let reader = thread::Builder::new()
            .spawn(move || asked.into_iter().all(|pid| send.send((pid, read(pid))).is_ok()));
        if reader.is_err() {
            break;
        }
        let mut answered = 0;
        while let Ok((pid, parent)) = answers.recv_timeout(PATIENCE) {
            answered += 1;
            found.extend(parent.map(|parent| (pid, parent)));
        }
        stuck.extend(pids.get(answered));
        pids.drain(..pids.len().min(answered + 1));
    }
    found
}

/// Who of the processes, each with its parent, descends from `root`.
fn descend(root: i32, parents: &[(i32, i32)]) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for &(pid, parent) in parents {
        children.entry(parent).or_default().push(pid);
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while let Some(parent) = found.get(next) {
        found.extend(children.remove(parent).into_iter().flatten());
        next += 1;
    }
    found
}

fn read_parent(pid: i32) -> Option<i32> {
    parse_parent(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The parent in a /proc/PID/stat (proc(5)): the name in parentheses may itself have spaces, parentheses and any bytes,
/// so the fields are counted from the last `)`: state, parent.
fn parse_parent(stat: &[u8]) -> Option<i32> {
    let after = stat.iter().rposition(|&byte| byte == b')')? + 1;
    std::str::from_utf8(&stat[after..]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_name_cannot_confuse_the_fields() {
        assert_eq!(parse_parent(b"42 (a) Z 1 (\xff) S 7 42 41 0 -1 4194560"), Some(7));
        assert_eq!(parse_parent(b"42 (x) S"), None);
    }

    #[test]
    fn this_process_descends_from_its_parent() {
        let parent = std::os::unix::process::parent_id().cast_signed();
        assert!(descendants(parent).contains(&std::process::id().cast_signed()));
    }

    #[test]
    fn descendants_are_found_through_any_number_of_parents() {
        let parents = [(1, 0), (10, 1), (12, 11), (11, 10), (20, 1), (21, 20)];
        assert_eq!(descend(10, &parents), [11, 12]);
    }

    #[test]
    fn one_that_cannot_be_read_holds_nobody_up() {
        let read = |pid| {
            if pid == 2 || pid == 3 {
                thread::sleep(Duration::from_secs(600));
            }
            (pid != 4).then_some(1)
        };
        let stuck = Mutex::new(Vec::new());
        assert_eq!(parents(vec![5, 2, 6, 3], &stuck, read), [(5, 1), (6, 1)]);
        let start = Instant::now();
        assert_eq!(parents(vec![2, 3, 4, 5], &stuck, read), [(5, 1)]);
        assert!(start.elapsed() < PATIENCE);
        assert_eq!(stuck.into_inner().unwrap(), [2, 3]);
    }
}
