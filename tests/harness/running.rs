//! A filter that runs.

use std::io::Read;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::private;
use super::ran::{Ran, excerpt};
use super::sweep::{TestId, children, name};
use super::wait::{SOON, wait_until};

/// How often is looked whether it has ended.
const STEP: Duration = Duration::from_millis(2);

/// How long after its end its pipes may stay open. Whoever held them was swept away by then.
const PIPES: Duration = Duration::from_secs(10);

/// A started filter. It has to be waited for with [`Running::end`]; dropped before that, as when an assertion
/// fails, it is killed with all that it started.
pub(crate) struct Running {
    child: Child,
    id: TestId,
    stdout: Gatherer,
    stderr: Gatherer,
    started: Instant,
    limit: Duration,
    /// How long after its end what it started may live on.
    linger: Duration,
    /// The highest VmHWM seen so far.
    peak_kib: u64,
    /// Whether it is the launcher, which consists of two processes.
    is_of_two: bool,
    /// The one that does the work, when it was seen.
    runner: Option<Pid>,
    waited_for: bool,
}

impl Running {
    pub(super) fn new(
        mut child: Child,
        id: TestId,
        limit: Duration,
        linger: Duration,
        is_of_two: bool,
    ) -> Running {
        let stdout = Gatherer::new(child.stdout.take());
        let stderr = Gatherer::new(child.stderr.take());
        let started = Instant::now();
        Running {
            child,
            id,
            stdout,
            stderr,
            started,
            limit,
            linger,
            peak_kib: 0,
            is_of_two,
            runner: None,
            waited_for: false,
        }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"))
    }

    /// The process that does the work where a filter consists of two, once it is there.
    #[track_caller]
    pub(crate) fn runner(&self) -> Pid {
        let mut found = None;
        wait_until("the filter has its second process", SOON, || {
            found = self.runner_now();
            found.is_some()
        });
        found.expect("a process")
    }

    fn runner_now(&self) -> Option<Pid> {
        let own = name(self.pid())?;
        children(self.pid()).into_iter().map(|child| child.pid).find(|pid| name(*pid).as_ref() == Some(&own))
    }

    /// Sends it a signal, to it alone.
    pub(crate) fn signal(&self, signal: Signal) {
        // It is not reaped before `end`, so the id is still its own.
        kill(self.pid(), signal).expect("signalling a filter");
    }

    /// What it printed so far.
    pub(crate) fn stdout(&self) -> Vec<u8> {
        self.stdout.so_far()
    }

    /// What it said so far.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr.so_far()).into_owned()
    }

    /// Waits for its end, and asserts that it left no process.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ran {
        let status = self.wait();
        let elapsed = self.started.elapsed();
        let leftovers = self.id.processes_after(self.linger);
        self.id.kill_all();
        self.waited_for = true;
        wait_until("the pipes of the filter are closed", PIPES, || {
            self.stdout.has_ended() && self.stderr.has_ended()
        });
        let (stdout, stderr) = (self.stdout.so_far(), self.stderr.so_far());
        let ran = Ran { status, stdout, stderr, elapsed, peak_kib: self.peak_kib };
        private::assert_kept(&ran);
        assert!(leftovers.is_empty(), "left behind: {leftovers:#?}\n{ran}");
        ran
    }

    /// Where a filter consists of two processes, the one that does the work counts.
    fn look_at_memory(&mut self) {
        if self.runner.is_none() && self.is_of_two {
            self.runner = self.runner_now();
        }
        let pid = self.runner.unwrap_or_else(|| self.pid());
        self.peak_kib = self.peak_kib.max(peak_kib(pid));
    }

    /// Kills what a filter has left that was killed itself, where that is no fault.
    pub(crate) fn abandon(mut self) {
        self.waited_for = true;
        self.id.kill_all();
        self.child.wait().expect("waiting for a filter");
    }

    #[track_caller]
    fn wait(&mut self) -> ExitStatus {
        loop {
            self.look_at_memory();
            if let Some(status) = self.child.try_wait().expect("waiting for a filter") {
                return status;
            }
            if self.started.elapsed() > self.limit {
                let processes = self.id.processes();
                panic!(
                    "not ended within {:?}; killed: {processes:#?}\nstdout: {}\nstderr: {}",
                    self.limit,
                    excerpt(&self.stdout.so_far()),
                    excerpt(&self.stderr.so_far())
                );
            }
            std::thread::sleep(STEP);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.waited_for {
            // After a wrapper or a change of its environment the filter itself may not be among them.
            let _ = self.child.kill();
            self.id.kill_all();
            let _ = self.child.wait();
            assert!(std::thread::panicking(), "a filter was started and not waited for");
        }
    }
}

/// The peak of a process's resident memory, in KiB; 0 when it has ended or is not yet what it was started to be.
///
/// It is VmHWM of the program that runs now. The `ru_maxrss` of wait4 would have the last word, but is no use: it
/// counts the memory that the process had before its exec, which is that of the test runner, and that of the
/// children it waited for. VmHWM is gone with the process, so what it took in its last [`STEP`] can be missed.
fn peak_kib(pid: Pid) -> u64 {
    // A spawn returns a moment before the memory is the program's own; until then it is that of the test runner.
    match std::fs::read_link(format!("/proc/{pid}/exe")) {
        Ok(program) if program != std::env::current_exe().expect("the test runner") => {}
        // One that lets nobody look into it is what it was started to be.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {}
        _ => return 0,
    }
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    field.trim().trim_end_matches(" kB").parse().expect("VmHWM in kB")
}

/// Reads a pipe into memory, in a thread.
struct Gatherer {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Gatherer {
    fn new(pipe: Option<impl Read + Send + 'static>) -> Gatherer {
        let bytes = Arc::new(Mutex::new(vec![]));
        let kept = Arc::clone(&bytes);
        let thread = pipe.map(|mut pipe| {
            std::thread::spawn(move || {
                let mut chunk = vec![0; 65536];
                loop {
                    match pipe.read(&mut chunk).expect("reading from a filter") {
                        0 => return,
                        length => kept.lock().expect("the gathered").extend_from_slice(&chunk[..length]),
                    }
                }
            })
        });
        Gatherer { bytes, thread }
    }

    fn so_far(&self) -> Vec<u8> {
        self.bytes.lock().expect("the gathered").clone()
    }

    fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}
