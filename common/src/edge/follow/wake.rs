//! When to look: notices of the folders that files are in, or will be in.

use crate::edge::paths;
use crate::sys::notice::{self, Bell, Notice, Notices, Wanted, Watch};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Which files to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hint {
    /// These, by their index; none when only time has passed.
    Some(Vec<usize>),
    /// All of them: notices were lost.
    All,
}

/// The folders of a set of files, and the watches on them.
#[derive(Debug)]
pub(super) struct Wake {
    notices: Box<dyn Notices>,
    folders: Vec<Folder>,
    /// The folder that each file is in.
    folder_of: Vec<usize>,
    /// Which folders each watch is for.
    by_watch: HashMap<Watch, Vec<usize>>,
}

/// One folder.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    /// The files in it that are followed, by their names.
    files: HashMap<OsString, Vec<usize>>,
    arm: Arm,
}

/// How changes in a folder are heard of.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Arm {
    /// It is watched; these are its device and inode.
    There(Watch, (u64, u64)),
    /// It is not there. The nearest folder above it is watched for this name.
    Above(Watch, OsString),
    /// Not at all.
    Deaf,
}

impl Wake {
    /// Watches the folders of `paths`, each known by its index.
    pub(super) fn new<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Wake {
        let mut known: HashMap<PathBuf, usize> = HashMap::new();
        let mut folders: Vec<Folder> = Vec::new();
        let mut folder_of = Vec::new();
        for (index, path) in paths.into_iter().enumerate() {
            let folder = paths::folder(path);
            let at = *known.entry(folder.clone()).or_insert_with(|| {
                folders.push(Folder { path: folder, files: HashMap::new(), arm: Arm::Deaf });
                folders.len() - 1
            });
            let name = path.file_name().unwrap_or_default().to_owned();
            folders[at].files.entry(name).or_default().push(index);
            folder_of.push(at);
        }
        let mut wake = Wake { notices: notice::here(), folders, folder_of, by_watch: HashMap::new() };
        (0..wake.folders.len()).for_each(|folder| wake.arm(folder));
        wake
    }

    /// Waits until a file may have changed or one of `bells` rings, but no longer than `most`.
    pub(super) fn wait(&mut self, most: Duration, bells: &[Bell]) -> Hint {
        let mut files = Vec::new();
        for notice in self.notices.wait(most, bells) {
            match notice {
                Notice::Of(watch, name) => {
                    for folder in self.by_watch.get(&watch).cloned().unwrap_or_default() {
                        match &self.folders[folder].arm {
                            Arm::There(..) => {
                                files.extend(self.folders[folder].files.get(&name).into_iter().flatten())
                            }
                            Arm::Above(_, awaited) if *awaited == name => {
                                self.arm(folder);
                                files.extend(self.folders[folder].files.values().flatten());
                            }
                            Arm::Above(..) | Arm::Deaf => {}
                        }
                    }
                }
                Notice::Gone(watch) => {
                    for folder in self.by_watch.get(&watch).cloned().unwrap_or_default() {
                        self.arm(folder);
                        files.extend(self.folders[folder].files.values().flatten());
                    }
                }
                Notice::Lost => return Hint::All,
            }
        }
        files.sort_unstable();
        files.dedup();
        Hint::Some(files)
    }

    /// Watches anew what is not watched as it should be: a notice of that may be lost, and a folder further up may
    /// have been moved, of which there is none.
    pub(super) fn mend(&mut self) {
        for folder in 0..self.folders.len() {
            let is_well = match &self.folders[folder].arm {
                Arm::There(_, id) => id_of(&self.folders[folder].path) == Some(*id),
                Arm::Above(..) | Arm::Deaf => false,
            };
            if !is_well {
                self.arm(folder);
            }
        }
    }

    /// The files that no notice tells of.
    pub(super) fn deaf(&self) -> impl Iterator<Item = usize> {
        self.folders
            .iter()
            .filter(|folder| folder.arm == Arm::Deaf)
            .flat_map(|folder| folder.files.values().flatten().copied())
    }

    /// Takes the file `index` at `path` out.
    pub(super) fn forget(&mut self, index: usize, path: &Path) {
        let at = self.folder_of[index];
        let files = &mut self.folders[at].files;
        let name = path.file_name().unwrap_or_default();
        if let Some(same) = files.get_mut(name) {
            same.retain(|file| *file != index);
            if same.is_empty() {
                files.remove(name);
            }
        }
        if files.is_empty() {
            let old = std::mem::replace(&mut self.folders[at].arm, Arm::Deaf);
            self.release(at, &old);
        }
    }

    fn arm(&mut self, folder: usize) {
        let arm = self.find_arm(folder);
        if let Arm::There(watch, _) | Arm::Above(watch, _) = &arm {
            self.by_watch.entry(*watch).or_default().push(folder);
        }
        let old = std::mem::replace(&mut self.folders[folder].arm, arm);
        self.release(folder, &old);
    }

    /// Watches the folder, or the nearest one above it that is there.
    fn find_arm(&mut self, folder: usize) -> Arm {
        let path = self.folders[folder].path.clone();
        let mut below: Option<&Path> = None;
        for at in path.ancestors() {
            let at = if at.as_os_str().is_empty() { Path::new(".") } else { at };
            let Some(id) = id_of(at) else {
                below = Some(at);
                continue;
            };
            let wanted = if below.is_none() { Wanted::Contents } else { Wanted::Names };
            let Some(watch) = self.notices.watch(at, wanted) else { return Arm::Deaf };
            return match below {
                None => Arm::There(watch, id),
                // It came to be before the watch was there.
                Some(below) if id_of(below).is_some() => {
                    self.forget_unused(watch);
                    self.find_arm(folder)
                }
                Some(below) => Arm::Above(watch, below.file_name().unwrap_or_default().to_owned()),
            };
        }
        Arm::Deaf
    }

    /// Gives up the watch of an arm that `folder` had.
    fn release(&mut self, folder: usize, arm: &Arm) {
        let (Arm::There(watch, _) | Arm::Above(watch, _)) = arm else { return };
        let Some(folders) = self.by_watch.get_mut(watch) else { return };
        if let Some(at) = folders.iter().position(|other| *other == folder) {
            folders.swap_remove(at);
        }
        if folders.is_empty() {
            self.by_watch.remove(watch);
            self.forget_unused(*watch);
        }
    }

    fn forget_unused(&mut self, watch: Watch) {
        if !self.by_watch.contains_key(&watch) {
            self.notices.forget(watch);
        }
    }
}

/// Device and inode of a folder that is there.
fn id_of(folder: &Path) -> Option<(u64, u64)> {
    let about = fs::metadata(folder).ok()?;
    about.is_dir().then(|| (about.dev(), about.ino()))
}
