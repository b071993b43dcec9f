//! A folder that was opened once: files are made, moved and removed in it by name, wherever it is moved meanwhile.

use super::remove_tree;
use common::sys::folder::{self, Entry, FileId};
use common::sys::lock;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, readlinkat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{AccessFlags, faccessat};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A folder by its descriptor. Names in it are single components, and no link is followed.
#[derive(Debug)]
pub struct Folder {
    descriptor: OwnedFd,
    /// The path that it was opened by.
    path: PathBuf,
    id: FileId,
    /// Whether it may be read, which listing and locking need.
    readable: bool,
}

impl Folder {
    /// Opens the folder at `path`, where links are followed for the last time.
    ///
    /// # Errors
    /// When it is missing, is no folder, or cannot be used.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let (descriptor, readable) = folder::open_folder(path)?;
        let own = folder::entry(&descriptor, OsStr::new("."))?.ok_or(Errno::ENOENT)?;
        Ok(Folder { descriptor, path: path.to_owned(), id: own.id, readable })
    }

    /// Opens the folder `name` in this one.
    ///
    /// # Errors
    /// When it is missing, a link or no folder, or cannot be read.
    pub fn open_folder(&self, name: &OsStr) -> io::Result<Folder> {
        let descriptor: OwnedFd = self.open_file(name, OFlag::O_RDONLY | OFlag::O_DIRECTORY)?.into();
        let own = folder::entry(&descriptor, OsStr::new("."))?.ok_or(Errno::ENOENT)?;
        Ok(Folder { descriptor, path: self.path.join(name), id: own.id, readable: true })
    }

    /// The path that it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the path that it was opened by still leads to it.
    pub fn is_in_place(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|about| FileId::of(&about) == self.id)
    }

    /// That it takes new files.
    ///
    /// # Errors
    /// The error that making one would give.
    pub fn takes_files(&self) -> io::Result<()> {
        self.may_access(OsStr::new("."), AccessFlags::W_OK | AccessFlags::X_OK)
    }

    /// That this process has `rights` to `name`.
    ///
    /// # Errors
    /// The reason why not.
    pub fn may_access(&self, name: &OsStr, rights: AccessFlags) -> io::Result<()> {
        Ok(faccessat(&self.descriptor, name, rights, AtFlags::empty())?)
    }

    /// What stands under `name`.
    ///
    /// # Errors
    /// When that cannot be seen.
    pub fn entry(&self, name: &OsStr) -> io::Result<Option<Entry>> {
        folder::entry(&self.descriptor, name)
    }

    /// Where the link `name` leads to.
    ///
    /// # Errors
    /// When it is no link.
    pub fn target(&self, name: &OsStr) -> io::Result<PathBuf> {
        Ok(readlinkat(&self.descriptor, name)?.into())
    }

    /// Opens what stands under `name`, or makes a file of mode 0600 where `flags` say so.
    ///
    /// # Errors
    /// Those of open(2); `ELOOP` when it is a link.
    pub fn open_file(&self, name: &OsStr, flags: OFlag) -> io::Result<File> {
        folder::open_in(&self.descriptor, name, flags)
    }

    /// Gives the file `from` the name `to`, and takes it from what has it, unless that is a folder.
    ///
    /// # Errors
    /// Those of rename(2).
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.descriptor, from, &self.descriptor, to)?)
    }

    /// Removes `name`, whatever it is but a folder; a link itself and not what it leads to.
    ///
    /// # Errors
    /// Those of unlink(2), but that there is nothing.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        remove_tree::unlink(&self.descriptor, name)
    }

    /// Removes all entries but folders whose names begin with `prefix`.
    ///
    /// # Errors
    /// When it cannot be listed, or one cannot be removed.
    pub fn remove_all_with(&self, prefix: &str) -> io::Result<()> {
        let names =
            remove_tree::names_in(self.open_file(OsStr::new("."), OFlag::O_RDONLY | OFlag::O_DIRECTORY)?)?;
        let is_one = |name: &&OsString| name.as_bytes().starts_with(prefix.as_bytes());
        names.iter().filter(is_one).try_for_each(|name| self.remove(name))
    }

    /// Makes a folder of mode 0700.
    ///
    /// # Errors
    /// Those of mkdir(2).
    pub fn make_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(mkdirat(&self.descriptor, name, Mode::S_IRWXU)?)
    }

    /// Removes the folder `name` with all that is in it, also what is in folders that may not be entered now, if they
    /// are this user's. Of a link only the link is removed.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn remove_tree(&self, name: &OsStr) -> io::Result<()> {
        remove_tree::remove_tree(&self.descriptor, name)
    }

    /// Takes `name`, whether there is such a file or not, for this open folder and its copies in other processes: no
    /// other launch can take it until the last copy is closed.
    ///
    /// # Errors
    /// `WouldBlock` when it is taken; others when the system does not say.
    pub fn take_name(&self, name: &OsStr) -> io::Result<()> {
        if !self.readable {
            return Err(Errno::EACCES.into());
        }
        lock::take_byte(&self.descriptor, number_of(name))
    }
}

/// A number for `name` that is the same in every process: FNV-1a, as far as it fits the offset of a lock.
fn number_of(name: &OsStr) -> i64 {
    let hash = name.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    i64::try_from(hash >> 2).unwrap_or(0)
}
