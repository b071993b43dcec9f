//! A wave of files in a folder, and whoever watches it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use tempfile::TempDir;

const WAVE_WATCH: &str = env!("CARGO_BIN_EXE_wave-watch");

/// Makes this bench the bare inotify loop over the folder that is its value.
pub(crate) const INOTIFY: &str = "CODEX_FILTERS_BENCH_INOTIFY";

/// What an agent writes before its sentinel.
const EVENTS: &str = "{\"type\":\"thread.started\",\"thread_id\":\"t1\"}\n{\"type\":\"turn.started\"}\n";
const SENTINEL: &str = "{\"type\":\"handoff.completed\",\"elapsed_seconds\":9,\"output_tokens\":1}\n";

/// How long anything may take before the bench gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Who watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    WaveWatch,
    /// The same without the kernel's notices, polling every second.
    Polling,
    /// A loop that looks every second for sentinels in all files: one process a look, as cheap as a shell can.
    Shell,
    Tail,
    /// What the kernel's notices allow at all: a read of the file that a notice names.
    Inotify,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::WaveWatch => "`wave-watch`",
            Kind::Polling => "`wave-watch`, poll only, 1 s",
            Kind::Shell => "shell loop, polling, 1 s",
            Kind::Tail => "`tail -n0 -F`",
            Kind::Inotify => "bare inotify loop",
        }
    }

    fn command(self, folder: &Path) -> Command {
        let shell = |text: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", text]);
            command
        };
        let mut command = match self {
            Kind::WaveWatch | Kind::Polling => {
                let mut command = Command::new(WAVE_WATCH);
                command.args(["--manifest", "manifest", "--digest-seconds", "3600"]);
                command
            }
            Kind::Shell => shell("while :; do grep -l '^{\"type\":\"handoff\\.' agent-*; sleep 1; done"),
            Kind::Tail => shell("exec tail -n0 -F agent-*"),
            Kind::Inotify => {
                let mut command = Command::new(std::env::current_exe().expect("this bench"));
                command.env(INOTIFY, folder);
                command
            }
        };
        if self == Kind::Polling {
            command.env("CODEX_FILTERS_PORTABLE", "1");
        }
        command
    }
}

/// Files `agent-000000` and so on, and a watcher of them. One more agent shows that the watcher is at work.
pub(crate) struct Wave {
    folder: TempDir,
    pub(crate) child: Child,
    /// The agents whose sentinels were told, and when.
    told: Receiver<(usize, Instant)>,
    /// From the start to the first record, which is of the last agent.
    pub(crate) ready: Duration,
}

impl Wave {
    /// A watcher of so many agents that has looked at all of them.
    pub(crate) fn start(kind: Kind, agents: usize) -> Wave {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut manifest = String::new();
        for agent in 0..=agents {
            fs::write(folder.path().join(name(agent)), EVENTS).expect("a file");
            manifest += &format!("{0}\t3600\t{0}\n", name(agent));
        }
        fs::write(folder.path().join("manifest"), manifest).expect("a file");
        let is_ours = matches!(kind, Kind::WaveWatch | Kind::Polling);
        if is_ours {
            settle(&mut open(folder.path(), agents));
        }
        let started = Instant::now();
        let mut command = kind.command(folder.path());
        command.current_dir(&folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let (send, told) = channel();
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped"));
        std::thread::spawn(move || {
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|count| count > 0) {
                let now = Instant::now();
                let is_right = !is_ours || line.starts_with("{\"type\":\"watcher.sentinel\"");
                if let Some(agent) = agent_in(&line).filter(|_| is_right)
                    && send.send((agent, now)).is_err()
                {
                    return;
                }
                line.clear();
            }
        });
        let mut wave = Wave { folder, child, told, ready: Duration::ZERO };
        let mut last = wave.open(agents);
        while wave.ready.is_zero() {
            if !is_ours {
                settle(&mut last);
            }
            match wave.told.recv_timeout(Duration::from_millis(10)) {
                Ok((agent, at)) if agent == agents => wave.ready = at - started,
                _ => assert!(started.elapsed() < PATIENCE, "{}: not ready", kind.name()),
            }
        }
        wave
    }

    pub(crate) fn open(&self, agent: usize) -> File {
        open(self.folder.path(), agent)
    }

    /// When each of `agents` was told of first.
    pub(crate) fn told(&self, agents: &[usize]) -> Vec<Instant> {
        let mut times = vec![None; agents.len()];
        let mut left = agents.len();
        while left > 0 {
            let (agent, at) = self.told.recv_timeout(PATIENCE).expect("every agent is told of");
            if let Some(place) = agents.iter().position(|&wanted| wanted == agent)
                && times[place].is_none()
            {
                times[place] = Some(at);
                left -= 1;
            }
        }
        times.into_iter().flatten().collect()
    }
}

impl Drop for Wave {
    fn drop(&mut self) {
        // It has ended already, or is of no use any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn name(agent: usize) -> String {
    format!("agent-{agent:06}")
}

fn open(folder: &Path, agent: usize) -> File {
    File::options().append(true).open(folder.join(name(agent))).expect("its file")
}

/// The first agent that a line names.
fn agent_in(line: &str) -> Option<usize> {
    let (_, after) = line.split_once("agent-")?;
    after.get(..6)?.parse().ok()
}

/// Writes a sentinel.
pub(crate) fn settle(file: &mut File) {
    file.write_all(SENTINEL.as_bytes()).expect("writing");
}

/// Prints the name of each file in `folder` that a notice names and that has a sentinel.
pub(crate) fn inotify_loop(folder: &Path) {
    let inotify = Inotify::init(InitFlags::empty()).expect("inotify");
    inotify.add_watch(folder, AddWatchFlags::IN_MODIFY).expect("a watch");
    let mut stdout = std::io::stdout();
    while let Ok(events) = inotify.read_events() {
        for name in events.into_iter().filter_map(|event| event.name) {
            let path: PathBuf = folder.join(&name);
            let text = fs::read(path).unwrap_or_default();
            if text.windows(9).any(|window| window == b"\"handoff.") {
                let line = format!("{}\n", name.display());
                if stdout.write_all(line.as_bytes()).is_err() {
                    return;
                }
            }
        }
    }
}
