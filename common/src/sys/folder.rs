//! An open folder, and what stands under a name in it. A name that is a link is not followed.

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat};
use nix::libc;
use nix::sys::stat::{FileStat, Mode, fstatat};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What makes two open files the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The identity of the file that `about` describes.
    pub fn of(about: &Metadata) -> FileId {
        FileId { device: about.dev(), inode: about.ino() }
    }

    /// The same, as stat(2) describes it. The types of these fields differ from one platform to the next.
    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss)]
    pub(super) fn of_stat(about: &FileStat) -> FileId {
        FileId { device: about.st_dev as u64, inode: about.st_ino as u64 }
    }
}

/// What kind of thing a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a device, a socket.
    Special,
}

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its identity.
    pub id: FileId,
    /// Its kind.
    pub kind: EntryKind,
    /// In bytes.
    pub length: u64,
    /// How many names the file has, in this folder and others.
    pub names: u64,
}

/// Opens the folder at `path`, following links. Whether it can be listed and locked is returned with it: a folder
/// that may not be read can be used all the same, where the platform has descriptors without rights (`O_PATH`).
///
/// # Errors
/// When it is missing, is no folder, or cannot be used.
pub fn open_folder(path: &Path) -> io::Result<(OwnedFd, bool)> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    match open(path, flags | OFlag::O_RDONLY, Mode::empty()) {
        #[cfg(target_os = "linux")]
        Err(Errno::EACCES) => Ok((open(path, flags | OFlag::O_PATH, Mode::empty())?, false)),
        folder => Ok((folder?, true)),
    }
}

/// Opens `name` in `folder`, and no link there. A new file has mode 0600.
///
/// # Errors
/// Those of openat(2).
pub fn open_in(folder: impl AsFd, name: &OsStr, flags: OFlag) -> io::Result<File> {
    let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
    Ok(File::from(openat(folder, name, flags, Mode::S_IRUSR | Mode::S_IWUSR)?))
}

/// What stands under `name` in `folder`; `None` when nothing does.
///
/// # Errors
/// Those of fstatat(2) but for a missing entry.
pub fn entry(folder: impl AsFd, name: &OsStr) -> io::Result<Option<Entry>> {
    let about = match fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
        Err(Errno::ENOENT) => return Ok(None),
        about => about?,
    };
    let kind = match about.st_mode & libc::S_IFMT {
        libc::S_IFREG => EntryKind::File,
        libc::S_IFDIR => EntryKind::Folder,
        libc::S_IFLNK => EntryKind::Link,
        _ => EntryKind::Special,
    };
    Ok(Some(Entry { id: FileId::of_stat(&about), kind, length: length(&about), names: names(&about) }))
}

fn length(about: &FileStat) -> u64 {
    u64::try_from(about.st_size).unwrap_or(0)
}

/// The type of this field differs from one platform to the next.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
fn names(about: &FileStat) -> u64 {
    about.st_nlink as u64
}

/// Whether another file system, or another part of one, is mounted on the folder `name` in `folder`. Where the kernel
/// does not tell (Linux before 5.6, other platforms), only another file system is found.
///
/// # Errors
/// When it cannot be seen.
pub fn is_mounted_on(folder: impl AsFd, name: &OsStr) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    if let Some(is_mounted) = linux::is_mounted_on(&folder, name) {
        return Ok(is_mounted);
    }
    let device = |name: &OsStr| Ok::<_, io::Error>(entry(&folder, name)?.map(|entry| entry.id.device));
    Ok(device(name)? != device(OsStr::new("."))?)
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::errno::Errno;
    use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
    use std::ffi::OsStr;
    use std::os::fd::AsFd;

    /// `None` where the kernel does not tell.
    pub(super) fn is_mounted_on(folder: impl AsFd, name: &OsStr) -> Option<bool> {
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let how = OpenHow::new().flags(flags).resolve(ResolveFlag::RESOLVE_NO_XDEV);
        match openat2(folder, name, how) {
            Ok(_) => Some(false),
            Err(Errno::EXDEV) => Some(true),
            Err(_) => None,
        }
    }
}
