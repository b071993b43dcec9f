//! What a path stands for, found out without opening or changing it.

use crate::sys;
pub use crate::sys::folder::FileId;
use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// The number of the descriptor of this process that `path` names (`/dev/stdout`, `/dev/fd/3`, `/proc/self/fd/3`),
/// through any links. Opening such a path would open the file anew, at its beginning, and replacing it would replace the
/// link. Its user means neither.
pub fn descriptor(path: &Path) -> Option<i32> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let folder = folder(&path);
        let number = path.file_name().and_then(|name| name.to_str()?.parse().ok());
        // Looked up for a number alone: it takes a dozen system calls.
        let is_ours = || ["/dev/fd", "/proc/self/fd"].iter().any(|fds| same_folder(&folder, Path::new(fds)));
        if number.is_some() && is_ours() {
            return number;
        }
        path = folder.join(fs::read_link(&path).ok()?);
    }
    None
}

/// The number of the descriptor that `path` names, where the path itself is one of the system's names for descriptors. A
/// link elsewhere does not count, since anybody can have made it.
pub fn named_descriptor(path: &Path) -> Option<i32> {
    let system = ["/dev", "/dev/fd", "/proc/self/fd"];
    let is_the_systems =
        path.parent().is_some_and(|folder| system.iter().any(|name| folder == Path::new(name)));
    is_the_systems.then(|| descriptor(path)).flatten()
}

/// The identity of the regular file that this process has open as `number`, if it is one.
pub fn regular_file_behind(number: i32) -> Option<FileId> {
    sys::descriptor::regular_file(number)
}

fn same_folder(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// As many links as Linux itself follows (path_resolution(7)).
const MOST_LINKS: u32 = 40;

/// The folder for temporary files: `TMPDIR`, or /tmp where that is not set, or set to nothing, as for mktemp.
pub fn temp_dir() -> PathBuf {
    match std::env::temp_dir() {
        none if none.as_os_str().is_empty() => PathBuf::from("/tmp"),
        named => named,
    }
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
        assert_eq!((descriptor(&link), named_descriptor(&link)), (Some(7), None));
        assert_eq!(named_descriptor(Path::new("/dev/fd/3")), Some(3));
        assert_eq!(named_descriptor(Path::new("/dev/null")), None);
        assert_eq!(descriptor(Path::new("/dev/fd/3")), Some(3));
        assert_eq!(descriptor(Path::new("/dev/null")), None);
        assert_eq!(descriptor(&folder.path().join("3")), None);
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
