//! The configuration of one launch, and the types of its parts.

use crate::run::supervise::Leftovers;
use clap::ValueEnum;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Variables that Codex does not see unless they are kept (measured on 0.98.0, 0.156.1 and 0.171.0).
///
/// The first three are keys: `CODEX_API_KEY` and, in newer versions, `CODEX_ACCESS_TOKEN` are used instead of a stored
/// login, and every command of the model can read all three. `OPENAI_BASE_URL` sends prompts to another server in
/// 0.98.0. An outer Codex leaves the last three to the commands that it runs.
pub const REMOVED_VARIABLES: [&str; 7] = [
    "CODEX_API_KEY",
    "CODEX_ACCESS_TOKEN",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "CODEX_THREAD_ID",
    "CODEX_SESSION_ID",
    "CODEX_TOOL_CALL_ID",
];

/// The variables that sign Codex in by themselves, without a stored login.
pub const SIGN_IN_VARIABLES: [&str; 2] = ["CODEX_API_KEY", "CODEX_ACCESS_TOKEN"];

/// The variables that hold a key, which is used instead of a login when it is kept.
pub const KEY_VARIABLES: [&str; 2] = ["CODEX_API_KEY", "OPENAI_API_KEY"];

/// One launch.
#[derive(Debug, Clone)]
pub struct Config {
    /// The program.
    pub codex: OsString,
    /// `-m`
    pub model: Option<OsString>,
    /// `model_reasoning_effort`
    pub effort: Option<String>,
    /// What Codex may do.
    pub rights: Rights,
    /// The directory it works in; the present one when not given.
    pub directory: Option<PathBuf>,
    /// The thread to continue.
    pub resume: Option<Resume>,
    /// The thread to fork.
    pub fork: Option<Resume>,
    /// Options that not every Codex has.
    pub extra: Extra,
    /// Which of them are left out, rather than refused, where Codex does not list them.
    pub may_leave_out: &'static [&'static str],
    /// `-c` options, in order.
    pub settings: Vec<OsString>,
    /// Whether the directory need not be in a git worktree.
    pub skip_git_repo_check: bool,
    /// Whether to go without asking `codex login status`.
    pub skip_auth_check: bool,
    /// More arguments for `codex exec`.
    pub arguments: Vec<OsString>,
    /// Where the prompt comes from.
    pub prompt: Prompt,
    /// Where everything goes.
    pub outputs: Outputs,
    /// Whether a progress file with content is started anew.
    pub force: bool,
    /// Whether a refused launch leaves a sentinel in the progress file.
    pub seal_refusal: bool,
    /// What success is.
    pub decide: Decide,
    /// The wall limit; nothing when none was asked for.
    pub time: Option<Duration>,
    /// From the first signal to KILL.
    pub kill_grace: Duration,
    /// How long nothing may come of a Codex that has completed its turn.
    pub linger: Duration,
    /// What becomes of the processes that a completed run leaves.
    pub leftovers: Leftovers,
    /// Variables that Codex does not see.
    pub removed_variables: Vec<&'static str>,
}

/// What Codex may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// A sandbox, and no question ever.
    Sandbox(Sandbox),
    /// No sandbox and no question.
    Bypass,
}

/// The sandboxes of Codex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sandbox {
    /// Nothing may be written.
    ReadOnly,
    /// The working directory may be written.
    WorkspaceWrite,
    /// Everything may be done.
    DangerFullAccess,
}

/// What success is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Decide {
    /// Codex's exit status 0, a completed turn and an answer.
    Status,
    /// An answer in the stream and no failed turn as its last word.
    Stream,
}

/// The thread to continue.
#[derive(Debug, Clone)]
pub enum Resume {
    /// This one.
    Id(String),
    /// The one that this earlier progress file began.
    From(PathBuf),
}

/// Options that are looked up in `codex exec --help` before they are passed on.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    pub output_schema: Option<PathBuf>,
    pub add_dirs: Vec<PathBuf>,
    pub images: Vec<PathBuf>,
    pub ephemeral: bool,
    pub ignore_user_config: bool,
    pub ignore_rules: bool,
}

/// Where the prompt comes from.
#[derive(Debug, Clone)]
pub enum Prompt {
    /// This text.
    Given(&'static str),
    /// It is read.
    Read {
        /// What the user says last; standard input when not given.
        file: Option<PathBuf>,
        /// What stands before all else.
        system: Option<PathBuf>,
        /// The turns before the last one.
        transcript: Option<PathBuf>,
    },
}

/// Where everything goes.
#[derive(Debug, Clone, Default)]
pub struct Outputs {
    pub progress: Option<Progress>,
    pub result: Option<PathBuf>,
    pub stderr: Option<PathBuf>,
    pub session: Option<PathBuf>,
}

/// Where events and sentinel go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    Stdout,
    File(PathBuf),
}

/// The wall limit of a run that asks for none.
const LIMIT: Duration = Duration::from_secs(1800);

impl Config {
    /// The wall limit of the run.
    pub fn limit(&self) -> Duration {
        self.time.unwrap_or(LIMIT)
    }

    /// Whether the run is `codex exec review`.
    pub fn is_review(&self) -> bool {
        is_review(&self.arguments)
    }

    /// Whether Codex is told to read a prompt.
    pub fn has_prompt(&self) -> bool {
        !self.is_review() || self.arguments.iter().any(|word| word == "-")
    }
}

/// Whether `arguments`, which were given after `--`, are a review. It is told in options what to review, and takes no
/// prompt beside them.
pub(super) fn is_review(arguments: &[OsString]) -> bool {
    arguments.first().is_some_and(|word| word == "review")
}
