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
        nix::sys::prctl::set_child_subreaper(true).is_ok() && stat(std::process::id().cast_signed()).is_some()
    }

    fn table(&self) -> Vec<Process> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries.flatten().filter_map(|entry| stat(entry.file_name().to_str()?.parse().ok()?)).collect()
    }

    /// The descriptor is taken first, then the number is seen to be still the same process, then the signal goes
    /// through the descriptor. On a kernel without pidfd (before 5.3) the number alone is used, a moment after it
    /// was checked.
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
            Err(_) => {
                let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(process.pid), signal);
            }
        }
    }
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
/// the fields are counted from the last `)`: state is the first, the parent the second, the start the twentieth.
fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
    let after = stat.iter().rposition(|&byte| byte == b')')? + 1;
    let mut fields = std::str::from_utf8(&stat[after..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let start = fields.nth(17)?.parse().ok()?;
    Some(Process { pid, parent, start, zombie: matches!(state, "Z" | "X") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_confuse_the_fields() {
        let line = b"42 (a) Z 1 (\xff) S 7 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 98765 1 1";
        assert_eq!(parse(42, line), Some(Process { pid: 42, parent: 7, start: 98765, zombie: false }));
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
