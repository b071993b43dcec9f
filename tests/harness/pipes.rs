//! Pipes between a test and a filter.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::thread::JoinHandle;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// A pipe: what is written to the second end is read from the first.
pub(crate) fn pipe() -> (PipeReader, PipeWriter) {
    std::io::pipe().expect("a pipe")
}

/// Whether everything that was written to a pipe has been read.
pub(crate) fn is_drained(reader: &PipeReader) -> bool {
    let mut fds = [PollFd::new(reader.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, PollTimeout::ZERO).expect("polling a pipe");
    !fds[0].revents().is_some_and(|events| events.contains(PollFlags::POLLIN))
}

/// Makes an end of a pipe non-blocking, for all who have it.
pub(crate) fn unblock(end: &impl AsFd) {
    fcntl(end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).expect("setting O_NONBLOCK");
}

/// Writes all of `bytes`, as fast as they are taken, then closes the pipe. A reader that leaves ends it.
pub(crate) fn feed(mut writer: PipeWriter, bytes: impl Into<Vec<u8>>) -> JoinHandle<()> {
    let bytes = bytes.into();
    std::thread::spawn(move || drop(writer.write_all(&bytes)))
}

/// Writes one line of `length` bytes, `head` and `tail` included and its LF not, then `after`; the rest of it is made
/// of `x`. It is nowhere in one piece.
pub(crate) fn feed_line(
    mut writer: PipeWriter,
    head: &'static str,
    length: u64,
    tail: &'static str,
    after: String,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let chunk = vec![b'x'; 1 << 16];
        writer.write_all(head.as_bytes()).expect("feeding the head");
        let mut left = length - (head.len() + tail.len()) as u64;
        while left > 0 {
            let most = usize::try_from(left).map_or(chunk.len(), |left| left.min(chunk.len()));
            writer.write_all(&chunk[..most]).expect("feeding the line");
            left -= most as u64;
        }
        writer.write_all(format!("{tail}\n{after}").as_bytes()).expect("feeding the end");
    })
}

/// Reads a pipe to its end.
pub(crate) fn gather(mut reader: PipeReader) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = vec![];
        reader.read_to_end(&mut bytes).expect("reading a pipe");
        bytes
    })
}

/// Reads a pipe to its end; gives the number of bytes and the last ones.
pub(crate) fn count(mut reader: PipeReader) -> JoinHandle<(u64, Vec<u8>)> {
    const LAST: usize = 1000;
    std::thread::spawn(move || {
        let (mut total, mut last, mut chunk) = (0, vec![], vec![0; 1 << 16]);
        loop {
            match reader.read(&mut chunk).expect("reading a pipe") {
                0 => return (total, last),
                length => {
                    total += length as u64;
                    last.extend_from_slice(&chunk[length.saturating_sub(LAST)..length]);
                    last.drain(..last.len().saturating_sub(LAST));
                }
            }
        }
    })
}
