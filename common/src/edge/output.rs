//! A file, or anything else that can be written, that takes whole lines.

use memchr::memrchr;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Which file may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// None: a file is made, and one that is there is an error, unless it is not a regular one.
    Refused,
    /// One that is there is emptied.
    Emptied,
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
}

impl Output {
    /// Opens `path` for appending. A file is made with mode 0600 and O_EXCL; an empty one that is there is used as
    /// it is; a pipe, a device or a socket is written as it stands.
    ///
    /// # Errors
    /// When it cannot be opened; `AlreadyExists` when it has content and `existing` refuses that.
    pub fn open(path: &Path, existing: Existing) -> io::Result<Output> {
        let mut options = OpenOptions::new();
        options.append(true).mode(0o600);
        let file = match options.clone().create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(path)?,
            result => result?,
        };
        let about = file.metadata()?;
        if about.is_file() && about.len() > 0 {
            match existing {
                Existing::Refused => return Err(io::ErrorKind::AlreadyExists.into()),
                Existing::Emptied => file.set_len(0)?,
            }
        }
        Output::of(file)
    }

    /// Opens `path` as `tee` does: a file is made with the mode that the umask leaves, one that is there is used.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn share(path: &Path, at: At) -> io::Result<Output> {
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
        Ok(Output { file, regular, begun: 0 })
    }

    /// Writes `lines` in one write where the kernel takes it in one: whole lines, or the next piece of one.
    ///
    /// # Errors
    /// When it cannot all be written. A regular file then ends after the last line that it took whole.
    pub fn lines(&mut self, lines: &[u8]) -> io::Result<()> {
        let (taken, result) = self.write(lines);
        self.begun = match memrchr(b'\n', &lines[..taken]) {
            Some(at) => (taken - at - 1) as u64,
            None => self.begun + taken as u64,
        };
        result.or_else(|error| self.cut().and(Err(error)))
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

    /// Cuts a regular file back to the end of the last line that it took whole, unless somebody else has written
    /// behind that. The position tells: after a write it is where these bytes ended, also with O_APPEND.
    fn cut(&mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
        if begun == 0 || !self.regular {
            return Ok(());
        }
        let end = self.file.stream_position()?;
        if self.file.metadata()?.len() == end {
            let whole = end.saturating_sub(begun);
            self.file.set_len(whole)?;
            self.file.seek(SeekFrom::Start(whole))?;
        }
        Ok(())
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
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_is_made_private_and_never_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        Output::open(&path, Existing::Refused).unwrap().lines(b"{}\n").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let refused = Output::open(&path, Existing::Refused).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"{}\n");
        Output::open(&path, Existing::Emptied).unwrap().lines(b"[]\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"[]\n");
    }

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
    fn a_line_whose_pieces_fail_is_cut_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mut output = Output::open(&path, Existing::Refused).unwrap();
        output.lines(b"one\ntwo\n").unwrap();
        let result = output.line_in_pieces(|write| {
            write(b"thr")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::StorageFull);
        output.line_in_pieces(|write| write(b"fo").and_then(|()| write(b"ur\n"))).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\nfour\n");
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
    }

    #[test]
    fn a_full_device_is_an_error() {
        let mut output = Output::open(Path::new("/dev/full"), Existing::Refused).unwrap();
        assert_eq!(output.lines(b"x\n").unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
