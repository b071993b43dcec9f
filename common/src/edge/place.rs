//! Whether a file could be made or written somewhere, seen without touching it.

use crate::sys;
use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// How a file will be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Making {
    /// Written where it stands.
    InPlace,
    /// Made beside it and moved there, so its folder must take a file even when it is there already.
    Moved,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Nothing,
    /// A regular file with nothing in it.
    EmptyFile,
    /// A regular file with content.
    File,
    /// A pipe, a device, a socket: written as it stands.
    Special,
}

/// What stands at `path`, when a file can be made or written there.
///
/// # Errors
/// The error that making it would give: no such folder, a folder in its place, no right to write.
pub fn look(path: &Path, making: Making) -> io::Result<Standing> {
    if descriptor(path).is_some() {
        return fs::metadata(path).map(|_| Standing::Special);
    }
    let standing = match fs::metadata(path) {
        Err(error)
            if error.kind() == io::ErrorKind::NotFound && path.as_os_str().as_bytes().ends_with(b"/") =>
        {
            return Err(Errno::EISDIR.into());
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link that leads nowhere would be followed by nobody who makes files with O_EXCL.
            if fs::symlink_metadata(path).is_ok() {
                return Err(error);
            }
            Standing::Nothing
        }
        Err(error) => return Err(error),
        Ok(about) if about.is_dir() => return Err(Errno::EISDIR.into()),
        Ok(about) => {
            access(path, AccessFlags::W_OK)?;
            standing(&about)
        }
    };
    let needs_folder = match making {
        Making::InPlace => standing == Standing::Nothing,
        Making::Moved => standing != Standing::Special,
    };
    if needs_folder {
        access(&folder(path), AccessFlags::W_OK | AccessFlags::X_OK)?;
    }
    Ok(standing)
}

fn standing(about: &Metadata) -> Standing {
    match about.is_file() {
        false => Standing::Special,
        true if about.len() == 0 => Standing::EmptyFile,
        true => Standing::File,
    }
}

/// The number of the descriptor of this process that `path` names (`/dev/stdout`, `/dev/fd/3`, `/proc/self/fd/3`),
/// through whatever links. To open such a path is to open what stands behind the descriptor anew, at its beginning,
/// and to replace it would be to replace the link: neither is what its user means.
pub fn descriptor(path: &Path) -> Option<i32> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let folder = folder(&path);
        let is_ours = ["/dev/fd", "/proc/self/fd"].iter().any(|fds| same_folder(&folder, Path::new(fds)));
        if is_ours {
            return path.file_name()?.to_str()?.parse().ok();
        }
        path = folder.join(fs::read_link(&path).ok()?);
    }
    None
}

/// That the descriptor which `path` names, if it names one, is open for writing. To be asked before this process opens
/// any of its own, which could have that number.
///
/// # Errors
/// `EBADF`, as of write(2), when it is not.
pub fn descriptor_can_be_written(path: &Path) -> io::Result<()> {
    match descriptor(path) {
        Some(number) if !sys::descriptor::is_open_for_writing(number) => Err(Errno::EBADF.into()),
        _ => Ok(()),
    }
}

fn same_folder(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// As many links as Linux itself follows (path_resolution(7)).
const MOST_LINKS: u32 = 40;

/// Whether `path` is a regular file or leads nowhere yet.
pub fn is_new_or_regular(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |about| about.is_file())
}

/// `path`, or the regular file that it is a link to, so that the file is replaced and not the link.
pub fn behind_links(path: &Path) -> PathBuf {
    let is_link = fs::symlink_metadata(path).is_ok_and(|about| about.is_symlink());
    let is_file = descriptor(path).is_none() && fs::metadata(path).is_ok_and(|about| about.is_file());
    let real = if is_link && is_file { path.canonicalize().ok() } else { None };
    real.unwrap_or_else(|| path.to_owned())
}

/// The folder that `path` is in.
pub fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// That a file at `path` can be read, or what stands there. Nothing is opened: a named pipe would wait for its writer.
///
/// # Errors
/// The error that reading it would give.
pub fn can_be_read(path: &Path) -> io::Result<()> {
    if fs::metadata(path)?.is_dir() {
        return Err(Errno::EISDIR.into());
    }
    Ok(access(path, AccessFlags::R_OK)?)
}

/// What makes two spellings of a path the same file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Identity {
    /// A file that is there: its device and inode.
    File(u64, u64),
    /// One that is not there yet: its folder without links, and its name.
    Place(PathBuf, OsString),
}

/// The identity of the regular file at `path`, or of the one that would be made there; `None` for anything else,
/// which can be named twice without harm, and for a path that leads nowhere.
pub fn identity(path: &Path) -> Option<Identity> {
    if descriptor(path).is_some() {
        return None;
    }
    match fs::metadata(path) {
        Ok(about) => about.is_file().then(|| Identity::File(about.dev(), about.ino())),
        Err(_) => Some(Identity::Place(folder(path).canonicalize().ok()?, path.file_name()?.to_owned())),
    }
}

/// Identities of many files. Each folder is looked up once.
#[derive(Debug, Default)]
pub struct Places {
    folders: HashMap<PathBuf, Option<PathBuf>>,
}

impl Places {
    /// As [`identity`], also of a file whose folder is still to be made.
    pub fn identity(&mut self, path: &Path) -> Option<Identity> {
        if fs::metadata(path).is_ok() {
            return identity(path);
        }
        let folder = folder(path);
        let full = self.folders.entry(folder).or_insert_with_key(|folder| full(folder)).clone()?;
        Some(Identity::Place(full, path.file_name()?.to_owned()))
    }
}

/// The folder without links and dots, as far as it is there; the rest as it is spelled, without dots.
fn full(folder: &Path) -> Option<PathBuf> {
    let there = |at: &&Path| at.as_os_str().is_empty() || at.exists();
    let at = folder.ancestors().find(there)?;
    let mut full = if at.as_os_str().is_empty() { Path::new(".") } else { at }.canonicalize().ok()?;
    for component in folder.strip_prefix(at).ok()?.components() {
        match component {
            Component::ParentDir => drop(full.pop()),
            Component::Normal(name) => full.push(name),
            _ => {}
        }
    }
    Some(full)
}

/// Whether `directory` or one above it holds `.git`, as a repository's folder or, in a linked worktree, as a file. It
/// needs no git. An empty folder is none, for Codex too (0.156.1, 0.171.0): its own sandbox leaves such folders behind.
pub fn is_in_git_worktree(directory: &Path) -> bool {
    let full = directory.canonicalize().unwrap_or_default();
    full.ancestors().any(|folder| folder.join(".git").is_file() || folder.join(".git/HEAD").exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_at_a_path_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("full"), "x").unwrap();
        fs::write(at("empty"), "").unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("link")).unwrap();
        let look = |name: &str| look(&at(name), Making::InPlace).map_err(|error| error.kind());
        assert_eq!(look("new"), Ok(Standing::Nothing));
        assert_eq!(look("full"), Ok(Standing::File));
        assert_eq!(look("empty"), Ok(Standing::EmptyFile));
        assert_eq!(look("link"), Err(io::ErrorKind::NotFound));
        assert_eq!(look("no/new"), Err(io::ErrorKind::NotFound));
        assert_eq!(look(""), Err(io::ErrorKind::IsADirectory));
        assert_eq!(look("new/"), Err(io::ErrorKind::IsADirectory));
        assert_eq!(super::look(Path::new("/dev/null"), Making::Moved).unwrap(), Standing::Special);
    }

    #[test]
    fn one_file_has_one_identity_by_any_spelling() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert_eq!(identity(&at("a")), identity(&at("./a")));
        assert_ne!(identity(&at("a")), identity(&at("b")));
        fs::write(at("a"), "").unwrap();
        std::os::unix::fs::symlink(at("a"), at("link")).unwrap();
        assert_eq!(identity(&at("a")), identity(&at("link")));
        assert_eq!(identity(Path::new("/dev/null")), None);
    }

    #[test]
    fn a_file_in_a_folder_that_is_not_there_has_one_too() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink(folder.path(), at("link")).unwrap();
        let mut places = Places::default();
        let mut identity = |name: &str| places.identity(&at(name)).unwrap();
        let one = identity("new/a");
        for same in ["new/./a", "new//a", "./new/a", "link/new/a", "new/deep/../a", "other/../new/a"] {
            assert_eq!(identity(same), one, "{same}");
        }
        for other in ["new/b", "a", "new/deep/a"] {
            assert_ne!(identity(other), one, "{other}");
        }
        assert_eq!(places.identity(Path::new("no such/a")), places.identity(Path::new("./no such/a")));
    }

    #[test]
    fn a_descriptor_is_seen_through_links() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/fd/7", &link).unwrap();
        assert_eq!(descriptor(&link), Some(7));
        assert_eq!(descriptor(Path::new("/dev/fd/3")), Some(3));
        assert_eq!(descriptor(Path::new("/dev/null")), None);
        assert_eq!(descriptor(&folder.path().join("3")), None);
    }

    #[test]
    fn a_link_to_a_file_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(behind_links(&link), file.canonicalize().unwrap());
        assert_eq!(behind_links(&file), file);
    }

    #[test]
    fn a_worktree_is_seen_from_below() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        assert!(!is_in_git_worktree(Path::new("/dev")));
        let git = folder.path().join("a/.git");
        fs::create_dir(&git).unwrap();
        assert!(!is_in_git_worktree(&deep));
        fs::write(git.join("HEAD"), "ref: refs/heads/main").unwrap();
        assert!(is_in_git_worktree(&deep));
        fs::remove_dir_all(&git).unwrap();
        fs::write(git, "gitdir: elsewhere").unwrap();
        assert!(is_in_git_worktree(&deep));
    }
}
