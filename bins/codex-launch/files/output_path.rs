//! Where an output goes, decided once: nothing that happens to its path later can lead it elsewhere.

use super::folder::Folder;
use super::temp_names::TempNames;
use common::edge::output::Output;
use common::edge::paths;
use common::sys::descriptor;
use common::sys::folder::{EntryKind, FileId};
use common::sys::lock;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::AccessFlags;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether a file that has content may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// A file with content is an error.
    Refused,
    /// It is emptied.
    Emptied,
}

/// How a file will be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// Where it stands.
    InPlace,
    /// Beside it, and moved there whole, so its folder must take a file even when it is there already.
    Replaced,
}

/// What stood at a path when that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// Nothing.
    Absent,
    /// A regular file with nothing in it.
    EmptyFile,
    /// A regular file with content.
    File,
    /// A pipe, a device, a socket: written as it stands.
    Special(FileId),
}

/// Where an output goes: a name in an open folder, or an open descriptor. Copies of it, in other processes too, share
/// the folder.
#[derive(Debug, Clone)]
pub struct OutputPath {
    given: PathBuf,
    target: Target,
}

#[derive(Debug, Clone)]
enum Target {
    /// A descriptor that the caller has opened. A regular file has a second one, which holds its lock.
    Descriptor(i32, Option<Arc<File>>),
    Name(Named),
}

/// A name in an open folder, and what it stood for at first.
#[derive(Debug, Clone)]
pub struct Named {
    folder: Arc<Folder>,
    name: OsString,
    kind: PathKind,
}

impl OutputPath {
    /// Opens the folder of `path` and looks at what stands there. Nothing is made. To be called before this process
    /// opens descriptors of its own, since `path` may name one (`/dev/stdout`, `/dev/fd/3`).
    ///
    /// # Errors
    /// No such folder; a folder or a link in the file's place; a descriptor that is not open for writing.
    pub fn resolve(path: &Path) -> io::Result<OutputPath> {
        let target = match paths::named_descriptor(path) {
            Some(number) if descriptor::is_open_for_writing(number) => Target::Descriptor(number, None),
            Some(_) => return Err(Errno::EBADF.into()),
            None => Target::Name(Named::resolve(path)?),
        };
        Ok(OutputPath { given: path.to_owned(), target })
    }

    /// Standard output, by its own name.
    pub fn stdout() -> OutputPath {
        OutputPath { given: PathBuf::from("-"), target: Target::Descriptor(1, None) }
    }

    /// The path as it was given.
    pub fn given(&self) -> &Path {
        &self.given
    }

    /// What stood there at first; `None` of an open descriptor.
    pub fn kind(&self) -> Option<PathKind> {
        match &self.target {
            Target::Descriptor(..) => None,
            Target::Name(named) => Some(named.kind),
        }
    }

    /// The folder and the name in it; `None` of an open descriptor.
    pub fn named(&self) -> Option<&Named> {
        match &self.target {
            Target::Descriptor(..) => None,
            Target::Name(named) => Some(named),
        }
    }

    /// The number of the open descriptor that it is.
    pub fn descriptor(&self) -> Option<i32> {
        match self.target {
            Target::Descriptor(number, _) => Some(number),
            Target::Name(_) => None,
        }
    }

    /// Whether to write it may have to wait for a reader.
    pub fn may_wait(&self) -> bool {
        !self.is_replaceable()
    }

    /// Whether it is a file by name, which another program can replace, and not a pipe, a device or a descriptor.
    pub fn is_replaceable(&self) -> bool {
        self.kind().is_some_and(|kind| !matches!(kind, PathKind::Special(_)))
    }

    /// Whether it is a file by name in `folder` or below, or at least not seen to be elsewhere.
    pub fn is_below(&self, folder: &Path) -> bool {
        let full = self.named().map(|named| named.folder.path().canonicalize());
        self.is_replaceable() && full.is_some_and(|full| full.map_or(true, |full| full.starts_with(folder)))
    }

    /// The regular file that it is, where it is one already.
    pub fn file_id(&self) -> Option<FileId> {
        match &self.target {
            Target::Descriptor(number, _) => paths::regular_file_behind(*number),
            Target::Name(named) => {
                let entry = named.folder.entry(&named.name).ok().flatten();
                entry.filter(|entry| entry.kind == EntryKind::File).map(|entry| entry.id)
            }
        }
    }

    /// Whether an empty regular file stands there now.
    pub fn is_empty_file(&self) -> bool {
        self.named().is_some_and(|named| kind(&named.folder, &named.name).ok() == Some(PathKind::EmptyFile))
    }

    /// That it can be written as `mode` says.
    ///
    /// # Errors
    /// The error that writing it would give.
    pub fn can_be_written(&self, mode: WriteMode) -> io::Result<()> {
        let Target::Name(named) = &self.target else { return Ok(()) };
        if named.kind != PathKind::Absent {
            named.folder.may_access(&named.name, AccessFlags::W_OK)?;
        }
        let needs_folder = match (mode, named.kind) {
            (_, PathKind::Special(_)) => false,
            (WriteMode::InPlace, kind) => kind == PathKind::Absent,
            (WriteMode::Replaced, _) => true,
        };
        if mode == WriteMode::InPlace && self.is_replaceable() {
            named.folder.entry(&named.name)?.map_or(Ok(()), |entry| has_one_name(entry.names))?;
        }
        if needs_folder { named.folder.takes_files() } else { Ok(()) }
    }

    /// Takes the file for this launch, whether it is there or not: until this value and its copies, in other processes
    /// too, are gone, no other launch can take it. Pipes and devices are shared as ever.
    ///
    /// # Errors
    /// `WouldBlock` when another launch has it; others where the system does not say.
    pub fn take(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Name(Named { kind: PathKind::Special(_), .. }) => Ok(()),
            Target::Name(named) => {
                named.folder.take_name(&named.name)?;
                match named.is_taken() {
                    true => Err(io::ErrorKind::WouldBlock.into()),
                    false => Ok(()),
                }
            }
            Target::Descriptor(number, kept) => {
                if paths::regular_file_behind(*number).is_some() {
                    // A lock on the caller's own descriptor would last as long as the caller.
                    let file = descriptor::open_again_for_writing(*number)?;
                    lock::take(&file)?;
                    *kept = Some(Arc::new(file));
                }
                Ok(())
            }
        }
    }

    /// Another descriptor for the one that it is, or an error.
    fn duplicate(&self) -> Option<io::Result<OwnedFd>> {
        self.descriptor().map(descriptor::duplicate)
    }

    /// Opens it for appending. A file is made with mode 0600 and `O_EXCL`. An empty file is used as it is. A pipe, a device, a
    /// socket or an open descriptor (`/dev/fd/3`) is written as it stands. A file is locked for this process, and for those
    /// that inherit the open file, before anything is done to it.
    ///
    /// # Errors
    /// When it cannot be opened; `AlreadyExists` when it has content and `existing` refuses that; `WouldBlock` when
    /// another process has locked it.
    pub fn open(&self, existing: Existing) -> io::Result<Output> {
        if let Some(descriptor) = self.duplicate() {
            return Output::of(descriptor?);
        }
        let file = self.named().ok_or(io::ErrorKind::InvalidInput)?.open()?;
        if !file.metadata()?.is_file() {
            return Output::of(file);
        }
        match lock::take(&file) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
            // A file system without locks was reported when the path was taken.
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

    /// Puts `content` there whole, or nothing: a file of mode 0600 is written under a temporary name and moved over
    /// whatever has the name by then, unless that is a folder. A pipe, a device or a descriptor is written as it
    /// stands.
    ///
    /// # Errors
    /// When it cannot be written or moved, or the given path no longer leads there. Nothing temporary is left then.
    pub fn replace(&self, content: &[u8], names: &TempNames) -> io::Result<()> {
        match &self.target {
            Target::Descriptor(number, _) => File::from(descriptor::duplicate(*number)?).write_all(content),
            Target::Name(named) => match named.kind {
                PathKind::Special(id) => named.open_special(id)?.write_all(content),
                _ => named.replace(names, |new| new.write_all(content)).map(drop),
            },
        }
    }

    /// Whether the file there holds just `content`.
    pub fn holds(&self, content: &[u8]) -> bool {
        let Some(named) = self.named() else { return false };
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK;
        let Ok(file) = named.folder.open_file(&named.name, flags) else { return false };
        let mut found = Vec::new();
        // One byte more shows that it is longer.
        let most = content.len() as u64 + 1;
        file.metadata().is_ok_and(|about| about.is_file())
            && file.take(most).read_to_end(&mut found).is_ok()
            && found == content
    }

    /// Removes what a run may have left there: a file, a link, whatever is no folder and not the pipe or device that
    /// stood there at first.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        let Target::Name(named) = &self.target else { return Ok(()) };
        match named.folder.entry(&named.name)? {
            None => Ok(()),
            Some(entry) if entry.kind == EntryKind::Folder => Ok(()),
            Some(entry) if named.kind == PathKind::Special(entry.id) => Ok(()),
            Some(_) => named.folder.remove(&named.name),
        }
    }

    /// Removes the temporary files that a process which is dead has left beside it.
    pub fn remove_temp_files(&self, names: &TempNames) {
        if let Target::Name(named) = &self.target {
            // In a folder that cannot be listed they stay.
            let _ = named.folder.remove_all_with(&names.prefix());
        }
    }
}

impl Named {
    fn resolve(path: &Path) -> io::Result<Named> {
        let bytes = path.as_os_str().as_bytes();
        let name = path.file_name().filter(|_| !bytes.ends_with(b"/") && !bytes.ends_with(b"/."));
        let folder = Folder::open(&paths::folder(path))?;
        let name = name.ok_or(Errno::EISDIR)?;
        let kind = kind(&folder, name)?;
        Ok(Named { folder: Arc::new(folder), name: name.to_owned(), kind })
    }

    /// Opens it for appending; a regular file is made with mode 0600 and `O_EXCL` when it is not there.
    ///
    /// # Errors
    /// When that fails, or what stands there is something else than at first, or has another name too.
    fn open(&self) -> io::Result<File> {
        if let PathKind::Special(id) = self.kind {
            return self.open_special(id);
        }
        // A pipe that was put there meanwhile must not be waited for.
        let flags = OFlag::O_RDWR | OFlag::O_APPEND | OFlag::O_NONBLOCK;
        let new = self.folder.open_file(&self.name, flags | OFlag::O_CREAT | OFlag::O_EXCL);
        let file = match new {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.folder.open_file(&self.name, flags)?
            }
            file => file?,
        };
        let about = file.metadata()?;
        if about.is_file() { has_one_name(about.nlink()).map(|()| file) } else { Err(replaced()) }
    }

    fn open_special(&self, id: FileId) -> io::Result<File> {
        let is_same = |found: Option<FileId>| if found == Some(id) { Ok(()) } else { Err(replaced()) };
        is_same(self.folder.entry(&self.name)?.map(|entry| entry.id))?;
        let file = self.folder.open_file(&self.name, OFlag::O_WRONLY | OFlag::O_APPEND)?;
        is_same(Some(FileId::of(&file.metadata()?)))?;
        Ok(file)
    }

    /// Whether somebody has taken the file that is there, as one who got it by a descriptor can have.
    fn is_taken(&self) -> bool {
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK;
        let is_there = matches!(self.kind, PathKind::EmptyFile | PathKind::File);
        is_there
            && self.folder.open_file(&self.name, flags).is_ok_and(|file| lock::is_taken(&file) == Some(true))
    }

    /// Makes a file that `write` fills under a temporary name, moves it here, and returns it.
    ///
    /// # Errors
    /// When one of these fails, or the given path no longer leads here. Nothing temporary is left then.
    pub fn replace(
        &self,
        names: &TempNames,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<File> {
        self.is_in_place()?;
        let (beside, mut new) = self.temp_file(names)?;
        let moved = write(&mut new).and_then(|()| self.folder.rename(&beside, &self.name));
        moved.inspect_err(|_| {
            let _ = self.folder.remove(&beside);
        })?;
        // It may have been moved away at this very moment.
        self.is_in_place().inspect_err(|_| {
            let _ = self.folder.remove(&self.name);
        })?;
        Ok(new)
    }

    /// A new file under a name that nobody knew before. One that is taken all the same is passed over.
    fn temp_file(&self, names: &TempNames) -> io::Result<(OsString, File)> {
        let flags = OFlag::O_RDWR | OFlag::O_APPEND | OFlag::O_CREAT | OFlag::O_EXCL;
        loop {
            let beside = names.next_file();
            match self.folder.open_file(&beside, flags) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => return Ok((beside, file?)),
            }
        }
    }

    /// That the given path still leads here.
    pub fn is_in_place(&self) -> io::Result<()> {
        match self.folder.is_in_place() {
            true => Ok(()),
            false => Err(io::Error::other("its folder was moved or replaced while the run went on")),
        }
    }

    /// Whether the name stands for the file `id`.
    pub fn is(&self, id: FileId) -> bool {
        self.folder.entry(&self.name).is_ok_and(|entry| entry.is_some_and(|entry| entry.id == id))
    }
}

fn kind(folder: &Folder, name: &OsStr) -> io::Result<PathKind> {
    let Some(entry) = folder.entry(name)? else { return Ok(PathKind::Absent) };
    match entry.kind {
        EntryKind::Folder => Err(Errno::EISDIR.into()),
        EntryKind::Link => {
            let target = folder.target(name)?;
            Err(io::Error::other(format!("is a link to {}; name the file itself", target.display())))
        }
        EntryKind::Special => Ok(PathKind::Special(entry.id)),
        EntryKind::File if entry.length == 0 => Ok(PathKind::EmptyFile),
        EntryKind::File => Ok(PathKind::File),
    }
}

/// That a file which is to be written where it stands has no other name: an agent may have given its name to a file
/// that is elsewhere.
fn has_one_name(names: u64) -> io::Result<()> {
    match names {
        0..=1 => Ok(()),
        _ => Err(io::Error::other(
            "has another name too (a hard link); remove this name, or name another file",
        )),
    }
}

fn replaced() -> io::Error {
    io::Error::other("what stood there was replaced meanwhile")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_is_made_private_and_never_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        let path = OutputPath::resolve(&file).unwrap();
        path.open(Existing::Refused).unwrap().lines(b"{}\n").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let refused = path.open(Existing::Refused).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&file).unwrap(), b"{}\n");
        path.open(Existing::Emptied).unwrap().lines(b"[]\n").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"[]\n");
    }
}
