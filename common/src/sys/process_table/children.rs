//! Who descends from whom, by the lists of children that a kernel with CONFIG_PROC_CHILDREN has, one a thread (proc(5)).
//!
//! Only this process and its descendants are read, and of them nothing that waits for a process in the midst of an exec:
//! that one may wait for a file system that never answers.

use std::collections::HashSet;
use std::fs;

/// Whether this kernel has such lists.
pub(super) fn are_listed() -> bool {
    let pid = std::process::id();
    fs::exists(format!("/proc/{pid}/task/{pid}/children")).unwrap_or(false)
}

/// The children of process `pid`, dead ones included; none when it is gone. One that comes or goes meanwhile may be
/// missing.
pub(super) fn of(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<i32>>()
        })
        .collect()
}

/// The descendants of process `root`, parents before their children.
pub(super) fn descendants(root: i32) -> Vec<i32> {
    let (mut found, mut known) = (of(root), HashSet::new());
    known.extend(found.iter().copied());
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(of(parent).into_iter().filter(|&child| known.insert(child)));
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_child_of_a_child_is_a_descendant() {
        if !are_listed() {
            eprintln!("skipped: this kernel does not list children");
            return;
        }
        let mut child = Command::new("sh").args(["-c", "sleep 300 & echo; wait"]).spawn().unwrap();
        let pid = child.id().cast_signed();
        while of(pid).is_empty() {
            std::thread::yield_now();
        }
        let grandchild = of(pid)[0];
        let found = descendants(std::process::id().cast_signed());
        assert!(found.contains(&pid) && found.contains(&grandchild));
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(grandchild), nix::sys::signal::SIGKILL).unwrap();
        child.wait().unwrap();
        assert!(of(pid).is_empty());
    }
}
