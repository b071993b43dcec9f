//! The temporary files of a run, under names that are chosen before there is one.
//!
//! Both halves of the launcher know the names from the start, so whichever is left can remove the files of the other.

use crate::args::Outputs;
use common::edge::place;
use std::fs::{self, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The names of one run.
#[derive(Debug, Clone)]
pub struct Traces {
    /// The private folder's name.
    folder: String,
    /// The name of a file that is to be moved to the place of another one in its folder.
    beside: String,
}

impl Traces {
    /// New names. The standard library's hasher has keys that nobody can guess, so nobody can have made the files.
    pub fn new() -> Traces {
        let number = RandomState::new().hash_one(std::process::id());
        Traces {
            folder: format!("codex-launch-{number:016x}"),
            beside: format!(".codex-launch-{number:016x}"),
        }
    }

    /// Makes the private folder, which goes with the value.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make_folder(&self) -> io::Result<TempDir> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(&self.folder).rand_bytes(0).permissions(Permissions::from_mode(0o700)).tempdir()
    }

    /// The name to write a file under before it is moved.
    pub fn beside(&self) -> &str {
        &self.beside
    }

    /// Removes what a process that is dead has left of them.
    pub fn remove(&self, outputs: &Outputs) {
        // What is not there was removed, or never made.
        let _ = fs::remove_dir_all(std::env::temp_dir().join(&self.folder));
        for path in [&outputs.result, &outputs.session].into_iter().flatten() {
            let _ = fs::remove_file(self.place_beside(path));
        }
    }

    fn place_beside(&self, path: &Path) -> PathBuf {
        place::folder(&place::behind_links(path)).join(&self.beside)
    }
}
