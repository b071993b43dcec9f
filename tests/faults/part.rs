//! One process that a case has started itself.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use crate::harness::filter::surroundings;
use crate::harness::sweep::TestId;

/// How long any of them may take. Beyond that it hangs.
const LIMIT: Duration = Duration::from_secs(100);

/// A command under construction: words may still be put in front.
pub(super) struct Words {
    words: Vec<OsString>,
    env: Vec<(String, OsString)>,
}

impl Words {
    pub(super) fn of(program: impl Into<OsString>) -> Words {
        Words { words: vec![program.into()], env: vec![] }
    }

    pub(super) fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Words {
        self.words.extend(args.into_iter().map(Into::into));
        self
    }

    pub(super) fn env(mut self, name: &str, value: impl Into<OsString>) -> Words {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Puts words in front, as in `nice COMMAND`.
    pub(super) fn under<A: Into<OsString>>(mut self, words: impl IntoIterator<Item = A>) -> Words {
        self.words.splice(0..0, words.into_iter().map(Into::into));
        self
    }

    /// The command, with nothing of the surroundings that could change what comes of it.
    pub(super) fn command(self, mark: &TestId, dir: &Path) -> Command {
        let mut command = Command::new(&self.words[0]);
        command
            .args(&self.words[1..])
            .env_clear()
            .envs(surroundings())
            .envs(self.env)
            .env(TestId::VARIABLE, mark.value())
            .current_dir(dir)
            .process_group(0)
            .stdin(Stdio::null());
        command
    }
}

/// A started process; killed when this value goes, unless it has ended.
pub(super) struct Part {
    child: Child,
    status: Option<i32>,
    started: Instant,
}

impl Part {
    pub(super) fn start(mut command: Command) -> Part {
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Part { child, status: None, started: Instant::now() }
    }

    pub(super) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"))
    }

    /// Its status as a shell sees it, once it has ended.
    pub(super) fn status(&mut self) -> Option<i32> {
        if self.status.is_none() {
            let ended = self.child.try_wait().expect("waiting for a process");
            self.status =
                ended.and_then(|ended| ended.code().or_else(|| ended.signal().map(|signal| 128 + signal)));
        }
        self.status
    }

    /// Waits for its end; `None` when it hangs.
    pub(super) fn end(&mut self) -> Option<i32> {
        while self.status().is_none() && self.started.elapsed() < LIMIT {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.status
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if self.status().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
