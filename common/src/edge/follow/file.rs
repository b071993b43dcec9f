//! One file that is followed by its path.

use super::cursor::{About, Change, Cursor, Id, Place, Step};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What is told of a file, in the order in which it came about.
#[derive(Debug)]
pub enum Told<'a> {
    /// It has these bytes more. They end where a line ends, or do not.
    Bytes(&'a [u8]),
    /// The unfinished line at the end of the bytes so far is void; the next bytes begin it anew.
    Back,
    /// All bytes so far are void; the next ones are a file's first.
    Anew(Change),
    /// It is there and cannot be read.
    Unreadable(io::Error),
    /// What is there is not a regular file.
    Irregular,
}

/// A file at a path, and what was had of it.
#[derive(Debug)]
pub(super) struct Followed {
    path: PathBuf,
    cursor: Cursor,
}

impl Followed {
    pub(super) fn new(path: PathBuf) -> Followed {
        Followed { path, cursor: Cursor::new() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Sees what has become of the file and tells it to `each`, through `room`, until that breaks off.
    pub(super) fn look(
        &mut self,
        room: &mut [u8],
        each: &mut impl FnMut(Told<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self.read(room, each) {
            Ok(flow) => flow,
            // It is not there, or has just gone (ESTALE, as NFS has it): it may come.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::NotADirectory
                        | io::ErrorKind::StaleNetworkFileHandle
                ) =>
            {
                ControlFlow::Continue(())
            }
            Err(error) => each(Told::Unreadable(error)),
        }
    }

    fn read(
        &mut self,
        room: &mut [u8],
        each: &mut impl FnMut(Told<'_>) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        // Most looks end here, without an open.
        match about(&fs::metadata(&self.path)?) {
            None => return Ok(each(Told::Irregular)),
            Some(now) if self.cursor.is_current(&now) => return Ok(ControlFlow::Continue(())),
            Some(_) => {}
        }
        // Without O_NONBLOCK a FIFO that took the place just now would wait for its writer.
        let file = OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(&self.path)?;
        let Some(now) = about(&file.metadata()?) else { return Ok(each(Told::Irregular)) };
        let told = match self.cursor.step(&now, |place| stands(&file, place))? {
            Step::Rest => return Ok(ControlFlow::Continue(())),
            Step::Read => None,
            Step::Back => {
                self.cursor.back();
                Some(Told::Back)
            }
            Step::Anew(change) => {
                self.cursor.begin(now.id);
                change.map(Told::Anew)
            }
        };
        if let Some(told) = told
            && each(told).is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        self.read_up_to(now.length, &file, room, each)
    }

    /// Reads on, no further than `end`: what was written since has a look of its own coming, and a writer that never
    /// pauses cannot keep the others waiting.
    fn read_up_to(
        &mut self,
        end: u64,
        file: &File,
        room: &mut [u8],
        each: &mut impl FnMut(Told<'_>) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        while self.cursor.at() < end {
            let left = usize::try_from(end - self.cursor.at()).unwrap_or(usize::MAX);
            let most = left.min(room.len());
            let count = match file.read_at(&mut room[..most], self.cursor.at()) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.cursor.had(&room[..count]);
            if each(Told::Bytes(&room[..count])).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// What stat says, if it is a regular file.
fn about(metadata: &Metadata) -> Option<About> {
    metadata.is_file().then(|| About {
        id: Id { device: metadata.dev(), inode: metadata.ino(), born: metadata.created().ok() },
        length: metadata.len(),
    })
}

/// Whether the bytes that were read before `place` are still there.
fn stands(file: &File, place: &Place) -> io::Result<bool> {
    let last = place.last();
    let mut now = vec![0; last.len()];
    match file.read_exact_at(&mut now, place.at - last.len() as u64) {
        Ok(()) => Ok(now == last),
        // It has shrunk just now.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
