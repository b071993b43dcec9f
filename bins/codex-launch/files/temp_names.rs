//! Names for the temporary files of one run.

use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// Names that nobody can guess, also not from one another: a command of the run sees some of them. Two processes that
/// were one when this was made know the same names.
#[derive(Debug)]
pub struct TempNames {
    /// The standard library fills it from the kernel's random numbers.
    keys: RandomState,
    count: AtomicU64,
}

impl TempNames {
    /// The names of a new run.
    pub fn new() -> TempNames {
        TempNames { keys: RandomState::new(), count: AtomicU64::new(0) }
    }

    /// The name of the run's private folder.
    pub fn folder(&self) -> String {
        format!("codex-launch-{:016x}", self.number("folder", 0))
    }

    /// The beginning of all names of files.
    pub(super) fn prefix(&self) -> String {
        format!(".codex-launch-{:016x}-", self.number("prefix", 0))
    }

    /// The name of a file, another one each time.
    pub(super) fn next_file(&self) -> OsString {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        format!("{}{:016x}", self.prefix(), self.number("file", count)).into()
    }

    fn number(&self, what: &str, count: u64) -> u64 {
        let mut hasher = self.keys.build_hasher();
        hasher.write(what.as_bytes());
        hasher.write_u64(count);
        hasher.finish()
    }
}

impl Default for TempNames {
    fn default() -> TempNames {
        TempNames::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_comes_twice_and_none_has_a_part_of_the_folders() {
        let names = TempNames::new();
        let folder = names.folder();
        assert_eq!(names.folder(), folder);
        assert_ne!(TempNames::new().folder(), folder);
        let (one, other) = (names.next_file(), names.next_file());
        assert_ne!(one, other);
        let number = folder.trim_start_matches("codex-launch-");
        for name in [one, other] {
            let name = name.into_string().unwrap();
            assert!(name.starts_with(&names.prefix()) && !name.contains(number), "{name}");
        }
    }
}
