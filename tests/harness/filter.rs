//! A filter that is about to be started.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use escargot::CargoBuild;

use super::ran::Ran;
use super::running::Running;
use super::sweep::TestId;
use super::wait::SOON;

/// Variables of the surroundings that a filter gets. The others stay outside: a key or a CODEX_HOME of whoever
/// runs the tests must not change how they end.
const KEPT: &[&str] = &["PATH", "HOME", "TMPDIR", "LANG", "LLVM_PROFILE_FILE"];

/// How long a filter may take where a test says nothing else: far more than any needs, on any machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The variables of the surroundings that a filter gets, as far as they are set.
pub(crate) fn surroundings() -> impl Iterator<Item = (&'static str, OsString)> {
    KEPT.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)))
}

/// The path of a filter or of a stand-in.
pub(crate) fn binary(name: &str) -> &'static Path {
    match name {
        "codex-launch" => cargo_bin!("codex-launch"),
        "codex-render" => cargo_bin!("codex-render"),
        "jsonl-sentinel" => cargo_bin!("jsonl-sentinel"),
        "jsonl-tee" => cargo_bin!("jsonl-tee"),
        "wave-watch" => cargo_bin!("wave-watch"),
        "usage-diff" => cargo_bin!("usage-diff"),
        "fake-codex" => {
            static BUILT: LazyLock<PathBuf> = LazyLock::new(|| stand_in("fake-codex"));
            &BUILT
        }
        "loopback-model" => {
            static BUILT: LazyLock<PathBuf> = LazyLock::new(|| stand_in("loopback-model"));
            &BUILT
        }
        other => panic!("no binary is called {other:?}"),
    }
}

/// The path of a stand-in, which is built now unless it is up to date: Cargo builds the binaries of other packages for
/// no test.
fn stand_in(name: &str) -> PathBuf {
    let package = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/Cargo.toml");
    let build = CargoBuild::new().manifest_path(package).bin(name).arg("--locked").current_release();
    let built = build.run().unwrap_or_else(|error| panic!("building {name}: {error}"));
    built.path().to_owned()
}

/// A filter of this package, without arguments; its stdin is empty. It leaves no process.
pub(crate) fn filter(name: &str) -> Filter {
    Filter::of(binary(name), Duration::ZERO)
}

/// Any other program, started and watched as a filter is. None of them promises that what it started has ended
/// before it does (Codex 0.98.0 can leave a `git rev-parse` behind for some ms); it only has to end soon.
pub(crate) fn program(path: &Path) -> Filter {
    Filter::of(path, SOON)
}

/// Collects how a filter is to be started; [`Filter::run`] or [`Filter::start`] does it.
pub(crate) struct Filter {
    words: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    dir: Option<PathBuf>,
    stdin: Input,
    stdout: Option<Stdio>,
    stderr: Option<Stdio>,
    limit: Duration,
    linger: Duration,
}

enum Input {
    Bytes(Vec<u8>),
    From(Stdio),
}

impl Filter {
    fn of(path: &Path, linger: Duration) -> Filter {
        Filter {
            words: vec![path.into()],
            env: vec![],
            dir: None,
            stdin: Input::From(Stdio::null()),
            stdout: None,
            stderr: None,
            limit: LIMIT,
            linger,
        }
    }

    /// One more argument.
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Filter {
        self.words.push(arg.as_ref().into());
        self
    }

    /// More arguments.
    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Filter {
        self.words.extend(args.into_iter().map(|arg| arg.as_ref().into()));
        self
    }

    /// Puts words in front, as in `nohup FILTER ARGS` or `sh -c 'exec "$0" "$@" <&-' FILTER ARGS`.
    pub(crate) fn under(mut self, words: &[&str]) -> Filter {
        self.words.splice(0..0, words.iter().map(OsString::from));
        self
    }

    /// A variable of its environment.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Filter {
        self.env.push((name.into(), value.as_ref().into()));
        self
    }

    /// Its working directory.
    pub(crate) fn dir(mut self, dir: impl Into<PathBuf>) -> Filter {
        self.dir = Some(dir.into());
        self
    }

    /// What it reads: these bytes, then the end, through a pipe.
    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Filter {
        self.stdin = Input::Bytes(bytes.into());
        self
    }

    /// What it reads: a file.
    pub(crate) fn stdin_file(self, file: impl AsRef<Path>) -> Filter {
        let file = file.as_ref();
        self.stdin_from(File::open(file).unwrap_or_else(|error| panic!("{}: {error}", file.display())))
    }

    /// What it reads: any descriptor.
    pub(crate) fn stdin_from(mut self, stdin: impl Into<Stdio>) -> Filter {
        self.stdin = Input::From(stdin.into());
        self
    }

    /// Where its stdout goes, instead of to the test.
    pub(crate) fn stdout_to(mut self, stdout: impl Into<Stdio>) -> Filter {
        self.stdout = Some(stdout.into());
        self
    }

    /// Where its stderr goes, instead of to the test.
    pub(crate) fn stderr_to(mut self, stderr: impl Into<Stdio>) -> Filter {
        self.stderr = Some(stderr.into());
        self
    }

    /// After how long it and all that it started are killed, and the test fails.
    pub(crate) fn limit(mut self, limit: Duration) -> Filter {
        self.limit = limit;
        self
    }

    /// How long after its end what it started may go on, where that is not to have ended before it: its other half has
    /// to finish when it is killed.
    pub(crate) fn linger(mut self, linger: Duration) -> Filter {
        self.linger = linger;
        self
    }

    /// Starts it and waits for its end.
    #[track_caller]
    pub(crate) fn run(self) -> Ran {
        self.start().end()
    }

    /// Starts it.
    #[track_caller]
    pub(crate) fn start(self) -> Running {
        let id = TestId::new();
        let mut command = Command::new(&self.words[0]);
        command
            .args(&self.words[1..])
            .env_clear()
            .envs(surroundings())
            .env(TestId::VARIABLE, id.value())
            .envs(self.env)
            // A filter that signals its own group by mistake must not hit the test runner.
            .process_group(0)
            .stdout(self.stdout.unwrap_or_else(Stdio::piped))
            .stderr(self.stderr.unwrap_or_else(Stdio::piped));
        if let Some(dir) = self.dir {
            command.current_dir(dir);
        }
        let bytes = match self.stdin {
            Input::From(stdin) => {
                command.stdin(stdin);
                None
            }
            Input::Bytes(bytes) => {
                command.stdin(Stdio::piped());
                Some(bytes)
            }
        };
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", self.words));
        if let (Some(bytes), Some(mut stdin)) = (bytes, child.stdin.take()) {
            // It may leave without reading all; then there is nothing more to feed.
            std::thread::spawn(move || drop(stdin.write_all(&bytes)));
        }
        let is_of_two = self.words.iter().any(|word| Path::new(word) == binary("codex-launch"));
        Running::new(child, id, self.limit, self.linger, is_of_two)
    }
}
