//! A file, or anything else that can be written, that takes whole lines.

use super::paths;
use super::pump::PipeSize;
use crate::sys::descriptor;
use memchr::memrchr;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

impl AsFd for Output {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Where in a file that is there lines go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// It is emptied, and they go where the last ones ended.
    Start,
    /// They go to its end, wherever that is by then: several writers can share it.
    End,
}

/// Where lines go. Of a regular file it is always true that it ends in a whole line between two calls, as far as
/// this writer and whole lines are concerned.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// Whether it is a regular file, which can be cut back.
    regular: bool,
    /// How many bytes it took of a line that it has not taken whole.
    begun: u64,
    /// Whether it ends in a torn line that could not be cut away; the next line starts with an LF of its own.
    torn: bool,
    pipe_size: PipeSize,
}

impl Output {
    /// Opens `path` as `tee` does: a file is made with the mode that the umask leaves, one that is there is used. An
    /// open descriptor (`/dev/fd/3`) is written as it stands.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn share(path: &Path, at: At) -> io::Result<Output> {
        if let Some(number) = paths::descriptor(path) {
            return Output::of(descriptor::duplicate(number)?);
        }
        let mut options = OpenOptions::new();
        match at {
            At::Start => options.write(true).truncate(true),
            At::End => options.append(true),
        };
        Output::of(options.create(true).open(path)?)
    }

    /// Standard output, as it stands.
    ///
    /// # Errors
    /// When its descriptor cannot be duplicated.
    pub fn stdout() -> io::Result<Output> {
        Output::of(io::stdout().as_fd().try_clone_to_owned()?)
    }

    /// Anything that is open for writing, as it stands.
    ///
    /// # Errors
    /// When the kernel does not tell what it is.
    pub fn of(open: impl Into<OwnedFd>) -> io::Result<Output> {
        let file = File::from(open.into());
        let regular = file.metadata()?.is_file();
        Ok(Output { file, regular, begun: 0, torn: false, pipe_size: PipeSize::default() })
    }

    /// Writes `lines` in one write where the kernel takes it in one: whole lines, or the next piece of one.
    ///
    /// # Errors
    /// When it cannot all be written. A regular file then ends after the last line that it took whole.
    pub fn lines(&mut self, lines: &[u8]) -> io::Result<()> {
        self.append(lines).1.or_else(|error| self.cut().and(Err(error)))
    }

    /// Writes `lines` as [`Output::lines`] does, and keeps the beginning of a line that it has not taken whole. Returns how
    /// many bytes it took, and whether that was all.
    pub fn append(&mut self, lines: &[u8]) -> (usize, io::Result<()>) {
        if self.torn {
            if let Err(error) = self.write(b"\n").1 {
                return (0, Err(error));
            }
            self.torn = false;
        }
        self.pipe_size.note(lines.len(), &self.file);
        let (taken, result) = self.write(lines);
        self.begun = match memrchr(b'\n', &lines[..taken]) {
            Some(at) => (taken - at - 1) as u64,
            None => self.begun + taken as u64,
        };
        (taken, result)
    }

    /// Writes one line that `feed` hands over in pieces.
    ///
    /// # Errors
    /// When it cannot all be written, or of `feed`. A regular file then ends before this line.
    pub fn line_in_pieces(
        &mut self,
        feed: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<()> {
        feed(&mut |piece| self.lines(piece)).or_else(|error| self.cut().and(Err(error)))
    }

    /// Writes `bytes` as they are; for what is not made of lines.
    ///
    /// # Errors
    /// When they cannot all be written; what was written stays.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes).1
    }

    /// Whether it is a pipe or a socket whose reader has left: a write would fail.
    pub fn reader_left(&self) -> bool {
        let mut fds = [PollFd::new(self.file.as_fd(), PollFlags::empty())];
        matches!(poll(&mut fds, PollTimeout::ZERO), Ok(1..))
    }

    /// Cuts a regular file back to the end of the last line that it took whole, unless another writer has written behind
    /// that. The position tells: after a write it is where these bytes ended, also with O_APPEND.
    ///
    /// # Errors
    /// When it cannot be cut.
    pub fn cut(&mut self) -> io::Result<()> {
        let begun = self.take_begun();
        if begun == 0 {
            return Ok(());
        }
        if !self.regular {
            self.torn = true;
            return Ok(());
        }
        let end = self.file.stream_position()?;
        self.torn = self.file.metadata()?.len() != end;
        if !self.torn {
            self.cut_to(end.saturating_sub(begun))?;
        }
        Ok(())
    }

    /// Cuts a regular file to `length` bytes. The next line goes there.
    ///
    /// # Errors
    /// When it cannot be cut.
    pub fn cut_to(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length))?;
        Ok(())
    }

    /// How many bytes it took of a line that it has not taken whole.
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// The same, for a caller that cuts them off or gives them up: they count no more.
    pub fn take_begun(&mut self) -> u64 {
        std::mem::take(&mut self.begun)
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Whether it is a regular file, which can be cut.
    pub fn is_regular(&self) -> bool {
        self.regular
    }

    /// It may end in a torn line: the next line begins with an LF.
    pub fn set_torn(&mut self) {
        self.torn = true;
    }

    /// Continues in `file`, a copy of the one before.
    pub fn move_to(&mut self, file: File) {
        self.file = file;
    }

    /// How many bytes were written, and whether that was all. A pipe that somebody made non-blocking is waited for.
    fn write(&mut self, bytes: &[u8]) -> (usize, io::Result<()>) {
        let mut taken = 0;
        while taken < bytes.len() {
            let result = match self.file.write(&bytes[taken..]) {
                Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    taken += count;
                    Ok(())
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(),
                Err(error) => Err(error),
            };
            if result.is_err() {
                return (taken, result);
            }
        }
        (taken, Ok(()))
    }

    fn wait(&self) -> io::Result<()> {
        match poll(&mut [PollFd::new(self.file.as_fd(), PollFlags::POLLOUT)], PollTimeout::NONE) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_shared_file_is_emptied_or_appended_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "old\n").unwrap();
        Output::share(&path, At::End).unwrap().lines(b"new\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old\nnew\n");
        Output::share(&path, At::Start).unwrap().lines(b"newer\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer\n");
    }

    #[test]
    fn what_somebody_else_has_written_behind_a_torn_line_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mut output = Output::share(&path, At::End).unwrap();
        let mut other = Output::share(&path, At::End).unwrap();
        let result = output.line_in_pieces(|write| {
            write(b"one\ntwo")?;
            other.lines(b"theirs\n")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(result.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwotheirs\n");
        output.lines(b"three\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwotheirs\n\nthree\n");
    }

    #[test]
    fn a_line_behind_a_torn_one_is_a_line_of_its_own() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut output = Output::of(writer).unwrap();
        let torn = output.line_in_pieces(|write| {
            write(b"to")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(torn.is_err());
        output.lines(b"whole\n").unwrap();
        drop(output);
        let mut got = Vec::new();
        io::Read::read_to_end(&mut reader, &mut got).unwrap();
        assert_eq!(got, b"to\nwhole\n");
    }

    #[test]
    fn a_reader_that_leaves_is_noticed_without_a_write() {
        let (reader, writer) = io::pipe().unwrap();
        let output = Output::of(writer).unwrap();
        assert!(!output.reader_left());
        drop(reader);
        assert!(output.reader_left());
        assert!(!Output::share(Path::new("/dev/null"), At::End).unwrap().reader_left());
    }
}
