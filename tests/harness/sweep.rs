//! Who is left of a run: the sweep.
//!
//! Each started filter gets a variable with a value of its own. The environment that /proc shows is the one that
//! a process was started with, so all that a filter starts carries the mark, in whatever session and whoever its
//! parent is. What was started with an environment made anew does not; tests of that ask for its process id.

use std::fmt;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::dispositions::default_in_children;
use super::wait::{SOON, wait_until};

/// The mark of one filter and of all that it started.
pub(crate) struct TestId {
    value: String,
}

impl TestId {
    /// The variable.
    pub(crate) const VARIABLE: &str = "CODEX_FILTERS_TEST_ID";

    /// A mark that nobody has. Whoever gets it starts with no signal ignored.
    pub(crate) fn new() -> TestId {
        default_in_children();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        TestId { value: format!("{}-{next}", std::process::id()) }
    }

    /// The variable's value.
    pub(crate) fn value(&self) -> &str {
        &self.value
    }

    /// All living processes with this mark.
    pub(crate) fn processes(&self) -> Vec<Process> {
        with_variable(TestId::VARIABLE, &self.value)
    }

    /// Whether this is a living process with this mark.
    pub(crate) fn is_on(&self, pid: Pid) -> bool {
        has_variable(pid.as_raw(), &format!("{}={}", TestId::VARIABLE, self.value))
    }

    /// Those that are still alive when the others have had `time` to end.
    pub(crate) fn processes_after(&self, time: Duration) -> Vec<Process> {
        let started = Instant::now();
        loop {
            let processes = self.processes();
            if processes.is_empty() || started.elapsed() >= time {
                return processes;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills them all, those too that are started meanwhile.
    pub(crate) fn kill_all(&self) {
        wait_until("all processes of the filter are killed", SOON, || {
            let processes = self.processes();
            for process in &processes {
                // It may have ended by itself.
                let _ = kill(process.pid, Signal::SIGKILL);
            }
            processes.is_empty()
        });
    }
}

/// All living processes that were started with this variable. A zombie has no environment, so it is not one of them.
pub(crate) fn with_variable(name: &str, value: &str) -> Vec<Process> {
    let variable = format!("{name}={value}");
    pids().filter(|pid| has_variable(*pid, &variable)).map(Process::new).collect()
}

/// Whether a living process was started with this variable, a name and a value.
fn has_variable(pid: i32, variable: &str) -> bool {
    // What cannot be read has ended, or belongs to somebody else and is none of ours.
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes())
}

fn pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").expect("/proc").map(|entry| entry.expect("an entry of /proc"));
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Whether there is such a process, alive.
pub(crate) fn is_alive(pid: Pid) -> bool {
    field(pid, "State:").is_some_and(|state| !state.starts_with(['Z', 'X']))
}

/// Whether there is such a process, and a signal has stopped it.
pub(crate) fn is_stopped(pid: Pid) -> bool {
    field(pid, "State:").is_some_and(|state| state.starts_with('T'))
}

/// The name of a process's program. It can be read of those too that let nobody look into them.
pub(crate) fn name(pid: Pid) -> Option<String> {
    field(pid, "Name:")
}

/// Whether a process has a handler for a signal.
pub(crate) fn catches(pid: Pid, signal: Signal) -> bool {
    let caught = field(pid, "SigCgt:").and_then(|mask| u64::from_str_radix(&mask, 16).ok());
    caught.is_some_and(|mask| mask >> (signal as i32 - 1) & 1 == 1)
}

/// The living children of a process.
pub(crate) fn children(parent: Pid) -> Vec<Process> {
    let parent = parent.to_string();
    let is_child = |pid: &i32| field(Pid::from_raw(*pid), "PPid:").is_some_and(|of| of == parent);
    pids().filter(is_child).map(Process::new).filter(|child| is_alive(child.pid)).collect()
}

/// All processes with these words, whoever started them. A zombie has no words.
pub(crate) fn with_words(words: &[&str]) -> Vec<Process> {
    let command = words.join(" ");
    pids().map(Process::new).filter(|process| process.command == command).collect()
}

/// A field of what /proc tells about a process.
fn field(pid: Pid, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
}

/// A process.
pub(crate) struct Process {
    pub(crate) pid: Pid,
    /// The words it was started with, a space between them.
    pub(crate) command: String,
}

impl Process {
    fn new(pid: i32) -> Process {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(command.strip_suffix(b"\0").unwrap_or(&command));
        Process { pid: Pid::from_raw(pid), command: command.replace('\0', " ") }
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pid, self.command)
    }
}
