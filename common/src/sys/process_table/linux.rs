//! The processes that descend from this one, on Linux: listed by /proc, orphans adopted, signals that cannot hit a
//! stranger.

use super::{Process, ProcessTable, children, table};
use crate::sys::process::has_children;
use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// How many descriptors of processes are open at a time, at the most. The others of a look are known by their numbers.
const DESCRIPTORS: usize = 256;

/// Linux 3.4 and later, with /proc.
#[derive(Debug)]
pub(super) struct Linux;

impl ProcessTable for Linux {
    fn become_subreaper(&self) -> io::Result<()> {
        shows_our_numbers()?;
        nix::sys::prctl::set_child_subreaper(true)
            .map_err(|error| because("orphans cannot be adopted", error))
    }

    fn has_children_of_others(&self) -> bool {
        let is_first = std::process::id() == 1;
        shows_our_numbers().is_ok()
            && (is_first || nix::sys::prctl::get_child_subreaper() == Ok(true) || has_children())
    }

    fn children(&self) -> Option<Vec<i32>> {
        children::are_listed().then(|| children::of(own_number()))
    }

    /// The numbers are looked up, then a descriptor is taken of each, then the numbers are looked up again. A number that
    /// is there both times is the process that the descriptor stands for, or that process is dead and its descriptor
    /// reaches nobody.
    fn descendants(&self) -> Vec<Process> {
        let mut found = open(list());
        let again: HashSet<i32> = list().into_iter().collect();
        found.retain(|process| again.contains(&process.pid) && !has_ended(process));
        found
    }

    /// A kernel without descriptors of processes (before 5.3), or a filter that forbids them, leaves the number, a moment
    /// after it was looked up.
    fn signal(&self, process: &Process, signal: Option<Signal>) -> Result<(), Errno> {
        match process.descriptor.as_ref().map(|descriptor| signal_through(descriptor, signal)) {
            Some(Ok(())) => Ok(()),
            Some(Err(Errno::ESRCH)) => Err(Errno::ESRCH),
            Some(Err(_)) if has_ended(process) => Err(Errno::ESRCH),
            _ => nix::sys::signal::kill(Pid::from_raw(process.pid), signal),
        }
    }

    /// It has a number in each namespace from that of /proc on (Linux 4.1).
    fn is_nested(&self, process: &Process) -> bool {
        let status = fs::read(format!("/proc/{}/status", process.pid)).unwrap_or_default();
        let status = String::from_utf8_lossy(&status);
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        numbers.is_some_and(|numbers| numbers.split_ascii_whitespace().count() > 1)
    }

    fn name(&self, process: &Process) -> Option<String> {
        let name = fs::read(format!("/proc/{}/comm", process.pid)).ok()?;
        let name = String::from_utf8_lossy(name.strip_suffix(b"\n").unwrap_or(&name)).into_owned();
        (!has_ended(process)).then_some(name)
    }
}

/// The processes with these numbers that are there.
fn open(pids: Vec<i32>) -> Vec<Process> {
    let mut left = DESCRIPTORS;
    let mut found = Vec::new();
    for pid in pids {
        let descriptor = if left == 0 { Err(Errno::EMFILE) } else { descriptor_of(pid) };
        match descriptor {
            Ok(descriptor) => {
                left -= 1;
                found.push(Process { pid, descriptor: Some(descriptor) });
            }
            Err(Errno::ESRCH) => {}
            Err(_) => found.push(Process { pid, descriptor: None }),
        }
    }
    found
}

fn descriptor_of(pid: i32) -> Result<OwnedFd, Errno> {
    // SAFETY: pidfd_open gives a new descriptor that nobody else owns, or -1.
    unsafe {
        let descriptor = Errno::result(libc::syscall(libc::SYS_pidfd_open, pid, 0))?;
        Ok(OwnedFd::from_raw_fd(descriptor as i32))
    }
}

fn signal_through(descriptor: &OwnedFd, signal: Option<Signal>) -> Result<(), Errno> {
    let number = signal.map_or(0, |signal| signal as libc::c_int);
    let null = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: the descriptor is open; a null siginfo means as if by kill(2).
    let result =
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, descriptor.as_raw_fd(), number, null, 0) };
    Errno::result(result).map(drop)
}

/// Whether a process is dead, all threads of it, reaped or not. Where it is known by its number alone nobody can tell.
fn has_ended(process: &Process) -> bool {
    process.descriptor.as_ref().is_some_and(|descriptor| {
        let mut descriptors = [PollFd::new(descriptor.as_fd(), PollFlags::POLLIN)];
        poll(&mut descriptors, PollTimeout::ZERO) == Ok(1)
    })
}

/// The numbers of the descendants of this process.
fn list() -> Vec<i32> {
    let root = own_number();
    if children::are_listed() { children::descendants(root) } else { table::descendants(root) }
}

fn because(what: &str, error: Errno) -> io::Error {
    io::Error::other(format!("{what}: {}", error.desc().to_lowercase()))
}

fn own_number() -> i32 {
    std::process::id().cast_signed()
}

/// Whether /proc is there and is that of this process's own pid namespace: in another one's, every number is a
/// stranger's.
fn shows_our_numbers() -> io::Result<()> {
    let link = nix::fcntl::readlink("/proc/self").map_err(|error| because("/proc cannot be read", error))?;
    if link.to_str() == Some(own_number().to_string().as_str()) {
        return Ok(());
    }
    Err(io::Error::other("/proc is of another pid namespace"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_dead_are_no_descendants_and_the_living_have_names() {
        let mut child = Command::new("sleep").arg("300").spawn().unwrap();
        let pid = child.id().cast_signed();
        let find = || Linux.descendants().into_iter().find(|process| process.pid == pid);
        let mut name = None;
        // A process has its parent's name for a moment.
        while name.as_deref() != Some("sleep") {
            name = Linux.name(&find().unwrap());
        }
        let process = find().unwrap();
        assert_eq!(Linux.signal(&process, None), Ok(()));
        assert_eq!(Linux.signal(&process, Some(Signal::SIGKILL)), Ok(()));
        while !has_ended(&process) {
            std::thread::yield_now();
        }
        assert!(find().is_none() && Linux.name(&process).is_none());
        child.wait().unwrap();
        assert_eq!(Linux.signal(&process, None), Err(Errno::ESRCH));
    }

    #[test]
    fn both_ways_to_list_agree() {
        let mut child = Command::new("sleep").arg("300").spawn().unwrap();
        let pid = child.id().cast_signed();
        assert!(table::descendants(own_number()).contains(&pid));
        assert!(!children::are_listed() || children::descendants(own_number()).contains(&pid));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
