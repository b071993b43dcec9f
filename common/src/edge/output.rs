//! A file, or anything else that can be written, that takes whole lines.

use super::place;
use super::pump::Traffic;
use super::room::Room;
use super::tail;
use crate::sys::{descriptor, lock};
use memchr::memrchr;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

/// Which file may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// None: a file is made, and one that is there is an error, unless it is not a regular one.
    Refused,
    /// One that is there is emptied.
    Emptied,
}

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
    /// Whether it is known by a name, so that whoever looks for it later looks there.
    named: bool,
    /// How many bytes it took of a line that it has not taken whole.
    begun: u64,
    /// Whether it ends in a torn line that could not be cut away; the next line starts with an LF of its own.
    torn: bool,
    traffic: Traffic,
    room: Room,
}

impl Output {
    /// Opens `path` for appending. A file is made with mode 0600 and O_EXCL; an empty one that is there is used as
    /// it is; a pipe, a device, a socket or an open descriptor (`/dev/fd/3`) is written as it stands.
    ///
    /// # Errors
    /// When it cannot be opened; `AlreadyExists` when it has content and `existing` refuses that.
    pub fn open(path: &Path, existing: Existing) -> io::Result<Output> {
        Output::open_with(path, existing, |_| Ok(()))
    }

    /// The same, and a regular file is taken for this process, and for whom it hands the file to, before anything is
    /// done to it; and it keeps room for its last line: see [`Output::last_line`].
    ///
    /// # Errors
    /// `WouldBlock`, too, when another process has taken it so.
    pub fn open_alone(path: &Path, existing: Existing) -> io::Result<Output> {
        let output = Output::open_with(path, existing, |file| match lock::take(file) {
            // A file system without locks is written as it always was.
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Ok(()),
            taken => taken,
        })?;
        let room = if output.regular { Room::kept_in(&output.file) } else { Room::none() };
        Ok(Output { room, ..output })
    }

    /// Takes over what a process that is dead was writing, and gives the last whole line of a regular file, without
    /// its LF. Such a file is cut back to that line; to anything else, and to what cannot be read, the next line is a
    /// line of its own. `by_name` is whether that process opened it by a name.
    ///
    /// # Errors
    /// When the kernel does not tell what it is.
    pub fn take_over(open: OwnedFd, by_name: bool) -> io::Result<(Output, Option<Vec<u8>>)> {
        let mut output = Output::of(open)?;
        output.named = by_name && output.regular;
        let last = if output.regular { output.mend().ok() } else { None };
        output.torn = last.is_none();
        Ok((output, last))
    }

    /// Cuts a torn line off, and gives the one before it. A shell opens what it redirects to for writing alone.
    fn mend(&mut self) -> io::Result<Vec<u8>> {
        let readable = descriptor::open_again(&self.file)?;
        let end = tail::end_of_lines(&readable)?;
        if end < self.file.metadata()?.len() {
            self.file.set_len(end)?;
            self.file.seek(SeekFrom::Start(end))?;
        }
        tail::last_line(&readable)
    }

    /// Whether it takes a line within `time`. A regular file does.
    pub fn is_ready(&self, time: Duration) -> bool {
        let timeout = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
        let mut fds = [PollFd::new(self.file.as_fd(), PollFlags::POLLOUT)];
        // A pipe that is not full takes a line up to PIPE_BUF whole (pipe(7)). A signal ends the wait.
        matches!(poll(&mut fds, timeout), Ok(1..))
    }

    fn open_with(
        path: &Path,
        existing: Existing,
        take: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<Output> {
        if let Some(number) = place::descriptor(path) {
            return Output::of(descriptor::duplicate(number)?);
        }
        let mut options = OpenOptions::new();
        options.read(place::is_new_or_regular(path)).append(true).mode(0o600);
        let file = match options.clone().create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(path)?,
            result => result?,
        };
        if file.metadata()?.is_file() {
            take(&file)?;
        }
        let about = file.metadata()?;
        if about.is_file() && about.len() > 0 {
            match existing {
                Existing::Refused => return Err(io::ErrorKind::AlreadyExists.into()),
                Existing::Emptied => file.set_len(0)?,
            }
        }
        let output = Output::of(file)?;
        Ok(Output { named: output.regular, ..output })
    }

    /// Opens `path` as `tee` does: a file is made with the mode that the umask leaves, one that is there is used. An
    /// open descriptor (`/dev/fd/3`) is written as it stands.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn share(path: &Path, at: At) -> io::Result<Output> {
        if let Some(number) = place::descriptor(path) {
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
        Ok(Output {
            file,
            regular,
            named: false,
            begun: 0,
            torn: false,
            traffic: Traffic::default(),
            room: Room::none(),
        })
    }

    /// Writes `lines` in one write where the kernel takes it in one: whole lines, or the next piece of one.
    ///
    /// # Errors
    /// When it cannot all be written. A regular file then ends after the last line that it took whole.
    pub fn lines(&mut self, lines: &[u8]) -> io::Result<()> {
        let written = match self.room.keep(&self.file, lines.len() as u64) {
            Ok(()) => self.append(lines),
            // As many as there is room for.
            Err(_) => lines.split_inclusive(|&byte| byte == b'\n').try_for_each(|line| {
                self.room.keep(&self.file, line.len() as u64)?;
                self.append(line)
            }),
        };
        written.or_else(|error| self.cut().and(Err(error)))
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.torn {
            self.write(b"\n").1?;
            self.torn = false;
        }
        self.traffic.note(lines.len(), &self.file);
        let (taken, result) = self.write(lines);
        self.begun = match memrchr(b'\n', &lines[..taken]) {
            Some(at) => (taken - at - 1) as u64,
            None => self.begun + taken as u64,
        };
        result
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

    /// Writes `line` as the last one, into the room that was kept for it; once more where the first try fails. A full
    /// regular file without such room gives up lines at its end until it takes `instead`, which may say so: the last
    /// word of a file matters more than the words before it. Room that is not needed is given back.
    ///
    /// What stood in the way is returned when lines were given up.
    ///
    /// # Errors
    /// When neither can be written; `NotFound` when the file was removed, and only who has it open has got `instead`.
    pub fn last_line(&mut self, line: &[u8], instead: &[u8]) -> io::Result<Option<io::Error>> {
        let kept = std::mem::replace(&mut self.room, Room::none());
        if self.is_gone()? {
            self.lines(instead)?;
            return Err(io::Error::new(io::ErrorKind::NotFound, "the file was removed meanwhile"));
        }
        let mut result = self.lines(line);
        // A disk may fail for once, and lines that a reader has seen are not given up for that.
        if result.is_err() && self.regular {
            result = self.lines(line);
        }
        let result = match result {
            Ok(()) => Ok(None),
            Err(error) if self.regular && self.give_up_lines(instead.len() as u64 + 1)? => {
                self.lines(instead).map(|()| Some(error))
            }
            Err(error) => Err(error),
        };
        if kept != Room::none() {
            self.give_room_back();
        }
        result
    }

    /// Whether it has lost its name, as when the program that is launched cleans up its folder. A file that came as a
    /// descriptor need not have one.
    fn is_gone(&self) -> io::Result<bool> {
        Ok(self.named && self.file.metadata()?.nlink() == 0)
    }

    /// Gives back the room behind the end. It is the kernel's to do at the latest when the file is next emptied, so a
    /// failure costs nothing but some room.
    pub fn give_room_back(&self) {
        let _ = self.file.metadata().and_then(|about| self.file.set_len(about.len()));
    }

    /// Cuts whole lines of at least `room` bytes off the end; false when there are none. With one byte more than is to
    /// be written the file ends up shorter: to its readers one that has its old length would have no news.
    fn give_up_lines(&mut self, room: u64) -> io::Result<bool> {
        let Some(end) = tail::end_without(&self.file, room)? else { return Ok(false) };
        self.file.set_len(end)?;
        self.file.seek(SeekFrom::Start(end))?;
        Ok(true)
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

    /// Cuts a regular file back to the end of the last line that it took whole, unless somebody else has written
    /// behind that. The position tells: after a write it is where these bytes ended, also with O_APPEND.
    fn cut(&mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
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
            let whole = end.saturating_sub(begun);
            self.file.set_len(whole)?;
            self.file.seek(SeekFrom::Start(whole))?;
            self.room.renew(&self.file);
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
        output.lines(b"three\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwotheirs\n\nthree\n");
    }

    #[test]
    fn the_last_line_finds_room_where_lines_can_be_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mut output = Output::open(&path, Existing::Refused).unwrap();
        output.lines(b"one\ntwo\nthree\n").unwrap();
        assert!(output.give_up_lines(7).unwrap());
        output.lines(b"last\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\nlast\n");
        assert!(!output.give_up_lines(100).unwrap());
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
    fn a_file_can_be_taken_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mut output = Output::open_alone(&path, Existing::Refused).unwrap();
        output.lines(b"mine\n").unwrap();
        let other = Output::open_alone(&path, Existing::Emptied).unwrap_err();
        assert_eq!(other.kind(), io::ErrorKind::WouldBlock);
        drop(output);
        assert_eq!(fs::read(&path).unwrap(), b"mine\n");
        Output::open_alone(&path, Existing::Emptied).unwrap();
    }

    #[test]
    fn a_reader_that_leaves_is_noticed_without_a_write() {
        let (reader, writer) = io::pipe().unwrap();
        let output = Output::of(writer).unwrap();
        assert!(!output.reader_left());
        drop(reader);
        assert!(output.reader_left());
        assert!(!Output::open(Path::new("/dev/null"), Existing::Refused).unwrap().reader_left());
    }

    #[test]
    fn a_full_device_is_an_error() {
        let mut output = Output::open(Path::new("/dev/full"), Existing::Refused).unwrap();
        assert_eq!(output.lines(b"x\n").unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
