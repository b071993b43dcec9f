//! A file, or whatever stands on stdin, that is read as it comes.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

/// How much is read at a time. From 64 KiB on more costs no less, and less stays in the processor's cache.
const CHUNK: usize = 128 * 1024;

/// A file that is waited for where a read would not wait: somebody has made its pipe non-blocking, as Node.js and ssh do
/// with theirs. It is shared, so it stays as it is.
#[derive(Debug)]
pub struct BlockingReader(File);

impl BlockingReader {
    /// Standard input, as it stands.
    ///
    /// # Errors
    /// When its descriptor cannot be duplicated.
    pub fn stdin() -> io::Result<BlockingReader> {
        Ok(BlockingReader(File::from(io::stdin().as_fd().try_clone_to_owned()?)))
    }

    fn wait(&self, time: PollTimeout) -> io::Result<bool> {
        match poll(&mut [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)], time) {
            Ok(count) => Ok(count > 0),
            // Whoever asks looks again.
            Err(Errno::EINTR) => Ok(true),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Read for BlockingReader {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait(PollTimeout::NONE)?;
                }
                result => return result,
            }
        }
    }
}

/// An input and the chunk that it was read into last.
#[derive(Debug)]
pub struct Input {
    file: BlockingReader,
    chunk: Vec<u8>,
}

impl Input {
    /// The file at `path`, from its beginning.
    ///
    /// # Errors
    /// When it cannot be opened for reading.
    pub fn open(path: &Path) -> io::Result<Input> {
        File::open(path).map(BlockingReader).map(Input::of)
    }

    /// Standard input, as it stands.
    ///
    /// # Errors
    /// When its descriptor cannot be duplicated.
    pub fn stdin() -> io::Result<Input> {
        BlockingReader::stdin().map(Input::of)
    }

    fn of(file: BlockingReader) -> Input {
        Input { file, chunk: vec![0; CHUNK] }
    }

    /// What was read, as soon as there is something. Nothing is the end, for now: a file may grow.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&mut self) -> io::Result<&[u8]> {
        let count = self.file.read(&mut self.chunk)?;
        Ok(&self.chunk[..count])
    }

    /// Whether for so long there was nothing to read, and no end either.
    ///
    /// # Errors
    /// When the kernel cannot tell.
    pub fn pauses_for(&self, time: Duration) -> io::Result<bool> {
        let time = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
        self.file.wait(time).map(|is_ready| !is_ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_is_read_to_its_end_and_beyond_when_it_grows() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut input = Input::open(file.path()).unwrap();
        for text in ["one", "two"] {
            file.write_all(text.as_bytes()).unwrap();
            assert_eq!(input.read().unwrap(), text.as_bytes());
            assert_eq!(input.read().unwrap(), b"");
        }
        assert!(!input.pauses_for(Duration::ZERO).unwrap());
    }

    #[test]
    fn a_pause_is_seen_and_an_end_is_none() {
        let (reader, mut writer) = io::pipe().unwrap();
        nix::fcntl::fcntl(&reader, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK)).unwrap();
        let mut input = Input::of(BlockingReader(File::from(std::os::fd::OwnedFd::from(reader))));
        assert!(input.pauses_for(Duration::ZERO).unwrap());
        let feeder = std::thread::spawn(move || {
            writer.write_all(b"x").unwrap();
            writer
        });
        assert_eq!(input.read().unwrap(), b"x");
        drop(feeder.join().unwrap());
        assert!(!input.pauses_for(Duration::ZERO).unwrap());
        assert_eq!(input.read().unwrap(), b"");
    }
}
