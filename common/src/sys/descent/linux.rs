//! Who descends from whom, on Linux: parent links from /proc, orphans adopted, signals that cannot hit a stranger.

use super::{Descent, Process};
use nix::libc;
use nix::sys::signal::Signal;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Linux 3.4 and later, with /proc.
#[derive(Debug)]
pub(super) struct Linux;

impl Descent for Linux {
    fn adopt_orphans(&self) -> bool {
        shows_our_numbers() && nix::sys::prctl::set_child_subreaper(true).is_ok()
    }

    /// By the lists that a kernel with CONFIG_PROC_CHILDREN has, one a thread (proc(5)).
    fn children(&self) -> Option<Vec<i32>> {
        let mut children = Vec::new();
        for thread in fs::read_dir("/proc/self/task").ok()?.flatten() {
            let list = fs::read_to_string(thread.path().join("children")).ok()?;
            children.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
        }
        Some(children)
    }

    fn process(&self, pid: i32) -> Option<Process> {
        stat(pid)
    }

    fn table(&self) -> Vec<Process> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries.flatten().filter_map(|entry| stat(entry.file_name().to_str()?.parse().ok()?)).collect()
    }

    fn name(&self, process: &Process) -> Option<String> {
        let name = fs::read(format!("/proc/{}/comm", process.pid)).ok()?;
        Some(String::from_utf8_lossy(&name).trim_end_matches('\n').to_owned())
    }

    /// The descriptor is taken first, then the number is seen to be still the same process, then the signal goes
    /// through the descriptor. On a kernel without pidfd (before 5.3, or where a filter forbids it) the number alone is
    /// used, a moment after it was checked.
    fn signal(&self, process: &Process, signal: Signal) {
        let descriptor = pidfd(process.pid);
        if stat(process.pid).is_none_or(|now| now.start != process.start) {
            return;
        }
        // A process that is gone or may not be signalled is seen by looking again.
        match descriptor {
            // SAFETY: the descriptor is open; a null siginfo means as if by kill(2).
            Ok(fd) => unsafe {
                let null = std::ptr::null::<libc::siginfo_t>();
                libc::syscall(libc::SYS_pidfd_send_signal, fd.as_raw_fd(), signal as libc::c_int, null, 0);
            },
            Err(error) if !matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {}
            Err(_) => {
                let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(process.pid), signal);
            }
        }
    }
}

/// Whether /proc is there and is that of this process's own pid namespace: in another one's, every number is a
/// stranger's.
fn shows_our_numbers() -> bool {
    fs::read_link("/proc/self")
        .is_ok_and(|link| link.to_str() == Some(std::process::id().to_string().as_str()))
}

fn pidfd(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_open gives a new descriptor that nobody else owns, or -1.
    unsafe {
        match libc::syscall(libc::SYS_pidfd_open, pid, 0) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd as i32)),
        }
    }
}

fn stat(pid: i32) -> Option<Process> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads /proc/PID/stat (proc(5)): the name in parentheses may itself have spaces, parentheses and any bytes, so
/// the fields are counted from the last `)`: state, parent, group, session, and further on the number of threads (the
/// 18th) and the start (the 20th).
fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
    let after = stat.iter().rposition(|&byte| byte == b')')? + 1;
    let mut fields = std::str::from_utf8(&stat[after..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    let threads: u64 = fields.nth(13)?.parse().ok()?;
    let start = fields.nth(1)?.parse().ok()?;
    Some(Process { pid, parent, session, start, zombie: matches!(state, "Z" | "X") && threads <= 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_confuse_the_fields() {
        let line = b"42 (a) Z 1 (\xff) S 7 42 41 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 98765 1 1";
        let process = Process { pid: 42, parent: 7, session: 41, start: 98765, zombie: false };
        assert_eq!(parse(42, line), Some(process));
        let dead =
            |threads| format!("42 (a) Z 7 42 41 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 {threads} 0 98765 1 1");
        assert_eq!(parse(42, dead(1).as_bytes()), Some(Process { zombie: true, ..process }));
        assert_eq!(parse(42, dead(2).as_bytes()), Some(process));
        assert_eq!(parse(42, b"42 (x) S"), None);
    }

    #[test]
    fn this_process_is_in_the_table() {
        let me = std::process::id().cast_signed();
        let parent = std::os::unix::process::parent_id().cast_signed();
        let found = Linux.table().into_iter().find(|process| process.pid == me);
        assert_eq!(found.map(|process| (process.parent, process.zombie)), Some((parent, false)));
    }
}
