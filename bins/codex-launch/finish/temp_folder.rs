//! The private folder of one run.

use common::edge::folder::Folder;
use common::edge::paths;
use common::edge::temp_names::TempNames;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;

/// A folder in the one for temporary files, under a name that is chosen before it is made, so that another process can
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

    /// Makes it, with mode 0700. It goes with the value.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(&self) -> io::Result<Made<'_>> {
        self.parent.make_folder(OsStr::new(&self.name))?;
        Ok(Made(self))
    }

    /// Removes it with all that is in it, if it is there.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        self.parent.remove_tree(OsStr::new(&self.name))
    }
}

/// A private folder that is there.
#[derive(Debug)]
pub struct Made<'a>(&'a TempFolder);

impl Drop for Made<'_> {
    fn drop(&mut self) {
        // Who wants to know asks before.
        let _ = self.0.remove();
    }
}
