//! A file, or anything else that can be written, that takes whole lines.

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
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

/// Where lines are appended. Of a regular file it is always true that it ends in a whole line between two calls.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// The end of the last whole line in a regular file; none for anything else, which cannot be cut back.
    end: Option<u64>,
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
        Ok(Output { file, end: about.is_file().then_some(0) })
    }

    /// Standard output, as it stands.
    ///
    /// # Errors
    /// When its descriptor cannot be duplicated.
    pub fn stdout() -> io::Result<Output> {
        Ok(Output { file: File::from(io::stdout().as_fd().try_clone_to_owned()?), end: None })
    }

    /// Appends `lines`, whole ones, in one write where the kernel takes it in one.
    ///
    /// # Errors
    /// When it cannot all be written. A regular file then ends after the last line that it took whole.
    pub fn lines(&mut self, lines: &[u8]) -> io::Result<()> {
        let (taken, result) = self.write(lines);
        let whole = lines[..taken].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        self.settle(whole as u64, result)
    }

    /// Appends one line that `feed` hands over in pieces.
    ///
    /// # Errors
    /// When it cannot all be written, or of `feed`. A regular file then ends before this line.
    pub fn line_in_pieces(
        &mut self,
        feed: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut length = 0;
        let result = feed(&mut |piece| {
            length += piece.len() as u64;
            self.write(piece).1
        });
        let whole = if result.is_ok() { length } else { 0 };
        self.settle(whole, result)
    }

    /// Writes `bytes` as they are; for what is not made of lines.
    ///
    /// # Errors
    /// When they cannot all be written; what was written stays.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes).1
    }

    /// Moves the end of the last whole line on by `whole` bytes, and cuts a regular file back to it after a failure.
    fn settle(&mut self, whole: u64, result: io::Result<()>) -> io::Result<()> {
        let Some(end) = &mut self.end else { return result };
        *end += whole;
        if result.is_err() {
            self.file.set_len(*end)?;
        }
        result
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
    fn a_full_device_is_an_error() {
        let mut output = Output::open(Path::new("/dev/full"), Existing::Refused).unwrap();
        assert_eq!(output.lines(b"x\n").unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
