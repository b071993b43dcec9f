//! A file, or anything else that can be written, that takes whole lines.

use super::output_path::{Named, OutputPath};
use super::paths::{self, FileId};
use super::pump::PipeSize;
use super::reserve::Reserve;
use super::tail;
use super::temp_names::TempNames;
pub use super::written::Tampering;
use super::written::{Written, pieces};
use crate::sys::{descriptor, lock};
use memchr::memrchr;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
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

/// How a file was found before its last line.
#[derive(Debug)]
pub struct Settled {
    /// What another program has done to it.
    pub tampering: Option<Tampering>,
    /// Why it could not be put right: a reader who looks for it by its name will not find its last line there.
    pub error: Option<io::Error>,
}

/// Where lines go. Of a regular file it is always true that it ends in a whole line between two calls, as far as
/// this writer and whole lines are concerned.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// Whether it is a regular file, which can be cut back.
    regular: bool,
    /// Its name, so that whoever looks for it later looks there.
    name: Option<Named>,
    /// What was written, of a regular file that nobody else may write.
    written: Option<Box<Written>>,
    /// The first thing that another program did to it.
    tampering: Option<Tampering>,
    /// How many bytes it took of a line that it has not taken whole.
    begun: u64,
    /// Whether it ends in a torn line that could not be cut away; the next line starts with an LF of its own.
    torn: bool,
    pipe_size: PipeSize,
    reserve: Reserve,
}

impl Output {
    /// Opens `path` for appending. A file is made with mode 0600 and O_EXCL; an empty one that is there is used as
    /// it is; a pipe, a device, a socket or an open descriptor (`/dev/fd/3`) is written as it stands. A file is taken
    /// for this process, and for whom it hands the file to, before anything is done to it.
    ///
    /// # Errors
    /// When it cannot be opened; `AlreadyExists` when it has content and `existing` refuses that; `WouldBlock` when
    /// another process has taken it.
    pub fn open(path: &OutputPath, existing: Existing) -> io::Result<Output> {
        if let Some(descriptor) = path.duplicate() {
            return Output::of(descriptor?);
        }
        let named = path.named().ok_or(io::ErrorKind::InvalidInput)?;
        let file = named.open()?;
        if !file.metadata()?.is_file() {
            return Output::of(file);
        }
        match lock::take(&file) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
            // That a file system has no locks was found out when the path was taken.
            _ => {}
        }
        if file.metadata()?.len() > 0 {
            match existing {
                Existing::Refused => return Err(io::ErrorKind::AlreadyExists.into()),
                Existing::Emptied => file.set_len(0)?,
            }
        }
        Output::of(file)
    }

    /// The same for a file that is this writer's alone: it keeps room for its last line ([`Output::last_line`]), and
    /// what another program does to it is found out ([`Output::settle`]).
    ///
    /// # Errors
    /// As for [`Output::open`].
    pub fn open_alone(path: &OutputPath, existing: Existing) -> io::Result<Output> {
        let mut output = Output::open(path, existing)?;
        if output.regular {
            let length = output.file.metadata()?.len();
            output.reserve = Reserve::kept_in(&output.file, length);
            output.name = path.named().cloned();
            if output.name.is_some() || output.appends(length) {
                output.written = Some(Box::new(Written::from(length)));
            }
        }
        Ok(output)
    }

    /// Whether what is written to a file of `length` bytes goes to its end.
    fn appends(&self, length: u64) -> bool {
        let flags = fcntl(&self.file, FcntlArg::F_GETFL).map(OFlag::from_bits_truncate);
        flags.is_ok_and(|flags| flags.contains(OFlag::O_APPEND))
            || (&self.file).stream_position().is_ok_and(|position| position == length)
    }

    /// Takes over what a process that is dead was writing, and gives the last whole line of a regular file, without
    /// its LF. Such a file is cut back to that line; to anything else, and to what cannot be read, the next line is a
    /// line of its own. `path` is where that process opened it.
    ///
    /// # Errors
    /// When the kernel does not tell what it is.
    pub fn take_over(open: OwnedFd, path: &OutputPath) -> io::Result<(Output, Option<Vec<u8>>)> {
        let mut output = Output::of(open)?;
        output.name = path.named().filter(|_| output.regular).cloned();
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
        Ok(Output {
            file,
            regular,
            name: None,
            written: None,
            tampering: None,
            begun: 0,
            torn: false,
            pipe_size: PipeSize::default(),
            reserve: Reserve::none(),
        })
    }

    /// Writes `lines` in one write where the kernel takes it in one: whole lines, or the next piece of one.
    ///
    /// # Errors
    /// When it cannot all be written. A regular file then ends after the last line that it took whole.
    pub fn lines(&mut self, lines: &[u8]) -> io::Result<()> {
        let written = match self.keep_room(lines) {
            Ok(()) => self.append(lines),
            Err(error) if self.reserve == Reserve::none() => Err(error),
            // As many as there is room for.
            Err(_) => lines.split_inclusive(|&byte| byte == b'\n').try_for_each(|line| {
                self.keep_room(line)?;
                self.append(line)
            }),
        };
        written.or_else(|error| self.cut().and(Err(error)))
    }

    /// Sees to it that there is room for the last line behind `lines`, and that nobody else has written meanwhile.
    fn keep_room(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.written.is_none() && self.reserve == Reserve::none() {
            return Ok(());
        }
        let length = self.file.metadata()?.len();
        if self.written.as_ref().is_some_and(|written| written.length() != length) {
            self.repair(length)?;
        }
        let length = self.written.as_ref().map_or(length, |written| written.length());
        self.reserve.keep(&self.file, length, lines.len() as u64)
    }

    /// Undoes, as far as that is possible, what another program did to a file that has `length` bytes now: what it added
    /// is cut off, and of what it has cut off nothing is left that could be trusted.
    ///
    /// # Errors
    /// When the file cannot be cut, or in the midst of a line of which the beginning is lost.
    fn repair(&mut self, length: u64) -> io::Result<()> {
        let Some(written) = &self.written else { return Ok(()) };
        if length > written.length() {
            let end = written.length();
            self.tampering.get_or_insert(Tampering::Grown);
            return self.cut_to(end);
        }
        self.tampering.get_or_insert(Tampering::Shrunk);
        self.begin_anew(length)
    }

    /// Cuts off everything that was written to a file which has `length` bytes now.
    fn begin_anew(&mut self, length: u64) -> io::Result<()> {
        let Some(written) = &mut self.written else { return Ok(()) };
        let start = written.start(length);
        written.begin_anew(start);
        self.cut_to(start)?;
        match std::mem::take(&mut self.begun) {
            0 => Ok(()),
            _ => Err(io::Error::other("another program truncated it")),
        }
    }

    fn cut_to(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length))?;
        self.reserve.renew(&self.file, length);
        Ok(())
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.torn {
            self.write(b"\n").1?;
            self.torn = false;
        }
        self.pipe_size.note(lines.len(), &self.file);
        let (taken, result) = self.write(lines);
        self.begun = match memrchr(b'\n', &lines[..taken]) {
            Some(at) => (taken - at - 1) as u64,
            None => self.begun + taken as u64,
        };
        result
    }

    /// Compares a file that is this writer's alone with what was written to it, before its last line, and puts it right
    /// as far as possible: what was added is cut off, a file that is not as it was written is emptied, and one that was
    /// moved, removed or replaced is written anew under its name. What another program has done is returned, also
    /// what was found earlier, and whether a reader finds the file where it was said to be.
    ///
    /// # Errors
    /// When it cannot be put right.
    pub fn settle(&mut self, names: &TempNames) -> Settled {
        let compared = self.compare();
        let placed = compared.and_then(|()| self.put_in_place(names));
        Settled { tampering: self.tampering, error: placed.err() }
    }

    fn compare(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        let Some(written) = &self.written else { return Ok(()) };
        if length != written.length() {
            self.repair(length)?;
        }
        let Some(written) = &self.written else { return Ok(()) };
        // A file that can be written only is opened again.
        let again = if self.name.is_some() { None } else { descriptor::open_again(&self.file).ok() };
        if written.is_intact_in(again.as_ref().unwrap_or(&self.file)) {
            return Ok(());
        }
        let length = written.length();
        self.tampering.get_or_insert(Tampering::Changed);
        self.begin_anew(length)
    }

    fn put_in_place(&mut self, names: &TempNames) -> io::Result<()> {
        let Some(name) = &self.name else { return Ok(()) };
        if let Err(error) = name.is_in_place() {
            self.tampering.get_or_insert(Tampering::FolderMoved);
            return Err(error);
        }
        let about = self.file.metadata()?;
        if name.is(FileId::of(&about)) {
            return Ok(());
        }
        self.tampering.get_or_insert(Tampering::Moved);
        let new = name.replace(names, |new| {
            pieces(&self.file, 0, about.len(), |piece| new.write_all(piece))?;
            // Who sees the new file sees, too, that somebody writes it.
            let _ = lock::take(new);
            Ok(())
        })?;
        self.file = new;
        Ok(())
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
    /// word of a file matters more than the words before it. Reserve that is not needed is given back.
    ///
    /// What stood in the way is returned when lines were given up.
    ///
    /// # Errors
    /// When neither can be written.
    pub fn last_line(&mut self, line: &[u8], instead: &[u8]) -> io::Result<Option<io::Error>> {
        let kept = std::mem::replace(&mut self.reserve, Reserve::none());
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
        if kept != Reserve::none() {
            self.release_reserve();
        }
        result
    }

    /// Cuts off the last line of a regular file, and gives the one before it.
    ///
    /// # Errors
    /// When it cannot be cut or read.
    pub fn drop_last_line(&mut self) -> io::Result<Vec<u8>> {
        match self.give_up_lines(1)? {
            true => tail::last_line(&self.file),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Gives back the room behind the end. It is the kernel's to do at the latest when the file is next emptied, so a
    /// failure costs nothing but some room.
    pub fn release_reserve(&self) {
        let _ = self.file.metadata().and_then(|about| self.file.set_len(about.len()));
    }

    /// Cuts whole lines of at least `room` bytes off the end; false when there are none. With one byte more than is to
    /// be written the file ends up shorter: to its readers one that has its old length would have no news.
    fn give_up_lines(&mut self, reserve: u64) -> io::Result<bool> {
        let Some(end) = tail::end_without(&self.file, reserve)? else { return Ok(false) };
        if let Some(written) = &mut self.written {
            written.begin_anew(end);
        }
        self.cut_to(end)?;
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

    /// Cuts a regular file back to the end of the last line that it took whole, unless somebody else, who may, has
    /// written behind that. The position tells: after a write it is where these bytes ended, also with O_APPEND.
    fn cut(&mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
        if begun == 0 {
            return Ok(());
        }
        if !self.regular {
            self.torn = true;
            return Ok(());
        }
        if self.written.is_some() {
            return self.take_back(begun);
        }
        let end = self.file.stream_position()?;
        self.torn = self.file.metadata()?.len() != end;
        if !self.torn {
            self.cut_to(end.saturating_sub(begun))?;
        }
        Ok(())
    }

    /// Cuts off the last `begun` bytes that were written, and what another program has written behind them.
    fn take_back(&mut self, begun: u64) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        let Some(written) = &mut self.written else { return Ok(()) };
        let whole = written.length().saturating_sub(begun);
        if length != written.length() {
            self.repair(length)?;
        }
        match &mut self.written {
            Some(written) if written.length() > whole => written.cut(whole),
            _ => return Ok(()),
        }
        self.cut_to(whole)
    }

    /// How many bytes were written, and whether that was all. A pipe that somebody made non-blocking is waited for.
    fn write(&mut self, bytes: &[u8]) -> (usize, io::Result<()>) {
        let (taken, result) = self.write_to_file(bytes);
        if let Some(written) = &mut self.written {
            written.add(&bytes[..taken]);
        }
        (taken, result)
    }

    fn write_to_file(&mut self, bytes: &[u8]) -> (usize, io::Result<()>) {
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

    fn at(path: &Path) -> OutputPath {
        OutputPath::resolve(path).unwrap()
    }

    /// A file with one line, what `meddle` makes of it, another line, and how it was found then; its content.
    fn meddled(meddle: impl FnOnce(&Path)) -> (Settled, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mut output = Output::open_alone(&at(&path), Existing::Refused).unwrap();
        output.lines(b"one\n").unwrap();
        meddle(&path);
        output.lines(b"two\n").unwrap();
        let settled = output.settle(&TempNames::new());
        output.last_line(b"last\n", b"last\n").unwrap();
        (settled, fs::read_to_string(&path).unwrap_or_default())
    }

    #[test]
    fn what_another_program_does_to_a_file_is_found_out() {
        let append = |text: &'static str| {
            move |path: &Path| Output::share(path, At::End).unwrap().bytes(text.as_bytes()).unwrap()
        };
        let intact = "one\ntwo\nlast\n";
        for (meddle, found, left) in [
            (&(|_: &Path| {}) as &dyn Fn(&Path), None, intact),
            (&append("x"), Some(Tampering::Grown), intact),
            (&append("three\n"), Some(Tampering::Grown), intact),
            (&|path| fs::write(path, "").unwrap(), Some(Tampering::Shrunk), "two\nlast\n"),
            (&|path| fs::write(path, "oNe\n").unwrap(), Some(Tampering::Changed), "last\n"),
            (&|path| fs::write(path, "longer\n").unwrap(), Some(Tampering::Grown), "last\n"),
            (&|path| fs::remove_file(path).unwrap(), Some(Tampering::Moved), intact),
            (&|path| fs::rename(path, path.with_extension("old")).unwrap(), Some(Tampering::Moved), intact),
        ] {
            let (settled, content) = meddled(meddle);
            assert!(settled.error.is_none(), "{settled:?}");
            assert_eq!((settled.tampering, content.as_str()), (found, left));
        }
    }

    #[test]
    fn a_name_that_cannot_be_had_back_is_said() {
        let (settled, _) = meddled(|path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        });
        assert_eq!(settled.tampering, Some(Tampering::Moved));
        assert!(settled.error.is_some());
    }

    #[test]
    fn a_file_is_made_private_and_never_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        Output::open(&at(&path), Existing::Refused).unwrap().lines(b"{}\n").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let refused = Output::open(&at(&path), Existing::Refused).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"{}\n");
        Output::open(&at(&path), Existing::Emptied).unwrap().lines(b"[]\n").unwrap();
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
        let mut output = Output::open(&at(&path), Existing::Refused).unwrap();
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
        let mut output = Output::open(&at(&path), Existing::Refused).unwrap();
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
        let mut output = Output::open_alone(&at(&path), Existing::Refused).unwrap();
        output.lines(b"mine\n").unwrap();
        let other = Output::open_alone(&at(&path), Existing::Emptied).unwrap_err();
        assert_eq!(other.kind(), io::ErrorKind::WouldBlock);
        drop(output);
        assert_eq!(fs::read(&path).unwrap(), b"mine\n");
        Output::open_alone(&at(&path), Existing::Emptied).unwrap();
    }

    #[test]
    fn a_reader_that_leaves_is_noticed_without_a_write() {
        let (reader, writer) = io::pipe().unwrap();
        let output = Output::of(writer).unwrap();
        assert!(!output.reader_left());
        drop(reader);
        assert!(output.reader_left());
        assert!(!Output::open(&at(Path::new("/dev/null")), Existing::Refused).unwrap().reader_left());
    }

    #[test]
    fn a_full_device_is_an_error() {
        let mut output = Output::open(&at(Path::new("/dev/full")), Existing::Refused).unwrap();
        assert_eq!(output.lines(b"x\n").unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
