//! File systems of a test's own, and who may make them.

use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::sync::OnceLock;

/// Whether the tests run as root.
pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
}

/// The words that give a command a file system tree of its own, where that is allowed.
pub(crate) fn own_mounts() -> Option<&'static [&'static str]> {
    static WORDS: OnceLock<Option<&'static [&'static str]>> = OnceLock::new();
    *WORDS.get_or_init(|| {
        let ways: [&[&str]; 2] = [&["unshare", "--mount"], &["unshare", "--mount", "--map-root-user"]];
        let works = |way: &&[&str]| {
            let mount = ["sh", "-c", "mount -t tmpfs none /mnt"];
            let result = Command::new(way[0]).args(&way[1..]).args(mount).output();
            result.is_ok_and(|output| output.status.success())
        };
        ways.into_iter().find(works)
    })
}
