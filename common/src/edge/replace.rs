//! Putting a file in place whole or not at all.

use super::output::{Existing, Output};
use super::place::{self, Making, Standing};
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Makes `path` a file of mode 0600 that holds `content`: written beside it under the name `beside`, then moved there,
/// so that a reader sees the old file, or none, or all of the new one. A link stays one, and what it leads to is
/// replaced. A pipe or a device is written as it stands.
///
/// The name is the caller's, so that another process can know what to remove if this one dies here.
///
/// # Errors
/// When it cannot be written or moved; nothing is left beside it then.
pub fn file(path: &Path, content: &[u8], beside: &str) -> io::Result<()> {
    let path = &place::behind_links(path);
    if place::look(path, Making::Moved)? == Standing::Special {
        return Output::open(path, Existing::Emptied)?.bytes(content);
    }
    let mut new = tempfile::Builder::new()
        .prefix(beside)
        .rand_bytes(0)
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(place::folder(path))?;
    new.write_all(content)?;
    new.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_new_file_takes_the_place_of_the_old_one_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "old").unwrap();
        file(&path, b"new", ".beside").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        file(Path::new("/dev/null"), b"gone", ".beside").unwrap();
    }
}
