//! Removing a folder whose content somebody else made, who may mean harm.

use common::sys::folder::{self, EntryKind};
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, renameat};
use nix::sys::stat::{FchmodatFlags, Mode, fchmodat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

/// Removes `name` in `parent` with all that is in it. No link is followed, and what is mounted in it stays as it is.
/// Folders that may not be entered are opened up first, where they are this user's.
///
/// # Errors
/// When something cannot be removed.
pub(super) fn remove_tree(parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let Some(entry) = folder::entry(parent, name)? else { return Ok(()) };
    if entry.kind != EntryKind::Folder {
        return unlink(parent, name);
    }
    let top = enter(parent, name)?;
    let mut moved = 0;
    while empty_by_one_level(&top, &mut moved)? {}
    Ok(unlinkat(parent, name, UnlinkatFlags::RemoveDir)?)
}

/// Removes `name`, whatever it is but a folder; a link itself and not what it leads to.
///
/// # Errors
/// Those of unlink(2), but that there is nothing.
pub(super) fn unlink(folder: impl AsFd, name: &OsStr) -> io::Result<()> {
    match unlinkat(folder, name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Opens the folder `name` after giving this user all rights to it.
fn enter(folder: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    open_up(folder, name)?;
    Ok(folder::open_in(folder, name, OFlag::O_RDONLY | OFlag::O_DIRECTORY)?.into())
}

/// Gives this user all rights to the folder `name`.
///
/// # Errors
/// When something is mounted on it: its content is that of another folder, which is none of this one's.
fn open_up(folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
    if folder::is_mounted_on(folder, name)? {
        return Err(io::Error::other("something is mounted in it"));
    }
    // Somebody else's folder stays as it is, and may be open to all.
    let _ = fchmodat(folder, name, Mode::S_IRWXU, FchmodatFlags::NoFollowSymlink);
    Ok(())
}

/// The names in a folder that is open for reading from its beginning.
///
/// # Errors
/// When it cannot be read.
pub(super) fn names_in(folder: impl Into<OwnedFd>) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::from_fd(folder.into())?.iter() {
        let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}

/// Removes what is in `top`. The folders in folders of it are moved up into it first, so that no depth needs a stack or
/// more than two descriptors; whether any were, and are still to be removed. `moved` gives them names.
fn empty_by_one_level(top: &OwnedFd, moved: &mut u64) -> io::Result<bool> {
    let before = *moved;
    let list = |folder: &OwnedFd| {
        names_in(folder::open_in(folder, OsStr::new("."), OFlag::O_RDONLY | OFlag::O_DIRECTORY)?)
    };
    for name in list(top)? {
        match folder::entry(top, &name)? {
            Some(entry) if entry.kind == EntryKind::Folder => {}
            _ => {
                unlink(top, &name)?;
                continue;
            }
        }
        let inner = enter(top, &name)?;
        for name in list(&inner)? {
            match folder::entry(&inner, &name)? {
                Some(entry) if entry.kind == EntryKind::Folder => {
                    // To be moved, a folder must be writable itself.
                    open_up(&inner, &name)?;
                    move_up(&inner, &name, top, moved)?;
                }
                _ => unlink(&inner, &name)?,
            }
        }
        unlinkat(top, name.as_os_str(), UnlinkatFlags::RemoveDir)?;
    }
    Ok(*moved > before)
}

/// Moves the folder `name` of `inner` to `top`, under a name that nobody has there.
fn move_up(inner: &OwnedFd, name: &OsStr, top: &OwnedFd, moved: &mut u64) -> io::Result<()> {
    loop {
        *moved += 1;
        let new = format!("{moved}");
        match folder::entry(top, OsStr::new(&new))? {
            Some(_) => {}
            None => return Ok(renameat(inner, name, top, new.as_str())?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_tree_of_any_depth_goes_and_what_links_lead_to_stays() {
        let kept = tempfile::tempdir().unwrap();
        fs::write(kept.path().join("file"), "kept").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let parent: OwnedFd = File::open(folder.path()).unwrap().into();
        // Deeper than there may be descriptors, and than a path may be long.
        let mut at: OwnedFd = parent.try_clone().unwrap();
        for _ in 0..3000 {
            nix::sys::stat::mkdirat(&at, "1", Mode::S_IRWXU).unwrap();
            at = enter(&at, OsStr::new("1")).unwrap();
        }
        let top = folder.path().join("1");
        symlink(kept.path(), top.join("link")).unwrap();
        fs::create_dir(top.join("closed")).unwrap();
        fs::write(top.join("closed/file"), "").unwrap();
        fs::create_dir(top.join("closed/inner")).unwrap();
        for closed in ["closed/inner", "closed"] {
            fs::set_permissions(top.join(closed), Permissions::from_mode(0o0)).unwrap();
        }
        remove_tree(&parent, OsStr::new("1")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(fs::read(kept.path().join("file")).unwrap(), b"kept");
        remove_tree(&parent, OsStr::new("1")).unwrap();
    }
}
