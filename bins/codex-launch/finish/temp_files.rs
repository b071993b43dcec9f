//! What a run writes and may leave behind, known before there is a run.
//!
//! Both halves of the launcher know it from the start, so whichever is left can finish what the other one began.

use crate::files::temp_names::TempNames;
use crate::finish::mount_points::MountPoints;
use crate::finish::temp_folder::{PrivateFolder, TempFolder};
use crate::prepare::args::Config;
use crate::prepare::check::{Refusal, refuse};
use crate::run::outputs::OutputPaths;
use common::edge::paths;
use common::face::exit::Status;
use common::face::say::why;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The places of one run.
#[derive(Debug)]
pub struct TempFiles {
    /// Where its outputs go.
    pub outputs: OutputPaths,
    names: Arc<TempNames>,
    folder: TempFolder,
    /// What a sandbox that is killed may leave.
    pub mount_points: MountPoints,
}

/// The names that the sandbox of Codex keeps the agent from making, by folders of its own where there are none (0.135 and
/// later, as far as each goes).
const GUARDED: [&str; 4] = [".agents", ".codex", ".aws", ".git"];

impl TempFiles {
    /// The places of a run as `config` says. Nothing is made yet.
    pub fn plan(config: &Config) -> Result<TempFiles, Refusal> {
        let outputs = OutputPaths::resolve(config)?;
        let names = Arc::new(TempNames::new());
        let folder = TempFolder::plan(&names).map_err(|error| no_folder(&paths::temp_dir(), &error))?;
        Ok(TempFiles {
            outputs,
            names,
            folder,
            mount_points: mount_points(writable_folders(config).iter().map(|(_, folder)| folder.as_path())),
        })
    }

    /// Makes the private folder, which is removed with the value.
    pub fn make_folder(&self) -> Result<PrivateFolder<'_>, Refusal> {
        self.folder.make().map_err(|error| no_folder(&paths::temp_dir(), &error))
    }

    /// The path of the private folder.
    pub fn folder(&self) -> PathBuf {
        self.folder.path()
    }

    /// Removes the private folder; the failure in words.
    pub fn remove_folder(&self) -> Option<String> {
        let error = self.folder.remove().err()?;
        Some(format!("temporary folder {}: remove: {}", self.folder().display(), why(&error)))
    }

    /// The names of files that are to be moved.
    pub fn names(&self) -> Arc<TempNames> {
        Arc::clone(&self.names)
    }

    /// Removes what a process that is dead has left of what is temporary; what could not be removed, in words.
    pub fn remove(&self) -> Option<String> {
        self.outputs.each().for_each(|(_, path)| path.remove_temp_files(&self.names));
        self.remove_folder()
    }
}

/// The folders that the sandbox lets the agent write, each with what names it.
pub fn writable_folders(config: &Config) -> Vec<(&'static str, PathBuf)> {
    let directory = config.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let temporary = [("TMPDIR", paths::temp_dir()), ("temporary folder", PathBuf::from("/tmp"))];
    let added = config.extra.add_dirs.iter().map(|folder| ("--add-dir", folder.clone()));
    let mut all: Vec<_> = [("--cd", directory)].into_iter().chain(added).chain(temporary).collect();
    all.dedup_by(|one, other| one.1 == other.1);
    all
}

/// What a sandbox may make in `folders`, as they are now.
pub fn mount_points<'a>(folders: impl IntoIterator<Item = &'a Path>) -> MountPoints {
    MountPoints::before(folders, &GUARDED)
}

fn no_folder(parent: &Path, error: &io::Error) -> Refusal {
    let why = format!("{}; name another by TMPDIR", why(error));
    refuse(Status::LAUNCHER, &format!("temporary folder in {}", parent.display()), why)
}
