//! What the standard library does not say about a descriptor.

use nix::libc;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// How many bytes can be read from a pipe right now (FIONREAD).
pub(crate) fn readable_bytes(pipe: impl AsFd) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open for the length of the call, and FIONREAD writes one int.
    let result = unsafe { libc::ioctl(pipe.as_fd().as_raw_fd(), libc::FIONREAD, &mut bytes) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(usize::try_from(bytes).unwrap_or(0)) }
}
