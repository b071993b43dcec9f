//! What `codex-launch` adds to a child: time at start and end together, against the bare child, `timeout 60 child`
//! and a shell wrapper that polls; the time from the child's end to the sentinel; and its peak memory under a flood.
//!
//! `cargo bench --bench launch` prints the table of `benches/README.md`. Each run's answer is checked before its time
//! counts, and the runs of the competitors take turns, so that a busy moment hits them alike.
#![allow(clippy::print_stderr, clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const LAUNCH: &str = env!("CARGO_BIN_EXE_codex-launch");

/// The child, built now unless it is up to date.
static CHILD: LazyLock<String> = LazyLock::new(|| {
    let package = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/Cargo.toml");
    let build = escargot::CargoBuild::new().manifest_path(package).bin("fake-codex").current_release();
    build.run().expect("building fake-codex").path().to_str().expect("a path in UTF-8").to_owned()
});

/// How often each competitor runs; the shell wrapper, which sleeps most of its time, less often.
const ROUNDS: usize = 200;
const SHELL_ROUNDS: usize = 20;

/// A wrapper as people write it: starts the child, looks every 200 ms whether it still runs.
const SHELL: &str =
    r#""$@" & child=$!; while kill -0 "$child" 2>/dev/null; do sleep 0.2; done; wait "$child""#;

fn main() {
    let scratch = Scratch::new();
    let (mut bare, mut timeout, mut launch, mut shell) = (vec![], vec![], vec![], vec![]);
    for round in 0..ROUNDS {
        bare.push(scratch.time(Command::new(&*CHILD).args(["exec", "--json", "-"])));
        timeout.push(scratch.time(Command::new("timeout").args(["60", &CHILD, "exec", "--json", "-"])));
        launch.push(scratch.launch());
        if round < SHELL_ROUNDS {
            shell.push(
                scratch.time(Command::new("sh").args(["-c", SHELL, "sh", &CHILD, "exec", "--json", "-"])),
            );
        }
    }
    let sentinel: Vec<Duration> = (0..ROUNDS).map(|_| scratch.sentinel_delay()).collect();
    print(&[
        ("bare child", bare),
        ("`timeout 60` child", timeout),
        ("`codex-launch`", launch),
        ("polling shell", shell),
    ]);
    println!(
        "\nchild's end to sentinel: median {:.2} ms, slowest {:.2} ms",
        median(&sentinel),
        slowest(&sentinel)
    );
    println!(
        "peak memory, 500 MB of events (one line of 100 MB) and 500 MB of stderr: {} KiB",
        scratch.flood()
    );
}

fn print(rows: &[(&str, Vec<Duration>)]) {
    let child = median(&rows[0].1);
    println!("| what runs | median | added to the child | to the bare child |\n|---|---|---|---|");
    for (name, times) in rows {
        let time = median(times);
        println!("| {name} | {time:.2} ms | {:.2} ms | {:.2}x |", time - child, time / child);
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(times: &[Duration]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    millis(sorted[sorted.len() / 2])
}

fn slowest(times: &[Duration]) -> f64 {
    millis(times.iter().max().copied().unwrap_or_default())
}

/// A folder that looks like a git worktree, with a prompt in it.
struct Scratch {
    folder: TempDir,
}

impl Scratch {
    fn new() -> Scratch {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join(".git")).expect("a folder");
        fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").expect("a file");
        fs::write(folder.path().join("prompt"), "Say ok.\n").expect("a file");
        Scratch { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `command` on the prompt and gives its time; it must end well.
    fn time(&self, command: &mut Command) -> Duration {
        let prompt = fs::File::open(self.path("prompt")).expect("the prompt");
        command.current_dir(&self.folder).stdin(prompt).stdout(Stdio::null()).stderr(Stdio::null());
        let start = Instant::now();
        let status = command.status().expect("it starts");
        let time = start.elapsed();
        assert!(status.success(), "{command:?}: {status}");
        time
    }

    fn command(&self) -> Command {
        let mut command = Command::new(LAUNCH);
        command.args(["--codex", &CHILD, "--skip-auth-check", "--force"]);
        command.args(["--progress-file", "progress", "--result-file", "result"]);
        command
    }

    fn launch(&self) -> Duration {
        let time = self.time(&mut self.command());
        assert_eq!(last_line(&self.path("progress")), SENTINEL);
        assert_eq!(fs::read(self.path("result")).expect("a result"), b"ok");
        time
    }

    /// From the last thing that the child does before it ends to the last write to the progress file.
    fn sentinel_delay(&self) -> Duration {
        let mark = self.path("mark");
        let _ = fs::remove_file(&mark);
        fs::write(self.path("script"), format!("{RUN}{{\"step\":\"touch\",\"file\":{mark:?}}}\n"))
            .expect("a file");
        self.time(self.command().env("FAKE_CODEX_SCRIPT", self.path("script")));
        assert_eq!(last_line(&self.path("progress")), SENTINEL);
        let written = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).expect("a time");
        written(&self.path("progress")).duration_since(written(&mark)).unwrap_or_default()
    }

    /// Peak resident memory of the launcher's two processes, in KiB, pages that they share counted twice. It is read
    /// while the launcher runs: what wait4 tells at the end takes in the children.
    fn flood(&self) -> u64 {
        fs::write(self.path("script"), format!("{FLOOD}{RUN}")).expect("a file");
        let mut command = self.command();
        command.env("FAKE_CODEX_SCRIPT", self.path("script"));
        let prompt = fs::File::open(self.path("prompt")).expect("the prompt");
        let mut child =
            command.current_dir(&self.folder).stdin(prompt).stderr(Stdio::null()).spawn().expect("it starts");
        let mut peak = [0; 2];
        while child.try_wait().expect("a child").is_none() {
            for (peak, half) in peak.iter_mut().zip([Some(child.id()), only_child(child.id())]) {
                *peak = half.map_or(0, high_water).max(*peak);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(child.wait().expect("a child").success());
        assert!(fs::metadata(self.path("progress")).expect("a file").len() > 500_000_000);
        peak.iter().sum()
    }
}

const RUN: &str = r#"{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"ok"}}
{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}
"#;

const FLOOD: &str = r#"{"step":"flood","to":"stdout","bytes":400000000,"as":"lines"}
{"step":"flood","to":"stdout","bytes":100000000,"as":"one-line"}
{"step":"flood","to":"stderr","bytes":500000000,"as":"no-lf"}
"#;

const SENTINEL: &str = r#"{"type":"handoff.completed","elapsed_seconds":0,"output_tokens":1}"#;

/// The child of the first thread of process `pid`, if it has one.
fn only_child(pid: u32) -> Option<u32> {
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?.trim().parse().ok()
}

/// VmHWM of process `pid` in KiB (proc(5)), or 0 when it has ended.
fn high_water(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn last_line(path: &Path) -> String {
    fs::read_to_string(path).expect("a progress file").lines().next_back().unwrap_or_default().to_owned()
}
