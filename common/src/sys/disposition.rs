//! How this process is set to take a signal.

use nix::libc;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// Whether `signal` is ignored, as `nohup` sets HUP.
pub(crate) fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: with a null new action, sigaction only writes the old one, which is read only when it says it did.
    unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Ignores `signal` from now on.
pub(crate) fn ignore(signal: i32) -> io::Result<()> {
    set(signal, libc::SIG_IGN)
}

/// Does with `signal` what is usual, from now on.
pub(crate) fn reset(signal: i32) -> io::Result<()> {
    set(signal, libc::SIG_DFL)
}

fn set(signal: i32, disposition: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: no handler is installed, and none of ours is replaced: this is called before there are any.
    match unsafe { libc::signal(signal, disposition) } {
        libc::SIG_ERR => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
