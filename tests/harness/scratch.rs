//! A folder of a test's own.

use std::fs;
use std::path::{Path, PathBuf};

use nix::unistd::Pid;
use tempfile::TempDir;

use super::wait::{SOON, wait_until};

/// A new folder, gone with this value.
pub(crate) struct Scratch {
    dir: TempDir,
}

impl Scratch {
    /// An empty folder outside any git worktree.
    pub(crate) fn new() -> Scratch {
        Scratch { dir: tempfile::tempdir().expect("a temporary folder") }
    }

    /// The same, in memory where that is to be had: for a program that has what it writes go to the disk at once.
    pub(crate) fn in_memory() -> Scratch {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Scratch { dir: dir.expect("a temporary folder") }
    }

    /// An empty folder that looks like a git worktree.
    pub(crate) fn git() -> Scratch {
        let scratch = Scratch::new();
        fs::create_dir(scratch.path(".git")).expect("a .git folder");
        scratch.write(".git/HEAD", "ref: refs/heads/main\n");
        scratch
    }

    /// The folder.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap_or_else(|error| panic!("{name}: {error}"));
        path
    }

    /// Whether there is such a file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Reads a file.
    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Reads a file that is text.
    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Reads a file that is JSON.
    #[track_caller]
    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Reads a file that is a process id.
    #[track_caller]
    pub(crate) fn pid(&self, name: &str) -> Pid {
        Pid::from_raw(self.text(name).parse().unwrap_or_else(|error| panic!("{name}: {error}")))
    }

    /// Returns when there is such a file.
    #[track_caller]
    pub(crate) fn wait_for(&self, name: &str) {
        wait_until(&format!("there is a file {name}"), SOON, || self.has(name));
    }

    /// The names of all files in it, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir()).expect("the folder").map(|entry| entry.expect("an entry"));
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().into_string().expect("a name in UTF-8")).collect();
        names.sort();
        names
    }
}
