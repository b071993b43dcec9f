//! What was typed, made into what is needed. No file is opened here.

use crate::NAME;
use crate::prepare::resume;
use crate::run::supervise::Leftovers;
use clap::{Parser, ValueEnum};
use common::face::exit::{self, Status};
use common::face::printed::Printed;
use common::face::{args, say};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
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

/// What to do.
#[derive(Debug)]
pub enum Job {
    /// Run Codex.
    Run(Config),
    /// See whether it is signed in.
    Verify(Config),
    /// Say what would be run.
    DryRun(Config),
    /// Say nothing more: the launch was refused with this status, and the reason was said.
    Refused(Config, Status),
}

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

/// One supervised `codex exec --json` run: the prompt on stdin, events and one sentinel in the progress file, the
/// answer in the result file or on stdout, and nothing of the run left alive.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_help = exit::help())]
struct Typed {
    /// Model, any value [default: Codex's own]
    #[arg(long, value_name = "M")]
    model: Option<OsString>,
    /// Reasoning effort, any value [default: Codex's own]
    #[arg(long, value_name = "E")]
    effort: Option<String>,
    /// Wall limit, fractions allowed [default: 1800]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::seconds)]
    timeout_seconds: Option<Duration>,
    /// Events and sentinel; - is stdout; without it events are only judged
    #[arg(long, value_name = "P")]
    progress_file: Option<PathBuf>,
    /// The final answer, moved into place when the run completed [default: stdout]
    #[arg(long, value_name = "P")]
    result_file: Option<PathBuf>,
    /// All of Codex's stderr, byte for byte, and what was no event on its stdout
    #[arg(long, value_name = "P")]
    stderr_file: Option<PathBuf>,
    /// The thread id, written when it is known
    #[arg(long, value_name = "P")]
    session_file: Option<PathBuf>,
    /// Prompt from a file; stdin is not read
    #[arg(long, value_name = "F")]
    prompt_file: Option<PathBuf>,
    /// Put this file and a blank line before the prompt
    #[arg(long, value_name = "F")]
    system_file: Option<PathBuf>,
    /// Earlier turns, JSONL of role and text; the prompt is the last user turn
    #[arg(long, value_name = "F")]
    transcript: Option<PathBuf>,
    /// Continue the thread with this id, or this name where Codex knows it
    #[arg(long, value_name = "ID", conflicts_with = "resume_from")]
    resume: Option<String>,
    /// Continue the thread of an earlier progress file
    #[arg(long, value_name = "FILE")]
    resume_from: Option<PathBuf>,
    /// Begin a new thread with the history of the one that has this id, or that an earlier progress file began
    #[arg(long, value_name = "ID|FILE", conflicts_with_all = ["resume", "resume_from"])]
    fork: Option<PathBuf>,
    /// What Codex may do
    #[arg(long, value_enum, default_value = "workspace-write", conflicts_with_all = ["read_only", "bypass"])]
    sandbox: Sandbox,
    /// Short for --sandbox read-only
    #[arg(long, conflicts_with = "bypass")]
    read_only: bool,
    /// No sandbox, no approvals; only in a git worktree unless --skip-git-repo-check
    #[arg(long)]
    bypass: bool,
    /// JSON Schema of the answer
    #[arg(long, value_name = "F")]
    output_schema: Option<PathBuf>,
    /// Directory that Codex works in [default: this one]
    #[arg(long, value_name = "DIR")]
    cd: Option<PathBuf>,
    /// One more directory that may be written
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,
    /// Image that goes with the prompt
    #[arg(long, value_name = "F")]
    image: Vec<PathBuf>,
    /// Setting, passed on
    #[arg(short, value_name = "K=V")]
    c: Vec<OsString>,
    /// Keep no session on disk
    #[arg(long)]
    ephemeral: bool,
    /// Do not read the user's config.toml
    #[arg(long)]
    ignore_user_config: bool,
    /// Do not read rules files; left out where Codex does not know it
    #[arg(long)]
    ignore_rules: bool,
    /// Run outside a git worktree too
    #[arg(long)]
    skip_git_repo_check: bool,
    /// Do not ask `codex login status` first
    #[arg(long)]
    skip_auth_check: bool,
    /// Keep a variable that is removed by default, such as CODEX_API_KEY (--dry-run lists those that are set)
    #[arg(long, value_name = "NAME")]
    keep_env: Vec<OsString>,
    /// What success is: Codex's exit status and its stream, or the stream alone
    #[arg(long, value_enum, default_value = "status")]
    decide: Decide,
    /// From the first signal to KILL, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "5", allow_negative_numbers = true, value_parser = args::seconds_or_zero)]
    kill_grace: Duration,
    /// How long Codex may go on in silence behind its completed turn
    #[arg(long, value_name = "N", default_value = "30", allow_negative_numbers = true, value_parser = args::seconds_or_zero)]
    linger_seconds: Duration,
    /// How long what a completed run leaves has to end by itself, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "2", allow_negative_numbers = true, value_parser = args::seconds_or_zero)]
    leftover_grace: Duration,
    /// Let the processes that a completed run leaves live on
    #[arg(long, conflicts_with = "leftover_grace")]
    keep_leftovers: bool,
    /// Start the progress file anew when it has content
    #[arg(long)]
    force: bool,
    /// Leave a failed sentinel in the progress file when the launch is refused
    #[arg(long, requires = "progress_file")]
    seal_refusal: bool,
    /// See whether Codex is signed in, with one small run of at most 120 s, and say so
    #[arg(long, conflicts_with_all = [
        "dry_run", "resume", "resume_from", "fork", "bypass", "sandbox", "force", "seal_refusal", "decide",
        "progress_file", "result_file", "stderr_file", "session_file", "prompt_file", "system_file", "transcript",
        "output_schema", "add_dir", "image",
    ])]
    verify_sign_in: bool,
    /// Print what would be run as one JSON object, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// The Codex program
    #[arg(long, value_name = "PATH", default_value = "codex")]
    codex: OsString,
    /// More arguments for `codex exec`
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

/// Reads the command line.
pub fn parse() -> Result<Job, Printed> {
    let typed: Typed = args::parse_with_hints(NAME, hint)?;
    let wrong = typed.wrong();
    let (verify, dry) = (typed.verify_sign_in, typed.dry_run);
    let config = typed.config();
    if let Some(message) = wrong {
        say::line(NAME, &format!("usage: {message}"));
        return Ok(Job::Refused(config, Status::USAGE));
    }
    Ok(match (verify, dry) {
        (true, _) => Job::Verify(config),
        (_, true) => Job::DryRun(config),
        _ => Job::Run(config),
    })
}

/// What to write instead of `arg`: a name of Codex's own, or a file that would be the prompt.
fn hint(arg: &str) -> Option<String> {
    let instead = match arg {
        "-m" => "--model",
        "-s" => "--sandbox",
        "-C" => "--cd",
        "-i" => "--image",
        "-o" | "--output-last-message" => "--result-file",
        "-p" | "--profile" => "-- --profile",
        "-h" => "--help",
        "--dangerously-bypass-approvals-and-sandbox" | "--yolo" => "--bypass",
        "--json" => return Some("codex is always started with it".to_owned()),
        word if !word.starts_with('-') => {
            return Some(format!("the prompt is read from stdin, or from --prompt-file {word}"));
        }
        _ => return None,
    };
    Some(format!("did you mean '{instead}'?"))
}

/// Whether `arguments`, which were given after `--`, are a review. It is told in options what to review, and takes no
/// prompt beside them.
fn is_review(arguments: &[OsString]) -> bool {
    arguments.first().is_some_and(|word| word == "review")
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

impl Typed {
    /// What is wrong beyond what the parser sees.
    fn wrong(&self) -> Option<String> {
        if let Some(wrong) = self.resume.as_deref().and_then(wrong_id) {
            return Some(format!("--resume: {wrong}"));
        }
        if is_review(&self.arguments) {
            let files = self.prompt_file.is_some() || self.system_file.is_some() || self.transcript.is_some();
            if files && !self.arguments.iter().any(|word| word == "-") {
                return Some("-- review: takes a prompt only as -- review -".to_owned());
            }
            if self.resume.is_some()
                || self.resume_from.is_some()
                || self.fork.is_some()
                || self.verify_sign_in
            {
                return Some("-- review: begins a thread of its own, and is a run of its own".to_owned());
            }
        }
        if let (Some(path), None) =
            (self.progress_file.as_deref().filter(|path| is_stdout(path)), &self.result_file)
        {
            let path = path.display();
            return Some(format!(
                "--progress-file {path}: stdout takes the events, so --result-file is needed"
            ));
        }
        if let Some(name) = self.keep_env.iter().find(|name| !is_removed(name)) {
            return Some(format!("--keep-env {}: is kept anyway", name.display()));
        }
        let empty = [
            ("--progress-file", &self.progress_file),
            ("--result-file", &self.result_file),
            ("--stderr-file", &self.stderr_file),
            ("--session-file", &self.session_file),
            ("--fork", &self.fork),
        ];
        let is_empty = |path: &Option<PathBuf>| path.as_ref().is_some_and(|path| path.as_os_str().is_empty());
        empty
            .iter()
            .find(|(_, path)| is_empty(path))
            .map(|(option, _)| format!("{option}: the path is empty"))
    }

    fn config(self) -> Config {
        let kept = |name: &&'static str| !self.keep_env.iter().any(|keep| keep == name);
        Config {
            removed_variables: REMOVED_VARIABLES.into_iter().filter(kept).collect(),
            rights: match (self.bypass, self.read_only) {
                (true, _) => Rights::Bypass,
                (_, true) => Rights::Sandbox(Sandbox::ReadOnly),
                _ => Rights::Sandbox(self.sandbox),
            },
            resume: self.resume.map(Resume::Id).or(self.resume_from.map(Resume::From)),
            fork: self.fork.map(|fork| match fork.to_str().and_then(resume::canonical) {
                Some(id) => Resume::Id(id),
                None => Resume::From(fork),
            }),
            extra: Extra {
                output_schema: self.output_schema,
                add_dirs: self.add_dir,
                images: self.image,
                ephemeral: self.ephemeral,
                ignore_user_config: self.ignore_user_config,
                ignore_rules: self.ignore_rules,
            },
            may_leave_out: &["--ignore-rules"],
            prompt: Prompt::Read {
                file: self.prompt_file,
                system: self.system_file,
                transcript: self.transcript,
            },
            seal_refusal: self.seal_refusal,
            outputs: Outputs {
                progress: self.progress_file.map(|path| match path.as_os_str() == "-" {
                    true => Progress::Stdout,
                    false => Progress::File(path),
                }),
                result: self.result_file,
                stderr: self.stderr_file,
                session: self.session_file,
            },
            codex: self.codex,
            model: self.model,
            effort: self.effort,
            directory: self.cd,
            settings: self.c,
            skip_git_repo_check: self.skip_git_repo_check,
            skip_auth_check: self.skip_auth_check,
            arguments: self.arguments,
            force: self.force,
            decide: self.decide,
            time: self.timeout_seconds,
            kill_grace: self.kill_grace,
            linger: self.linger_seconds,
            leftovers: match self.keep_leftovers {
                true => Leftovers::Keep,
                false => Leftovers::Grace(self.leftover_grace),
            },
        }
    }
}

/// What is wrong with `id` as the id of a thread.
pub fn wrong_id(id: &str) -> Option<&'static str> {
    if id.trim().is_empty() {
        return Some("the id is empty");
    }
    // No argument can have one, and Codex would not be started with it.
    if id.contains('\0') {
        return Some("an id has no NUL");
    }
    // It would be taken for an option of `codex exec resume`, such as --last.
    id.starts_with('-').then_some("an id does not begin with -")
}

/// Whether `path` is one of the names of stdout.
fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

fn is_removed(name: &OsStr) -> bool {
    REMOVED_VARIABLES.iter().any(|removed| name == *removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_fit_together() {
        Typed::command().debug_assert();
    }
}
