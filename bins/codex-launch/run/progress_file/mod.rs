//! The progress file: events in whole lines, and one last line that the file keeps room for.
//!
//! The launcher alone writes it, so what another program does to it is detected and undone as far as possible.

mod reserve;
mod tail;
mod written;

pub use self::written::Tampering;

use self::reserve::Reserve;
use self::written::{Written, pieces};
use crate::files::output_path::{Existing, Named, OutputPath};
use crate::files::temp_names::TempNames;
use common::edge::output::Output;
use common::edge::paths::FileId;
use common::sys::{descriptor, lock};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// The state of a progress file before its last line.
#[derive(Debug)]
pub struct Settled {
    /// What another program has done to it.
    pub tampering: Option<Tampering>,
    /// Why it could not be repaired. A reader who opens it by its name does not find its last line then.
    pub error: Option<io::Error>,
}

/// The progress file of a run. It may be a pipe, a device or a descriptor of the caller: then there is no room to keep and
/// nothing to repair.
#[derive(Debug)]
pub struct ProgressFile {
    output: Output,
    /// The name of a regular file, under which readers look for it.
    name: Option<Named>,
    /// What was written to a regular file that nobody else may write.
    written: Option<Box<Written>>,
    /// The first thing that another program did to it.
    tampering: Option<Tampering>,
    reserve: Reserve,
}

impl ProgressFile {
    /// Opens `path`, and reserves disk space for the last line of a regular file.
    ///
    /// # Errors
    /// As for [`OutputPath::open`].
    pub fn open(path: &OutputPath, existing: Existing) -> io::Result<ProgressFile> {
        let mut progress = ProgressFile::of(path.open(existing)?);
        if progress.output.is_regular() {
            let length = progress.length()?;
            progress.reserve = Reserve::kept_in(progress.output.file(), length);
            progress.name = path.named().cloned();
            if progress.name.is_some() || progress.appends(length) {
                progress.written = Some(Box::new(Written::from(length)));
            }
        }
        Ok(progress)
    }

    fn of(output: Output) -> ProgressFile {
        ProgressFile { output, name: None, written: None, tampering: None, reserve: Reserve::none() }
    }

    /// Takes over the open file of a process that was killed. Returns the last whole line of a regular file, without its LF,
    /// and cuts off what follows that line. In anything else, and where the file cannot be read, the next line begins with
    /// an LF. `path` is where the process opened the file.
    ///
    /// # Errors
    /// When the kernel does not tell what it is.
    pub fn take_over(open: OwnedFd, path: &OutputPath) -> io::Result<(ProgressFile, Option<Vec<u8>>)> {
        let mut progress = ProgressFile::of(Output::of(open)?);
        let is_regular = progress.output.is_regular();
        progress.name = path.named().filter(|_| is_regular).cloned();
        let last = if is_regular { progress.cut_torn_line().ok() } else { None };
        if last.is_none() {
            progress.output.set_torn();
        }
        Ok((progress, last))
    }

    /// Cuts off a line without LF, and returns the one before it. A shell opens the target of `>` for writing alone.
    fn cut_torn_line(&mut self) -> io::Result<Vec<u8>> {
        let readable = descriptor::open_again(self.output.file())?;
        let end = tail::end_of_lines(&readable)?;
        if end < self.length()? {
            self.output.cut_to(end)?;
        }
        tail::last_line(&readable)
    }

    /// The open file.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// Whether it takes a line within `time`. A regular file does.
    pub fn is_ready(&self, time: Duration) -> bool {
        let timeout = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
        let mut fds = [PollFd::new(self.output.as_fd(), PollFlags::POLLOUT)];
        // A pipe that is not full takes a line up to PIPE_BUF whole (pipe(7)). A signal ends the wait.
        matches!(poll(&mut fds, timeout), Ok(1..))
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

    /// Compares the file with what was written to it, before its last line, and repairs it as far as possible. What was added
    /// is cut off. A file with other content than was written is emptied. One that was moved, removed or replaced is written
    /// anew under its name.
    pub fn settle(&mut self, names: &TempNames) -> Settled {
        let compared = self.compare();
        let placed = compared.and_then(|()| self.put_in_place(names));
        Settled { tampering: self.tampering, error: placed.err() }
    }

    /// Writes `line` as the last one, into the room that was kept for it, with a second try when the first one fails. A full
    /// regular file without such room gives up lines at its end until it takes `instead`: the last line matters more than
    /// those before it. Unused room is released.
    ///
    /// Returns the first error when lines were given up.
    ///
    /// # Errors
    /// When neither can be written.
    pub fn last_line(&mut self, line: &[u8], instead: &[u8]) -> io::Result<Option<io::Error>> {
        let kept = std::mem::replace(&mut self.reserve, Reserve::none());
        let mut result = self.lines(line);
        // The error may be transient, and lines that a reader has seen are not given up for that.
        if result.is_err() && self.output.is_regular() {
            result = self.lines(line);
        }
        let result = match result {
            Ok(()) => Ok(None),
            Err(error) if self.output.is_regular() && self.give_up_lines(instead.len() as u64 + 1)? => {
                self.lines(instead).map(|()| Some(error))
            }
            Err(error) => Err(error),
        };
        if kept != Reserve::none() {
            self.release_reserve();
        }
        result
    }

    /// Cuts off the last line of a regular file, and returns the one before it.
    ///
    /// # Errors
    /// When it cannot be cut or read.
    pub fn drop_last_line(&mut self) -> io::Result<Vec<u8>> {
        match self.give_up_lines(1)? {
            true => tail::last_line(self.output.file()),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Releases the room behind the end. The kernel does so too when the file is next emptied, so a failure costs some
    /// disk space alone.
    pub fn release_reserve(&self) {
        let _ = self.length().and_then(|length| self.output.file().set_len(length));
    }

    /// Whether what is written to a file of `length` bytes goes to its end.
    fn appends(&self, length: u64) -> bool {
        let mut file = self.output.file();
        let flags = fcntl(file, FcntlArg::F_GETFL).map(OFlag::from_bits_truncate);
        flags.is_ok_and(|flags| flags.contains(OFlag::O_APPEND))
            || file.stream_position().is_ok_and(|position| position == length)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.output.file().metadata()?.len())
    }

    /// Reserves room for the last line behind `lines`, after undoing what another program has written.
    fn keep_room(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.written.is_none() && self.reserve == Reserve::none() {
            return Ok(());
        }
        let length = self.length()?;
        if self.written.as_ref().is_some_and(|written| written.length() != length) {
            self.repair(length)?;
        }
        let length = self.written.as_ref().map_or(length, |written| written.length());
        self.reserve.keep(self.output.file(), length, lines.len() as u64)
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let (taken, result) = self.output.append(lines);
        if let Some(written) = &mut self.written {
            written.add(&lines[..taken]);
        }
        result
    }

    /// Cuts the file back to the end of the last line that it took whole.
    fn cut(&mut self) -> io::Result<()> {
        if self.output.begun() == 0 {
            return Ok(());
        }
        if self.written.is_some() {
            return self.take_back();
        }
        self.output.cut()?;
        let length = self.length()?;
        self.reserve.renew(self.output.file(), length);
        Ok(())
    }

    /// Cuts off the beginning of a line that was written, and what another program has written behind it.
    fn take_back(&mut self) -> io::Result<()> {
        let begun = self.output.take_begun();
        let length = self.length()?;
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

    /// Repairs a file that has another length, `length`, than was written. Bytes that another program added are cut off. When
    /// it has cut bytes off, nothing that is left can be trusted, and the file is emptied.
    ///
    /// # Errors
    /// When the file cannot be cut, or when the beginning of an unfinished line is lost.
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
        match self.output.take_begun() {
            0 => Ok(()),
            _ => Err(io::Error::other("another program truncated it")),
        }
    }

    fn cut_to(&mut self, length: u64) -> io::Result<()> {
        self.output.cut_to(length)?;
        self.reserve.renew(self.output.file(), length);
        Ok(())
    }

    fn compare(&mut self) -> io::Result<()> {
        let length = self.length()?;
        let Some(written) = &self.written else { return Ok(()) };
        if length != written.length() {
            self.repair(length)?;
        }
        let Some(written) = &self.written else { return Ok(()) };
        // A file that is open for writing alone is opened again.
        let again = if self.name.is_some() { None } else { descriptor::open_again(self.output.file()).ok() };
        if written.is_intact_in(again.as_ref().unwrap_or(self.output.file())) {
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
        let about = self.output.file().metadata()?;
        if name.is(FileId::of(&about)) {
            return Ok(());
        }
        self.tampering.get_or_insert(Tampering::Moved);
        let new = name.replace(names, |new| {
            pieces(self.output.file(), 0, about.len(), |piece| new.write_all(piece))?;
            // The lock shows readers of the new file that it is being written.
            let _ = lock::take(new);
            Ok(())
        })?;
        self.output.move_to(new);
        Ok(())
    }

    /// Cuts whole lines of at least `room` bytes off the end; false when there are none. `room` is one byte more than the
    /// last line, so that the file becomes shorter: readers see a change by its length.
    fn give_up_lines(&mut self, room: u64) -> io::Result<bool> {
        let Some(end) = tail::end_without(self.output.file(), room)? else { return Ok(false) };
        if let Some(written) = &mut self.written {
            written.begin_anew(end);
        }
        self.cut_to(end)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::edge::output::At;
    use std::fs;
    use std::path::Path;

    fn at(path: &Path) -> OutputPath {
        OutputPath::resolve(path).unwrap()
    }

    /// A file with one line, what `meddle` makes of it, another line, and how it was found then; its content.
    fn meddled(meddle: impl FnOnce(&Path)) -> (Settled, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mut output = ProgressFile::open(&at(&path), Existing::Refused).unwrap();
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
    fn a_line_whose_pieces_fail_is_cut_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mut output = ProgressFile::open(&at(&path), Existing::Refused).unwrap();
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
    fn the_last_line_finds_room_where_lines_can_be_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mut output = ProgressFile::open(&at(&path), Existing::Refused).unwrap();
        output.lines(b"one\ntwo\nthree\n").unwrap();
        assert!(output.give_up_lines(7).unwrap());
        output.lines(b"last\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\nlast\n");
        assert!(!output.give_up_lines(100).unwrap());
    }

    #[test]
    fn a_file_can_be_taken_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mut output = ProgressFile::open(&at(&path), Existing::Refused).unwrap();
        output.lines(b"mine\n").unwrap();
        let other = ProgressFile::open(&at(&path), Existing::Emptied).unwrap_err();
        assert_eq!(other.kind(), io::ErrorKind::WouldBlock);
        drop(output);
        assert_eq!(fs::read(&path).unwrap(), b"mine\n");
        ProgressFile::open(&at(&path), Existing::Emptied).unwrap();
    }

    #[test]
    fn a_full_device_is_an_error() {
        let mut output = ProgressFile::open(&at(Path::new("/dev/full")), Existing::Refused).unwrap();
        assert_eq!(output.lines(b"x\n").unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
