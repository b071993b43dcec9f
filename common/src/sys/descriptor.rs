//! What the standard library does not say about a descriptor.

use nix::libc;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// Another descriptor for what this process has open as `number`, closed on exec.
pub(crate) fn duplicate(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: fcntl touches no memory, and gives a new descriptor that nobody else owns, or -1.
    unsafe {
        match libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// How many bytes can be read from a pipe right now (FIONREAD).
pub(crate) fn readable_bytes(pipe: impl AsFd) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open for the length of the call, and FIONREAD writes one int.
    let result = unsafe { libc::ioctl(pipe.as_fd().as_raw_fd(), libc::FIONREAD, &mut bytes) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(usize::try_from(bytes).unwrap_or(0)) }
}
