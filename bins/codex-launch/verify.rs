//! `--verify-sign-in`: finds out by one small run whether Codex is signed in.

use crate::NAME;
use crate::finish::answer::Answer;
use crate::finish::ending::Ending;
use crate::finish::temp_files::TempFiles;
use crate::guardian::RunnerEnd;
use crate::launch::{self, To};
use crate::prepare::args::{Config, Extra, Outputs, Prompt, Rights, Sandbox};
use crate::prepare::check::{Refusal, refuse};
use common::edge::output::Output;
use common::face::exit::Status;
use common::face::safe;
use common::face::say::{self, why};
use common::flow::cause::Cause;
use std::time::Duration;

/// The prompt of that run.
const PROMPT: &str = "Reply with the single word: ok";

/// Time limit of that run when no other one is given. Without a network newer versions wait for ever.
const LIMIT: Duration = Duration::from_secs(120);

/// Runs it and prints the result. The status is 0 when an answer came, 69 when Codex is not signed in, else that of a run.
pub fn run(config: Config, temp_files: &TempFiles, link: RunnerEnd) -> Result<Status, Refusal> {
    let limit = config.limit().as_secs_f64();
    say::line(NAME, &format!("asking codex for one word, for at most {limit}s"));
    let outcome = launch::supervised(config, To::Caller, temp_files, link)?;
    let status = match &outcome.ending {
        Ending::Failed(failure) if failure.cause == Some(Cause::Auth) => Status::UNAVAILABLE,
        ending => ending.status(),
    };
    let line = match (&outcome.answer, status) {
        (Answer::Text(text), Status::DONE) => {
            let text = String::from_utf8_lossy(text);
            format!(
                "signed in: codex answered \"{}\" in {}s",
                safe::line(text.trim()),
                outcome.elapsed.as_secs()
            )
        }
        (_, Status::UNAVAILABLE) => "not signed in: the key or login was refused".to_owned(),
        _ => "cannot tell: the run failed".to_owned(),
    };
    let written = Output::stdout().and_then(|mut stdout| stdout.bytes(format!("{line}\n").as_bytes()));
    written.map_err(|error| refuse(Status::IO, "stdout", why(&error)))?;
    Ok(status)
}

/// The configuration of that run: nothing may be written, and the user's config, the rules and the repository are ignored.
/// Options that would change the prompt or the outputs were refused before.
pub fn small(config: Config) -> Config {
    let ephemeral = config.extra.ephemeral;
    Config {
        rights: Rights::Sandbox(Sandbox::ReadOnly),
        extra: Extra { ignore_user_config: true, ignore_rules: true, ephemeral, ..Extra::default() },
        may_leave_out: &["--ignore-user-config", "--ignore-rules"],
        skip_git_repo_check: true,
        prompt: Prompt::Given(PROMPT),
        outputs: Outputs::default(),
        time: config.time.or(Some(LIMIT)),
        ..config
    }
}
