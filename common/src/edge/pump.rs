//! Reading a pipe, or whatever else stands on an input, to its end or to where it was told to stop.

use crate::sys::descriptor;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, OwnedFd};

/// How much is read at a time: the capacity of a Linux pipe (pipe(7)).
pub const CHUNK: usize = 64 * 1024;

/// The capacity that a pipe is given through which bulk goes: the most that any user may have (pipe-max-size, pipe(7)).
/// Measured on Linux 6.18, `jsonl-tee` into a file and a reader takes a third less time with it than with 64 KiB, and a
/// sixth less than with 256 KiB. A user's pipes together have a limit too (pipe-user-pages-soft, 64 MiB), behind which
/// a pipe stays as it is.
const CAPACITY: usize = 1024 * 1024;

/// How much is read of such a pipe at a time: half of it, so that its writer goes on meanwhile.
pub const WIDE: usize = CAPACITY / 2;

/// After how many full chunks a pipe counts as one that bulk goes through. What an agent prints never fills one.
const BULK: u32 = 16;

/// Whether bulk goes through a pipe.
#[derive(Debug, Default)]
pub struct PipeSize {
    full: u32,
}

impl PipeSize {
    /// Takes note of a transfer of `bytes`. Makes the pipe larger when that shows that bulk goes through it.
    pub fn note(&mut self, bytes: usize, pipe: impl AsFd) {
        // What was read is written up to its last line end: somewhat less.
        if !self.is_bulk() && bytes >= CHUNK / 2 {
            self.full += 1;
            if self.is_bulk() {
                descriptor::widen(pipe, i32::try_from(CAPACITY).unwrap_or(i32::MAX));
            }
        }
    }

    /// Whether it was made larger.
    pub fn is_bulk(&self) -> bool {
        self.full == BULK
    }
}

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

/// An input that is read as it comes, until its end or a stop.
#[derive(Debug)]
pub struct Source<S> {
    input: File,
    /// Can be read from when a stop is called.
    stop: S,
    /// How many of the bytes that were there when the stop was called are still to be read.
    left: Option<usize>,
    /// Whether `left` is what a pipe can hold at the most, and not what it held.
    is_estimate: bool,
    pipe_size: PipeSize,
}

impl<S: AsFd> Source<S> {
    /// Reads `input` as it stands, blocking or not, until `stop` can be read from.
    pub fn new(input: OwnedFd, stop: S) -> Source<S> {
        Source {
            input: File::from(input),
            stop,
            left: None,
            is_estimate: false,
            pipe_size: PipeSize::default(),
        }
    }

    /// What stops it.
    pub fn stop(&self) -> &S {
        &self.stop
    }

    /// How much to read at a time.
    pub fn chunk(&self) -> usize {
        if self.pipe_size.is_bulk() { WIDE } else { CHUNK }
    }

    /// Whether a stop was called.
    pub fn stopped(&self) -> bool {
        self.left.is_some()
    }

    /// Takes down how much there is to read behind the stop.
    fn count_rest(&mut self, readable: io::Result<usize>) {
        self.left = Some(match readable {
            Ok(bytes) => bytes,
            // A device such as /dev/zero, which has no end.
            Err(error) if error.raw_os_error() == Some(Errno::ENOTTY as i32) => 0,
            // A filter of system calls refuses the question.
            Err(_) => {
                self.is_estimate = true;
                CAPACITY
            }
        });
    }

    /// Reads what there is, waiting for it if there is nothing. 0 bytes are the end, or what comes after the bytes
    /// that were there when the stop was called.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.left.is_none() && !wait(&self.input, &self.stop)? {
                self.count_rest(descriptor::readable_bytes(&self.input));
            }
            if self.is_estimate && !is_readable(&self.input)? {
                return Ok(0);
            }
            let most = self.left.map_or(chunk.len(), |left| left.min(chunk.len()));
            match self.input.read(&mut chunk[..most]) {
                Ok(count) => {
                    self.left = self.left.map(|left| left - count);
                    self.pipe_size.note(count, &self.input);
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The pipe was made non-blocking, here or by a neighbour, and somebody else took what was there.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if self.stopped() {
                        return Ok(0);
                    }
                }
                Err(error) => return Err(error),
            }
        }
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
    let mut source = Source::new(pipe, stop);
    let mut chunk = vec![0; CHUNK];
    loop {
        match source.read(&mut chunk)? {
            0 => return Ok(()),
            count => each(&chunk[..count]),
        }
    }
}

/// Whether there is something to read, or the end, without waiting for it.
fn is_readable(input: &File) -> io::Result<bool> {
    let mut fds = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
    loop {
        match poll(&mut fds, PollTimeout::ZERO) {
            Err(Errno::EINTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}

/// Waits until the input has something to say (true) or the stop is called (false). The stop comes first: behind it
/// the input is taken by count, so a writer that never pauses cannot keep the reader going.
fn wait(input: &File, stop: &impl AsFd) -> io::Result<bool> {
    let mut fds =
        [PollFd::new(input.as_fd(), PollFlags::POLLIN), PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
    loop {
        match poll(&mut fds, PollTimeout::NONE) {
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
            Ok(_) => return Ok(fds[1].revents().is_none_or(|events| events.is_empty())),
        }
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

    #[test]
    fn a_pipe_that_cannot_be_asked_how_full_it_is_is_read_until_it_is_empty() {
        let (reader, mut writer) = io::pipe().unwrap();
        let (never, _open) = io::pipe().unwrap();
        writer.write_all(b"last words").unwrap();
        let mut source = Source::new(reader.into(), never);
        source.count_rest(Err(Errno::EPERM.into()));
        let mut chunk = [0; 4];
        let counts: Vec<usize> = (0..4).map(|_| source.read(&mut chunk).unwrap()).collect();
        assert_eq!(counts, [4, 4, 2, 0]);
        drop(writer);
    }

    #[test]
    fn a_pipe_that_bulk_goes_through_is_read_in_larger_chunks() {
        let (reader, _writer) = io::pipe().unwrap();
        let (never, _open) = io::pipe().unwrap();
        let mut source = Source::new(reader.into(), never);
        (0..100).for_each(|_| source.pipe_size.note(1000, &source.input));
        assert_eq!(source.chunk(), CHUNK);
        (0..BULK).for_each(|_| source.pipe_size.note(CHUNK, &source.input));
        assert_eq!(source.chunk(), WIDE);
    }
}
