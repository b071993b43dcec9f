//! What a case needs of the machine: a small disk, a limit on processes, a library to preload.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::part::Words;
use super::plan::Kind;
use crate::harness::mounts::own_mounts;
use crate::harness::scratch::Scratch;
use crate::harness::wait::{SOON, wait_until};

/// Whether faults of this kind can be had here.
pub(super) fn can_have(kind: Kind) -> bool {
    match kind {
        Kind::FullDisk | Kind::FullTemp => own_mounts().is_some(),
        Kind::Processes => Cgroup::is_to_be_had(),
        Kind::Watches => can_limit_watches(),
        Kind::DeadMount => can_hold(),
        _ => true,
    }
}

/// The words under which a command has none of what `limit`, one of /proc/sys/user, counts.
pub(super) fn without(limit: &str) -> Vec<String> {
    let script = format!(r#"echo 0 > /proc/sys/user/{limit} && exec "$0" "$@""#);
    ["unshare", "--user", "--map-root-user", "sh", "-c", &script].map(str::to_owned).into()
}

fn can_hold() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    let try_it = || own_mounts().is_some() && Mount::dead(Scratch::new().dir()).is_some();
    *CAN.get_or_init(try_it)
}

fn can_limit_watches() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| {
        let words = without("max_inotify_watches");
        let tried = Command::new(&words[0]).args(&words[1..]).arg("true").output();
        tried.is_ok_and(|tried| tried.status.success())
    })
}

/// A file system of a case's own, which only those who enter it see. Gone with this value.
pub(super) struct Mount {
    /// It is in the tree of file systems that this one is part of.
    holder: Child,
}

impl Mount {
    /// A small disk, of 64 KiB, over this folder.
    pub(super) fn small_disk(folder: &Path) -> Mount {
        // It holds the mount until its stdin ends.
        let script = r#"mount -t tmpfs -o size=64k none "$0" && echo && exec cat"#;
        let words: [&OsStr; 4] = ["sh".as_ref(), "-c".as_ref(), script.as_ref(), folder.as_ref()];
        Mount::held_by(folder, words).expect("the mount")
    }

    /// The folder `dead` in this one, with a program that holds whoever executes it; see `dead_mount.c`.
    pub(super) fn dead(folder: &Path) -> Option<Mount> {
        fs::create_dir(folder.join("dead")).expect("a folder");
        Mount::held_by(folder, [dead_mount().as_os_str(), "dead".as_ref(), "/bin/sleep".as_ref()])
    }

    /// One that a command makes, in this working directory. It writes a line when it has.
    fn held_by<'a>(folder: &Path, command: impl IntoIterator<Item = &'a OsStr>) -> Option<Mount> {
        let words = own_mounts().expect("a file system can be mounted");
        let mut holder = Command::new(words[0]);
        let holder = holder.args(&words[1..]).args(command).current_dir(folder);
        let holder = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut holder = holder.expect("a process for the mount");
        let stdout = holder.stdout.as_mut().expect("it is piped");
        let is_mounted = stdout.read_exact(&mut [0]).is_ok();
        let mount = Mount { holder };
        is_mounted.then_some(mount)
    }

    /// How a path is called by those outside.
    pub(super) fn outside(&self, path: &Path) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        root.join(path.strip_prefix("/").expect("an absolute path"))
    }

    /// A command in it, with this working directory.
    pub(super) fn enter(&self, dir: &Path, words: Words) -> Words {
        let in_place = ["sh", "-c", r#"cd "$0" && exec "$@""#];
        let words = words.under([dir]).under(in_place);
        let id = self.holder.id().to_string();
        let has_user = own_mounts().is_some_and(|words| words.contains(&"--map-root-user"));
        let user: &[&str] = if has_user { &["--user", "--preserve-credentials"] } else { &[] };
        words.under([&["nsenter", "--mount", "--target", &id], user].concat())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// A group of processes whose number is limited. Gone with this value; whoever is in it must have ended.
pub(super) struct Cgroup {
    dir: PathBuf,
}

impl Cgroup {
    /// Where one can be made: in the tree of pids, or in the one tree that newer systems have.
    fn parent() -> Option<&'static Path> {
        static PARENT: OnceLock<Option<&'static Path>> = OnceLock::new();
        *PARENT.get_or_init(|| {
            ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].map(Path::new).into_iter().find(|parent| {
                let probe = parent.join(format!("codex-filters-{}", std::process::id()));
                let has_limit = fs::create_dir(&probe).is_ok() && probe.join("pids.max").exists();
                let _ = fs::remove_dir(&probe);
                has_limit
            })
        })
    }

    /// One of at most `limit` processes and threads.
    pub(super) fn new(limit: Option<u32>) -> Cgroup {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let parent = Cgroup::parent().expect("a limit on processes can be had");
        let name = format!("codex-filters-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let cgroup = Cgroup { dir: parent.join(name) };
        fs::create_dir(&cgroup.dir).expect("a cgroup");
        if let Some(limit) = limit {
            cgroup.set(&limit.to_string());
        }
        cgroup
    }

    /// Whether one can be made.
    pub(super) fn is_to_be_had() -> bool {
        Cgroup::parent().is_some()
    }

    /// How many processes and threads are in it.
    pub(super) fn living(&self) -> u32 {
        let current = fs::read_to_string(self.dir.join("pids.current")).expect("pids.current");
        current.trim().parse().expect("a number")
    }

    /// The file through which one enters.
    pub(super) fn procs(&self) -> PathBuf {
        self.dir.join("cgroup.procs")
    }

    /// From now on there may be no more than there are.
    pub(super) fn close(&self) {
        self.set(&self.living().to_string());
    }

    fn set(&self, limit: &str) {
        fs::write(self.dir.join("pids.max"), limit).expect("pids.max");
    }

    /// A command in it.
    pub(super) fn enter(&self, words: Words) -> Words {
        let enter = r#"echo $$ > "$0"/cgroup.procs && exec "$@""#;
        words.under([&self.dir]).under(["sh", "-c", enter])
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // It is busy for a moment after its last process has been buried.
        let dir = &self.dir;
        wait_until("the cgroup is empty", SOON, || fs::remove_dir(dir).is_ok());
    }
}

/// Fills the file system that `file` is on, but for so many pages of 4 KiB.
pub(super) fn fill(file: &Path, pages: u32) {
    let mut file = fs::File::create(file).expect("a file");
    while file.write_all(&[0; 4096]).is_ok() {}
    let length = file.metadata().expect("a file").len();
    file.set_len(length.saturating_sub(u64::from(pages) * 4096)).expect("room");
}

/// The library of `shim.c`, made once.
pub(super) fn shim() -> &'static Path {
    static SHIM: OnceLock<PathBuf> = OnceLock::new();
    SHIM.get_or_init(|| compiled("tests/faults/shim.c", "faults-shim.so", &["-shared", "-fPIC"]))
}

/// The program of `dead_mount.c`, made once.
fn dead_mount() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("tests/harness/dead_mount.c", "dead-mount", &[]))
}

/// Where this source of C is, compiled.
fn compiled(source: &str, name: &str, args: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let compiled = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let always = ["-Wall", "-Wextra", "-Werror", "-o"];
    let made = Command::new("cc").args(args).args(always).arg(&compiled).arg(source).status();
    assert!(made.expect("a C compiler").success());
    compiled
}
