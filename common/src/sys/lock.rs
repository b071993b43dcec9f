//! A whole file, taken by one open description of it.
//!
//! On Linux it is an open file description lock (fcntl(2), since 3.15): whoever has a copy of the descriptor, in
//! whatever process, has the lock, and whoever wants to know can ask without taking it for a moment. flock(2) has the
//! first of these two and not the second; it is what other platforms get.

use std::fs::{File, TryLockError};
use std::io;

/// Takes `file`, which is open for writing, until the last copy of this descriptor is closed.
///
/// # Errors
/// `WouldBlock` when it is taken already; others where the file system has no locks.
pub(crate) fn take(file: &File) -> io::Result<()> {
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

/// Whether somebody has taken `file`; `None` where that cannot be asked.
pub(crate) fn is_taken(file: &File) -> Option<bool> {
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

    pub(super) fn take(file: &File) -> io::Result<()> {
        match fcntl(file, FcntlArg::F_OFD_SETLK(&whole())) {
            Ok(_) => Ok(()),
            Err(Errno::EACCES | Errno::EAGAIN) => Err(io::ErrorKind::WouldBlock.into()),
            Err(errno) => Err(errno.into()),
        }
    }

    pub(super) fn is_taken(file: &File) -> Option<bool> {
        let mut lock = whole();
        fcntl(file, FcntlArg::F_OFD_GETLK(&mut lock)).ok()?;
        Some(i32::from(lock.l_type) != libc::F_UNLCK)
    }

    /// For writing, from the first byte to whatever will be the last one.
    fn whole() -> libc::flock {
        libc::flock {
            l_type: libc::F_WRLCK as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: 0,
            l_len: 0,
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
}
