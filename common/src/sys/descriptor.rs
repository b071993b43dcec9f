//! What the standard library does not say about a descriptor.

use super::folder::FileId;
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use nix::sys::stat::fstat;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Another descriptor for what this process has open as `number`, closed on exec.
pub fn duplicate(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: fcntl touches no memory, and gives a new descriptor that nobody else owns, or -1.
    unsafe {
        match libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// The file behind an open one, for reading. /dev/fd has it, on Linux opened anew (proc(5)), elsewhere as it was opened.
pub fn open_again(file: &File) -> io::Result<File> {
    File::open(format!("/dev/fd/{}", file.as_raw_fd()))
}

/// The file that is open as `number`, for writing. On Linux that is another open description of it.
///
/// # Errors
/// When this process may not open it so.
pub fn open_again_for_writing(number: i32) -> io::Result<File> {
    File::options().write(true).open(format!("/dev/fd/{number}"))
}

/// The identity of the regular file that is open as `number`; `None` when nothing is, or something else.
pub fn regular_file(number: i32) -> Option<FileId> {
    // SAFETY: the number is only looked up, and one that is not open gives an error.
    let about = fstat(unsafe { BorrowedFd::borrow_raw(number) }).ok()?;
    (about.st_mode & libc::S_IFMT == libc::S_IFREG).then(|| FileId::of_stat(&about))
}

/// Whether this process has `number` open, and not for reading alone.
pub fn is_open_for_writing(number: i32) -> bool {
    // SAFETY: fcntl touches no memory.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFL) };
    flags != -1 && flags & libc::O_ACCMODE != libc::O_RDONLY
}

/// Sends `bytes` through a socket, and a copy of `descriptor` with them (SCM_RIGHTS, unix(7)).
pub fn send(socket: &UnixStream, bytes: &[u8], descriptor: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let numbers: Vec<i32> = descriptor.iter().map(AsRawFd::as_raw_fd).collect();
    let rights = [ControlMessage::ScmRights(&numbers)];
    let control = if numbers.is_empty() { &[] } else { &rights[..] };
    let slices = [IoSlice::new(bytes)];
    sendmsg::<()>(socket.as_raw_fd(), &slices, control, MsgFlags::empty(), None)?;
    Ok(())
}

/// Receives what was sent so: how many bytes, 0 at the end, and the descriptor that came with them.
pub fn receive(socket: &UnixStream, bytes: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = nix::cmsg_space!(i32);
    let mut slices = [IoSliceMut::new(bytes)];
    let received = loop {
        match recvmsg::<()>(socket.as_raw_fd(), &mut slices, Some(&mut space), MsgFlags::empty()) {
            Err(Errno::EINTR) => {}
            received => break received?,
        }
    };
    let mut descriptor = None;
    for message in received.cmsgs()? {
        if let ControlMessageOwned::ScmRights(numbers) = message {
            for number in numbers {
                // SAFETY: the kernel has just made this descriptor for this process, and nobody else knows it.
                descriptor = Some(unsafe { OwnedFd::from_raw_fd(number) });
            }
        }
    }
    Ok((received.bytes, descriptor))
}

/// Closes every pipe, socket and terminal that this process has open, except `kept`. The standard descriptors among them
/// become ends of a closed pipe. Files and directories stay. Nothing here waits for a file system.
///
/// # Errors
/// When there is no pipe to be had.
pub fn close_pipes(kept: impl AsFd) -> io::Result<()> {
    let (closed, _) = io::pipe()?;
    let listed = std::fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let mut numbers: Vec<i32> = listed
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    numbers.retain(|number| ![kept.as_fd().as_raw_fd(), closed.as_raw_fd()].contains(number));
    numbers.extend(0..=2);
    for number in numbers {
        // SAFETY: lseek, dup2 and close touch no memory. Nobody in this process uses these descriptors: the standard ones
        // are open to the end, and the others came from the program that started this one.
        unsafe {
            if libc::lseek(number, 0, libc::SEEK_CUR) == -1 && Errno::last() == Errno::ESPIPE {
                match number {
                    0..=2 => libc::dup2(closed.as_raw_fd(), number),
                    _ => libc::close(number),
                };
            }
        }
    }
    Ok(())
}

/// How many bytes can be read from a pipe right now (FIONREAD).
pub fn readable_bytes(pipe: impl AsFd) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open for the length of the call, and FIONREAD writes one int.
    let result = unsafe { libc::ioctl(pipe.as_fd().as_raw_fd(), libc::FIONREAD, &mut bytes) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(usize::try_from(bytes).unwrap_or(0)) }
}

/// Makes a pipe hold `bytes` (F_SETPIPE_SZ, Linux 2.6.35). What is no pipe, holds more already, or may not grow by a
/// limit stays as it is.
#[cfg(target_os = "linux")]
pub fn widen(pipe: impl AsFd, bytes: i32) {
    use nix::fcntl::{FcntlArg, fcntl};
    if fcntl(&pipe, FcntlArg::F_GETPIPE_SZ).is_ok_and(|size| size < bytes) {
        let _ = fcntl(&pipe, FcntlArg::F_SETPIPE_SZ(bytes));
    }
}

/// Not available here.
#[cfg(not(target_os = "linux"))]
pub fn widen(_pipe: impl AsFd, _bytes: i32) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use nix::fcntl::{FcntlArg, fcntl};

    #[test]
    fn a_pipe_is_made_larger_and_never_smaller() {
        let (reader, _writer) = io::pipe().unwrap();
        let size = || fcntl(&reader, FcntlArg::F_GETPIPE_SZ).unwrap();
        widen(&reader, 1 << 18);
        assert_eq!(size(), 1 << 18);
        widen(&reader, 1 << 17);
        assert_eq!(size(), 1 << 18);
        widen(io::stderr(), 1 << 18);
    }
}
