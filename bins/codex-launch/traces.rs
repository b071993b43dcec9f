//! The temporary files of a run, under names that are chosen before there is one.
//!
//! Both halves of the launcher know the names from the start, so whichever is left can remove the files of the other.

use crate::args::{Config, Outputs};
use common::edge::mount_points::MountPoints;
use common::edge::place;
use std::fs::{self, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The names of one run.
#[derive(Debug)]
pub struct Traces {
    /// The private folder's name.
    folder: String,
    /// The name of a file that is to be moved to the place of another one in its folder.
    beside: String,
    /// What a sandbox that is killed may leave.
    pub mount_points: MountPoints,
}

/// The names that the sandbox of Codex keeps the agent from making, by folders of its own where there are none (0.135 and
/// later, as far as each goes).
const GUARDED: [&str; 4] = [".agents", ".codex", ".aws", ".git"];

impl Traces {
    /// New names. The standard library's hasher has keys that nobody can guess, so nobody can have made the files.
    pub fn new(config: &Config) -> Traces {
        let number = RandomState::new().hash_one(std::process::id());
        Traces {
            folder: format!("codex-launch-{number:016x}"),
            beside: format!(".codex-launch-{number:016x}"),
            mount_points: mount_points(config),
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

/// The folders that the sandbox lets the agent write, as they are now.
fn mount_points(config: &Config) -> MountPoints {
    let directory = config.directory.as_deref().unwrap_or(Path::new("."));
    let temporary = [std::env::temp_dir(), PathBuf::from("/tmp")];
    let added = config.extra.add_dirs.iter().map(PathBuf::as_path);
    let folders = [directory].into_iter().chain(added).chain(temporary.iter().map(PathBuf::as_path));
    MountPoints::before(folders, &GUARDED)
}
