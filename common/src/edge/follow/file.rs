//! One file that is followed by its path.

use super::cursor::{About, Change, Changed, Cursor, Id, Place, Step};
use crate::sys::lock;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::ops::{ControlFlow, Range};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How much of one file is read before the other files are.
const SLICE: u64 = 4 << 20;

/// How long ago a change must be for a later one to have another time stamp: two seconds is the coarsest of any file
/// system (FAT).
const PAST: Duration = Duration::from_secs(2);

/// A change of a file. Changes come in the order in which they were found.
#[derive(Debug)]
pub enum FileChange<'a> {
    /// These bytes follow those so far. They may end within a line.
    Bytes(&'a [u8]),
    /// The unfinished last line was taken back; the next bytes begin it again.
    Rewind,
    /// All bytes so far are void; the next bytes are the first of the file.
    Restart(Change),
    /// All bytes that the file had at this look were given.
    Pause(OpenFile<'a>),
    /// It exists and cannot be read.
    Unreadable(io::Error),
    /// It is not a regular file.
    Irregular,
}

/// How a look ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looked {
    /// All changes were given.
    Done,
    /// There is more to read.
    More,
    /// The caller has no more use for the file.
    Unwanted,
}

/// A file that is open during a look.
#[derive(Debug, Clone, Copy)]
pub struct OpenFile<'a>(&'a File);

impl OpenFile<'_> {
    /// Whether a writer has the file locked, as `codex-launch` has its progress file. `None` where that cannot be asked.
    pub fn is_taken(&self) -> Option<bool> {
        lock::is_taken(self.0)
    }
}

/// A file at a path, and how far it was read.
#[derive(Debug)]
pub(super) struct Followed {
    path: PathBuf,
    cursor: Cursor,
    /// Up to where it is being read; none between looks that ended.
    goal: Option<u64>,
    /// Whether there was anything at the path at the last look.
    is_there: bool,
    /// Whether there was anything there at any look.
    was_there: bool,
    /// Whether the path was a link at any look. A change of its target gives no notice here.
    is_link: bool,
}

impl Followed {
    pub(super) fn new(path: PathBuf) -> Followed {
        Followed {
            path,
            cursor: Cursor::new(),
            goal: None,
            is_there: false,
            was_there: false,
            is_link: false,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn is_there(&self) -> bool {
        self.is_there
    }

    pub(super) fn was_there(&self) -> bool {
        self.was_there
    }

    /// Whether a writer has taken it for itself; `None` when it is not there or cannot be asked.
    pub(super) fn is_taken(&self) -> Option<bool> {
        let file = open(&self.path).ok()?;
        about(&file.metadata().ok()?)?;
        OpenFile(&file).is_taken()
    }

    pub(super) fn is_link(&self) -> bool {
        self.is_link
    }

    /// Sees what has become of the file and tells it to `each`, through `room`, until that breaks off, a slice has been
    /// read, or it is `until`; at least a chunk is read. `hinted` is whether it has probably changed.
    pub(super) fn look(
        &mut self,
        hinted: bool,
        until: Option<Instant>,
        room: &mut [u8],
        each: &mut impl FnMut(FileChange<'_>) -> ControlFlow<()>,
    ) -> Looked {
        match self.read(hinted, until, room, each) {
            Ok(looked) => looked,
            // It is not there, or has just gone (ESTALE, as NFS has it): it may come.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::NotADirectory
                        | io::ErrorKind::StaleNetworkFileHandle
                ) =>
            {
                self.is_there = false;
                self.see_link();
                Looked::Done
            }
            Err(error) => give(each, FileChange::Unreadable(error)),
        }
    }

    fn read(
        &mut self,
        hinted: bool,
        until: Option<Instant>,
        room: &mut [u8],
        each: &mut impl FnMut(FileChange<'_>) -> ControlFlow<()>,
    ) -> io::Result<Looked> {
        // Most looks without a hint end here, without an open. With one, the open tells as much; a device, which an
        // open might do something to, is not opened before it was looked at once.
        if !hinted || !self.is_there {
            let metadata = fs::metadata(&self.path)?;
            (self.is_there, self.was_there) = (true, true);
            match about(&metadata) {
                None => return Ok(give(each, FileChange::Irregular)),
                Some(now) if self.cursor.is_current(&now) => return Ok(Looked::Done),
                Some(_) => {}
            }
        }
        let file = open(&self.path)?;
        let Some(now) = about(&file.metadata()?) else { return Ok(give(each, FileChange::Irregular)) };
        let mut ahead = 0..0;
        let step = self.cursor.step(&now, |place| {
            let (stands, behind) = compare(&file, place, now.length, room)?;
            ahead = behind;
            Ok::<bool, io::Error>(stands)
        })?;
        let change = match step {
            Step::Rest => {
                self.cursor.see(now.changed);
                return Ok(Looked::Done);
            }
            Step::Read => None,
            Step::Back => {
                self.cursor.back();
                Some(FileChange::Rewind)
            }
            Step::Anew(change) => {
                self.cursor.begin(now.id);
                self.see_link();
                // What was compared is elsewhere in it.
                ahead = 0..0;
                change.map(FileChange::Restart)
            }
        };
        self.cursor.see(now.changed);
        if step != Step::Read {
            self.goal = None;
        }
        if let Some(change) = change
            && each(change).is_break()
        {
            return Ok(Looked::Unwanted);
        }
        if !ahead.is_empty() {
            self.cursor.had(&room[ahead.clone()]);
            if each(FileChange::Bytes(&room[ahead])).is_break() {
                return Ok(Looked::Unwanted);
            }
        }
        self.read_slice(now.length, until, &file, room, each)
    }

    /// Reads on, no further than the length that the file had when this was begun: a writer that never pauses cannot keep
    /// anybody from seeing a pause.
    fn read_slice(
        &mut self,
        length: u64,
        until: Option<Instant>,
        file: &File,
        room: &mut [u8],
        each: &mut impl FnMut(FileChange<'_>) -> ControlFlow<()>,
    ) -> io::Result<Looked> {
        let end = self.goal.take().map_or(length, |goal| goal.min(length));
        let slice = self.cursor.at().saturating_add(SLICE);
        let mut is_late = false;
        while self.cursor.at() < end {
            if is_late || self.cursor.at() >= slice {
                self.goal = Some(end);
                return Ok(Looked::More);
            }
            let most = most(room.len(), end - self.cursor.at());
            let count = read_at(file, &mut room[..most], self.cursor.at())?;
            if count == 0 {
                break;
            }
            self.cursor.had(&room[..count]);
            if each(FileChange::Bytes(&room[..count])).is_break() {
                return Ok(Looked::Unwanted);
            }
            is_late = until.is_some_and(|until| Instant::now() >= until);
        }
        let looked = give(each, FileChange::Pause(OpenFile(file)));
        // A notice of what was written meanwhile may have come and gone.
        Ok(if looked == Looked::Done && self.cursor.at() < length { Looked::More } else { looked })
    }

    fn see_link(&mut self) {
        self.is_link = self.is_link || fs::symlink_metadata(&self.path).is_ok_and(|about| about.is_symlink());
    }
}

/// Gives the last change of a look.
fn give(each: &mut impl FnMut(FileChange<'_>) -> ControlFlow<()>, change: FileChange<'_>) -> Looked {
    if each(change).is_break() { Looked::Unwanted } else { Looked::Done }
}

/// Opens a file. Without O_NONBLOCK a FIFO that took its place just now would wait for its writer.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path)
}

/// What stat says, if it is a regular file.
fn about(metadata: &Metadata) -> Option<About> {
    metadata.is_file().then(|| About {
        id: Id { device: metadata.dev(), inode: metadata.ino(), born: metadata.created().ok() },
        length: metadata.len(),
        changed: changed(metadata),
    })
}

fn changed(metadata: &Metadata) -> Changed {
    let (seconds, nanoseconds) = (metadata.ctime(), metadata.ctime_nsec());
    let nanos = u32::try_from(nanoseconds).unwrap_or_default();
    let at = u64::try_from(seconds).ok().map(|seconds| Duration::new(seconds, nanos));
    // A time to come, as of a server whose clock is ahead, is not past.
    let age =
        at.and_then(|at| SystemTime::now().duration_since(SystemTime::UNIX_EPOCH.checked_add(at)?).ok());
    Changed { seconds, nanoseconds, is_past: age.is_some_and(|age| age > PAST) }
}

/// Whether the bytes that were read before `place` are still there, and where in `room` those behind it are, which
/// cost no read of their own.
fn compare(file: &File, place: &Place, end: u64, room: &mut [u8]) -> io::Result<(bool, Range<usize>)> {
    let last = place.last();
    let from = place.at - last.len() as u64;
    let most = most(room.len(), end.saturating_sub(from));
    let count = read_at(file, &mut room[..most], from)?;
    let stands = room[..count].starts_with(last);
    Ok((stands, if stands { last.len()..count } else { 0..0 }))
}

fn most(room: usize, left: u64) -> usize {
    usize::try_from(left).map_or(room, |left| left.min(room))
}

fn read_at(file: &File, room: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        match file.read_at(room, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
