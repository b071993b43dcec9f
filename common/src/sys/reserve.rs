//! Disk space that is reserved before it is needed.

use std::fs::File;
use std::io;

/// Reserves disk space for `bytes` bytes from `start` on, also behind the end of `file`. Its length stays (fallocate(2)).
///
/// # Errors
/// `StorageFull` or `QuotaExceeded` when there is no such space; `Unsupported` where it cannot be reserved.
#[cfg(target_os = "linux")]
pub fn reserve(file: &File, start: u64, bytes: u64) -> io::Result<()> {
    use nix::errno::Errno;
    use nix::fcntl::{FallocateFlags, fallocate};
    let range =
        i64::try_from(start).ok().zip(i64::try_from(bytes).ok()).filter(|_| !super::is_forced_portable());
    let (start, bytes) = range.ok_or(io::ErrorKind::Unsupported)?;
    fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, start, bytes).map_err(|errno| match errno {
        Errno::ENOSPC | Errno::EDQUOT => errno.into(),
        _ => io::ErrorKind::Unsupported.into(),
    })
}

/// Not available here.
#[cfg(not(target_os = "linux"))]
pub fn reserve(_file: &File, _start: u64, _bytes: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
