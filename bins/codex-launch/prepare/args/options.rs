//! The command line as it is typed, and the configuration that it becomes.

use super::config::{
    Config, Decide, Extra, Outputs, Progress, Prompt, REMOVED_VARIABLES, Resume, Rights, Sandbox,
};
use crate::NAME;
use crate::prepare::thread_id;
use crate::run::supervise::Leftovers;
use clap::Parser;
use common::face::args;
use common::face::exit;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// One supervised `codex exec --json` run: the prompt on stdin, events and one sentinel in the progress file, the
/// answer in the result file or on stdout, and nothing of the run left alive.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_help = exit::help())]
pub(super) struct Options {
    /// Model, any value [default: Codex's own]
    #[arg(long, value_name = "M")]
    pub(super) model: Option<OsString>,
    /// Reasoning effort, any value [default: Codex's own]
    #[arg(long, value_name = "E")]
    pub(super) effort: Option<String>,
    /// Wall limit, fractions allowed [default: 1800]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = args::seconds)]
    pub(super) timeout_seconds: Option<Duration>,
    /// Events and sentinel; - is stdout; without it events are only judged
    #[arg(long, value_name = "P")]
    pub(super) progress_file: Option<PathBuf>,
    /// The final answer, moved into place when the run completed [default: stdout]
    #[arg(long, value_name = "P")]
    pub(super) result_file: Option<PathBuf>,
    /// All of Codex's stderr, byte for byte, and what was no event on its stdout
    #[arg(long, value_name = "P")]
    pub(super) stderr_file: Option<PathBuf>,
    /// The thread id, written when it is known
    #[arg(long, value_name = "P")]
    pub(super) session_file: Option<PathBuf>,
    /// Prompt from a file; stdin is not read
    #[arg(long, value_name = "F")]
    pub(super) prompt_file: Option<PathBuf>,
    /// Put this file and a blank line before the prompt
    #[arg(long, value_name = "F")]
    pub(super) system_file: Option<PathBuf>,
    /// Earlier turns, JSONL of role and text; the prompt is the last user turn
    #[arg(long, value_name = "F")]
    pub(super) transcript: Option<PathBuf>,
    /// Continue the thread with this id, or this name where Codex knows it
    #[arg(long, value_name = "ID", conflicts_with = "resume_from")]
    pub(super) resume: Option<String>,
    /// Continue the thread of an earlier progress file
    #[arg(long, value_name = "FILE")]
    pub(super) resume_from: Option<PathBuf>,
    /// Begin a new thread with the history of the one that has this id, or that an earlier progress file began
    #[arg(long, value_name = "ID|FILE", conflicts_with_all = ["resume", "resume_from"])]
    pub(super) fork: Option<PathBuf>,
    /// What Codex may do
    #[arg(long, value_enum, default_value = "workspace-write", conflicts_with_all = ["read_only", "bypass"])]
    pub(super) sandbox: Sandbox,
    /// Short for --sandbox read-only
    #[arg(long, conflicts_with = "bypass")]
    pub(super) read_only: bool,
    /// No sandbox, no approvals; only in a git worktree unless --skip-git-repo-check
    #[arg(long)]
    pub(super) bypass: bool,
    /// JSON Schema of the answer
    #[arg(long, value_name = "F")]
    pub(super) output_schema: Option<PathBuf>,
    /// Directory that Codex works in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub(super) cd: Option<PathBuf>,
    /// One more directory that may be written
    #[arg(long, value_name = "DIR")]
    pub(super) add_dir: Vec<PathBuf>,
    /// Image that goes with the prompt
    #[arg(long, value_name = "F")]
    pub(super) image: Vec<PathBuf>,
    /// Setting, passed on
    #[arg(short, value_name = "K=V")]
    pub(super) c: Vec<OsString>,
    /// Keep no session on disk
    #[arg(long)]
    pub(super) ephemeral: bool,
    /// Do not read the user's config.toml
    #[arg(long)]
    pub(super) ignore_user_config: bool,
    /// Do not read rules files; left out where Codex does not know it
    #[arg(long)]
    pub(super) ignore_rules: bool,
    /// Run outside a git worktree too
    #[arg(long)]
    pub(super) skip_git_repo_check: bool,
    /// Do not ask `codex login status` first
    #[arg(long)]
    pub(super) skip_auth_check: bool,
    /// Keep a variable that is removed by default, such as CODEX_API_KEY (--dry-run lists those that are set)
    #[arg(long, value_name = "NAME")]
    pub(super) keep_env: Vec<OsString>,
    /// What success is: Codex's exit status and its stream, or the stream alone
    #[arg(long, value_enum, default_value = "status")]
    pub(super) decide: Decide,
    /// From the first signal to KILL, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "5", allow_negative_numbers = true, value_parser = args::seconds_or_zero)]
    pub(super) kill_grace: Duration,
    /// How long Codex may go on in silence behind its completed turn
    #[arg(long, value_name = "N", default_value = "30", allow_negative_numbers = true, value_parser = args::seconds_or_zero)]
    pub(super) linger_seconds: Duration,
    /// How long what a completed run leaves has to end by itself, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "2", allow_negative_numbers = true, value_parser = args::seconds_or_zero)]
    pub(super) leftover_grace: Duration,
    /// Let the processes that a completed run leaves live on
    #[arg(long, conflicts_with = "leftover_grace")]
    pub(super) keep_leftovers: bool,
    /// Start the progress file anew when it has content
    #[arg(long)]
    pub(super) force: bool,
    /// Leave a failed sentinel in the progress file when the launch is refused
    #[arg(long, requires = "progress_file")]
    pub(super) seal_refusal: bool,
    /// See whether Codex is signed in, with one small run of at most 120 s, and say so
    #[arg(long, conflicts_with_all = [
        "dry_run", "resume", "resume_from", "fork", "bypass", "sandbox", "force", "seal_refusal", "decide",
        "progress_file", "result_file", "stderr_file", "session_file", "prompt_file", "system_file", "transcript",
        "output_schema", "add_dir", "image",
    ])]
    pub(super) verify_sign_in: bool,
    /// Print what would be run as one JSON object, and run nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// The Codex program
    #[arg(long, value_name = "PATH", default_value = "codex")]
    pub(super) codex: OsString,
    /// More arguments for `codex exec`
    #[arg(last = true, value_name = "ARGS")]
    pub(super) arguments: Vec<OsString>,
}

impl Options {
    /// The configuration that the options ask for. Nothing is checked.
    pub(super) fn config(self) -> Config {
        let kept = |name: &&'static str| !self.keep_env.iter().any(|keep| keep == name);
        Config {
            removed_variables: REMOVED_VARIABLES.into_iter().filter(kept).collect(),
            rights: match (self.bypass, self.read_only) {
                (true, _) => Rights::Bypass,
                (_, true) => Rights::Sandbox(Sandbox::ReadOnly),
                _ => Rights::Sandbox(self.sandbox),
            },
            resume: self.resume.map(Resume::Id).or(self.resume_from.map(Resume::From)),
            fork: self.fork.map(|fork| match fork.to_str().and_then(thread_id::canonical) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_fit_together() {
        Options::command().debug_assert();
    }
}
