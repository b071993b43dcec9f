//! Reading a pipe to its end, or to where its writer was told to stop.

use crate::sys::descriptor;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, OwnedFd};

/// How much is read at a time: the capacity of a Linux pipe (pipe(7)).
const CHUNK: usize = 64 * 1024;

/// Tells pumps that nothing more is to be waited for.
#[derive(Debug)]
pub struct Stop {
    writer: PipeWriter,
    reader: PipeReader,
}

impl Stop {
    /// A stop that has not been called.
    ///
    /// # Errors
    /// When no pipe can be made.
    pub fn new() -> io::Result<Stop> {
        let (reader, writer) = io::pipe()?;
        Ok(Stop { writer, reader })
    }

    /// What a pump listens to.
    ///
    /// # Errors
    /// When the descriptor cannot be duplicated.
    pub fn listener(&self) -> io::Result<PipeReader> {
        self.reader.try_clone()
    }

    /// Calls the stop: each pump takes what its pipe holds now, and ends.
    pub fn call(self) {
        drop(self.writer);
    }
}

/// Reads `pipe` and hands each chunk, as it comes, to `each`. Ends at the end of the pipe or, when `stop` is called,
/// after the bytes that were in the pipe at that moment: a stranger that holds the other end open delays nothing.
///
/// # Errors
/// When the pipe cannot be read.
pub fn drain(pipe: OwnedFd, stop: &PipeReader, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    // This end's open file description is ours alone, so nobody else's reads change.
    fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    let mut pipe = File::from(pipe);
    let mut chunk = vec![0; CHUNK];
    while wait(&pipe, stop)? {
        match read(&mut pipe, &mut chunk)? {
            Some(0) => return Ok(()),
            Some(count) => each(&chunk[..count]),
            None => {}
        }
    }
    let mut left = descriptor::readable_bytes(&pipe)?;
    while left > 0 {
        let most = left.min(CHUNK);
        match read(&mut pipe, &mut chunk[..most])? {
            Some(0) | None => break,
            Some(count) => {
                each(&chunk[..count]);
                left -= count;
            }
        }
    }
    Ok(())
}

/// Waits until the pipe has something to say (true) or the stop is called (false). The stop comes first: behind it
/// the pipe is taken by count, so a writer that never pauses cannot keep the pump going.
fn wait(pipe: &File, stop: &PipeReader) -> io::Result<bool> {
    let mut fds =
        [PollFd::new(pipe.as_fd(), PollFlags::POLLIN), PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
    loop {
        match poll(&mut fds, PollTimeout::NONE) {
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
            Ok(_) => return Ok(fds[1].revents().is_none_or(|events| events.is_empty())),
        }
    }
}

fn read(pipe: &mut File, chunk: &mut [u8]) -> io::Result<Option<usize>> {
    match pipe.read(chunk) {
        Ok(count) => Ok(Some(count)),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn everything_up_to_the_end_is_handed_over() {
        let (reader, mut writer) = io::pipe().unwrap();
        let stop = Stop::new().unwrap();
        let listener = stop.listener().unwrap();
        let text: Vec<u8> = (0..300_000u32).map(|n| n as u8).collect();
        let sent = text.clone();
        let feeder = std::thread::spawn(move || writer.write_all(&sent).unwrap());
        let mut got = Vec::new();
        drain(reader.into(), &listener, |chunk| got.extend_from_slice(chunk)).unwrap();
        feeder.join().unwrap();
        assert!(got == text);
    }

    #[test]
    fn a_stop_ends_a_pipe_that_is_held_open_and_loses_nothing() {
        let (reader, mut writer) = io::pipe().unwrap();
        let stop = Stop::new().unwrap();
        let listener = stop.listener().unwrap();
        writer.write_all(b"last words").unwrap();
        stop.call();
        let mut got = Vec::new();
        drain(reader.into(), &listener, |chunk| got.extend_from_slice(chunk)).unwrap();
        assert_eq!(got, b"last words");
        drop(writer);
    }
}
