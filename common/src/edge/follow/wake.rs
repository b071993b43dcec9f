//! When to look at files: by watches on the folders that they are in, or will be in.

use crate::edge::paths;
use crate::sys::fs_watch::{self, Notice, Notices, Waker, Wanted, Watch};
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
    state: WatchState,
}

/// How a folder is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WatchState {
    /// It has a watch; these are its device and inode.
    Direct(Watch, (u64, u64)),
    /// It does not exist. The nearest ancestor has a watch, for this name.
    Ancestor(Watch, OsString),
    /// It is not watched, and its files are polled.
    Unwatched,
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
                folders.push(Folder { path: folder, files: HashMap::new(), state: WatchState::Unwatched });
                folders.len() - 1
            });
            let name = path.file_name().unwrap_or_default().to_owned();
            folders[at].files.entry(name).or_default().push(index);
            folder_of.push(at);
        }
        let mut wake = Wake { notices: fs_watch::here(), folders, folder_of, by_watch: HashMap::new() };
        (0..wake.folders.len()).for_each(|folder| wake.watch_folder(folder));
        wake
    }

    /// Waits until a file may have changed or one of `wakers` is ready, but no longer than `most`.
    pub(super) fn wait(&mut self, most: Duration, wakers: &[Waker]) -> Hint {
        let mut files = Vec::new();
        for notice in self.notices.wait(most, wakers) {
            match notice {
                Notice::Of(watch, name) => {
                    for folder in self.by_watch.get(&watch).cloned().unwrap_or_default() {
                        match &self.folders[folder].state {
                            WatchState::Direct(..) => {
                                files.extend(self.folders[folder].files.get(&name).into_iter().flatten())
                            }
                            WatchState::Ancestor(_, awaited) if *awaited == name => {
                                self.watch_folder(folder);
                                files.extend(self.folders[folder].files.values().flatten());
                            }
                            WatchState::Ancestor(..) | WatchState::Unwatched => {}
                        }
                    }
                }
                Notice::Gone(watch) => {
                    for folder in self.by_watch.get(&watch).cloned().unwrap_or_default() {
                        self.watch_folder(folder);
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

    /// Renews each watch that is not on the right folder. The notice of a change may be lost, and there is none when a
    /// folder further up was moved.
    pub(super) fn renew(&mut self) {
        for folder in 0..self.folders.len() {
            let is_right = match &self.folders[folder].state {
                WatchState::Direct(_, id) => id_of(&self.folders[folder].path) == Some(*id),
                WatchState::Ancestor(..) | WatchState::Unwatched => false,
            };
            if !is_right {
                self.watch_folder(folder);
            }
        }
    }

    /// The files whose changes give no notice.
    pub(super) fn unwatched(&self) -> impl Iterator<Item = usize> {
        self.folders
            .iter()
            .filter(|folder| folder.state == WatchState::Unwatched)
            .flat_map(|folder| folder.files.values().flatten().copied())
    }

    /// Stops watching for the file `index` at `path`.
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
            let old = std::mem::replace(&mut self.folders[at].state, WatchState::Unwatched);
            self.release(at, &old);
        }
    }

    fn watch_folder(&mut self, folder: usize) {
        let state = self.find_watch(folder);
        if let WatchState::Direct(watch, _) | WatchState::Ancestor(watch, _) = &state {
            self.by_watch.entry(*watch).or_default().push(folder);
        }
        let old = std::mem::replace(&mut self.folders[folder].state, state);
        self.release(folder, &old);
    }

    /// Watches the folder, or the nearest one above it that is there.
    fn find_watch(&mut self, folder: usize) -> WatchState {
        let path = self.folders[folder].path.clone();
        let mut below: Option<&Path> = None;
        for at in path.ancestors() {
            let at = if at.as_os_str().is_empty() { Path::new(".") } else { at };
            let Some(id) = id_of(at) else {
                below = Some(at);
                continue;
            };
            let wanted = if below.is_none() { Wanted::Contents } else { Wanted::Names };
            let Some(watch) = self.notices.watch(at, wanted) else { return WatchState::Unwatched };
            return match below {
                None => WatchState::Direct(watch, id),
                // It was made before the watch was there.
                Some(below) if id_of(below).is_some() => {
                    self.forget_unused(watch);
                    self.find_watch(folder)
                }
                Some(below) => WatchState::Ancestor(watch, below.file_name().unwrap_or_default().to_owned()),
            };
        }
        WatchState::Unwatched
    }

    /// Removes the watch that `folder` had, unless another folder uses it.
    fn release(&mut self, folder: usize, state: &WatchState) {
        let (WatchState::Direct(watch, _) | WatchState::Ancestor(watch, _)) = state else { return };
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
