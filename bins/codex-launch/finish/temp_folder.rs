//! The private folder of one run, where Codex writes its last message.

use crate::files::folder::Folder;
use crate::files::temp_names::TempNames;
use common::edge::paths;
use nix::fcntl::OFlag;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// The name of the file for the last message.
pub const LAST_MESSAGE: &str = "last-message";

/// A folder in the system's folder for temporary files. Its name is chosen before it is made, so that the guardian can
/// remove it too.
#[derive(Debug)]
pub struct TempFolder {
    parent: Folder,
    name: String,
}

impl TempFolder {
    /// Opens the folder for temporary files. Nothing is made.
    ///
    /// # Errors
    /// When there is none.
    pub fn plan(names: &TempNames) -> io::Result<TempFolder> {
        Ok(TempFolder { parent: Folder::open(&paths::temp_dir())?, name: names.folder() })
    }

    /// Its path.
    pub fn path(&self) -> PathBuf {
        self.parent.path().join(&self.name)
    }

    /// Makes it, with mode 0700, and opens it. It is removed with the value.
    ///
    /// # Errors
    /// When it cannot be made or opened.
    pub fn make(&self) -> io::Result<PrivateFolder<'_>> {
        let name = OsStr::new(&self.name);
        self.parent.make_folder(name)?;
        Ok(PrivateFolder { place: self, folder: self.parent.open_folder(name)? })
    }

    /// Removes it with all that is in it, if it is there.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        self.parent.remove_tree(OsStr::new(&self.name))
    }
}

/// The private folder after it was made.
#[derive(Debug)]
pub struct PrivateFolder<'a> {
    place: &'a TempFolder,
    folder: Folder,
}

impl PrivateFolder<'_> {
    /// Opens the file `name` in the folder that was made, for reading. The agent may replace the folder under its path; this
    /// does not look there. It follows no link, and does not wait for the writer of a pipe.
    ///
    /// # Errors
    /// Those of open(2).
    pub fn open_file(&self, name: &str) -> io::Result<File> {
        self.folder.open_file(OsStr::new(name), OFlag::O_RDONLY | OFlag::O_NONBLOCK)
    }
}

impl Drop for PrivateFolder<'_> {
    fn drop(&mut self) {
        // `TempFiles::remove_folder` reports an error; this is for a launch that is refused.
        let _ = self.place.remove();
    }
}
