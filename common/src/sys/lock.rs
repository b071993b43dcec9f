//! Locks on a whole file, held by one open file description.
//!
//! On Linux it is an open file description lock (fcntl(2), since 3.15): each process with a copy of the descriptor holds
//! it, and a process can ask for its state without taking it. flock(2), which other platforms get, cannot be asked.

use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::OwnedFd;

/// Locks `file`, which is open for writing, until the last copy of this descriptor is closed.
///
/// # Errors
/// `WouldBlock` when it is locked already; others where the file system has no locks.
pub fn take(file: &File) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if !super::is_forced_portable() {
        return linux::take(file);
    }
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => Ok(()),
    }
}

/// Locks the byte `at` of `folder`, which is open for reading alone, until the last copy of this descriptor is closed. The
/// byte need not exist: it is a number that all processes agree on. Nothing of it is written to the disk.
///
/// # Errors
/// `WouldBlock` when it is taken already; `Unsupported` where a folder has no such locks.
pub fn take_byte(folder: &OwnedFd, at: i64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if !super::is_forced_portable() {
        return linux::take_byte(folder, at);
    }
    let _ = (folder, at);
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether a process has locked `file`; `None` where that cannot be asked.
pub fn is_taken(file: &File) -> Option<bool> {
    #[cfg(target_os = "linux")]
    if !super::is_forced_portable() {
        return linux::is_taken(file);
    }
    let _ = file;
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::thread;
    use std::time::Duration;

    /// How often two who ask at the same time try again.
    const TRIES: u32 = 20;

    pub(super) fn take(file: &File) -> io::Result<()> {
        set(file, libc::F_WRLCK, 0, 0)
    }

    pub(super) fn is_taken(file: &File) -> Option<bool> {
        is_locked(file, 0, 0).ok()
    }

    /// A folder cannot be open for writing, so it takes no exclusive lock. A shared one is set, and then asked for by
    /// others. Two who do so at once see each other; both withdraw and try again, each after a time of its own.
    pub(super) fn take_byte(folder: &OwnedFd, at: i64) -> io::Result<()> {
        for attempt in 1..=TRIES {
            if is_locked(folder, at, 1)? {
                break;
            }
            set(folder, libc::F_RDLCK, at, 1)?;
            if !is_locked(folder, at, 1)? {
                return Ok(());
            }
            set(folder, libc::F_UNLCK, at, 1)?;
            thread::sleep(Duration::from_micros(u64::from(attempt * (100 + std::process::id() % 400))));
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Only EAGAIN means that another one has it: EACCES, which POSIX allows for the same, comes from a policy.
    fn set(file: impl AsFd, kind: libc::c_int, start: i64, length: i64) -> io::Result<()> {
        match fcntl(file, FcntlArg::F_OFD_SETLK(&range(kind, start, length))) {
            Ok(_) => Ok(()),
            Err(Errno::EAGAIN) => Err(io::ErrorKind::WouldBlock.into()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn is_locked(file: impl AsFd, start: i64, length: i64) -> io::Result<bool> {
        let mut lock = range(libc::F_WRLCK, start, length);
        fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock))?;
        Ok(i32::from(lock.l_type) != libc::F_UNLCK)
    }

    /// Of length 0: from the first byte to whatever will be the last one.
    fn range(kind: libc::c_int, start: i64, length: i64) -> libc::flock {
        libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: start,
            l_len: length,
            l_pid: 0,
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    #[test]
    fn a_file_is_taken_until_the_last_copy_of_its_descriptor_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let open = || OpenOptions::new().create(true).append(true).open(&path).unwrap();
        let asked = || is_taken(&File::open(&path).unwrap());
        let first = open();
        assert_eq!(asked(), Some(false));
        take(&first).unwrap();
        assert_eq!(asked(), Some(true));
        assert_eq!(take(&open()).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let copy = first.try_clone().unwrap();
        drop(first);
        assert_eq!(asked(), Some(true));
        drop(copy);
        assert_eq!(asked(), Some(false));
        take(&open()).unwrap();
    }

    #[test]
    fn a_byte_of_a_folder_is_taken_once() {
        let folder = tempfile::tempdir().unwrap();
        let open = || OwnedFd::from(File::open(folder.path()).unwrap());
        let first = open();
        take_byte(&first, 7).unwrap();
        take_byte(&open(), 8).unwrap();
        assert_eq!(take_byte(&open(), 7).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(first);
        take_byte(&open(), 7).unwrap();
    }

    #[test]
    fn of_two_at_the_same_time_one_takes_it() {
        let folder = tempfile::tempdir().unwrap();
        let open = || OwnedFd::from(File::open(folder.path()).unwrap());
        for at in 0..200 {
            let one = open();
            let other = std::thread::spawn({
                let descriptor = open();
                move || (take_byte(&descriptor, at), descriptor)
            });
            let mine = take_byte(&one, at);
            let (theirs, _kept) = other.join().unwrap();
            assert!(mine.is_err() || theirs.is_err());
        }
    }
}
