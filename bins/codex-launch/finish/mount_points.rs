//! Empty folders that a sandbox makes to mount something over, and leaves when it is killed.

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open};
use nix::sys::stat::{Mode, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use std::os::fd::OwnedFd;
use std::path::Path;

/// The folders that may become such places, each with the names that were free in it.
#[derive(Debug)]
pub struct MountPoints(Vec<(OwnedFd, Vec<&'static str>)>);

impl MountPoints {
    /// Takes note of which of `names` are free in each of `folders`. One that cannot be opened is passed over.
    pub fn before<'a>(folders: impl IntoIterator<Item = &'a Path>, names: &[&'static str]) -> MountPoints {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let opened = folders.into_iter().filter_map(|folder| open(folder, flags, Mode::empty()).ok());
        let with_names = opened.map(|folder| {
            let is_free = |name: &&str| {
                fstatat(&folder, *name, AtFlags::AT_SYMLINK_NOFOLLOW).err() == Some(Errno::ENOENT)
            };
            let free = names.iter().copied().filter(|name| is_free(name)).collect();
            (folder, free)
        });
        MountPoints(with_names.collect())
    }

    /// Removes the empty folders that have these names now. A link, a file or a folder that holds something stays.
    pub fn remove_empty(&self) {
        for (folder, names) in &self.0 {
            for name in names {
                // It fails of everything but an empty folder, and mostly there is nothing.
                let _ = unlinkat(folder, *name, UnlinkatFlags::RemoveDir);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn empty_folders_that_are_new_go_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["old", "elsewhere"] {
            fs::create_dir(path(name)).unwrap();
        }
        let missing = path("missing");
        let names = ["old", "new", "full", "link", "file", "none"];
        let points = MountPoints::before([missing.as_path(), folder.path()], &names);
        for name in ["new", "full"] {
            fs::create_dir(path(name)).unwrap();
        }
        fs::write(path("full/x"), "").unwrap();
        fs::write(path("file"), "").unwrap();
        symlink(path("elsewhere"), path("link")).unwrap();
        points.remove_empty();
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["elsewhere", "file", "full", "link", "old"]);
        // The folder is the one that was looked at, whatever has its name now.
        fs::create_dir(path("new")).unwrap();
        let moved = folder.path().with_extension("moved");
        fs::rename(folder.path(), &moved).unwrap();
        symlink(moved.join("elsewhere"), folder.path()).unwrap();
        fs::create_dir(moved.join("elsewhere/new")).unwrap();
        points.remove_empty();
        assert!(!moved.join("new").exists() && moved.join("elsewhere/new").exists());
        fs::remove_file(folder.path()).unwrap();
        fs::rename(&moved, folder.path()).unwrap();
    }
}
