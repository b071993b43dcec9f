//! `codex-launch`: one supervised run of `codex exec --json`.
//!
//! A prompt goes in; events land in a progress file that ends in exactly one sentinel, the answer lands in a result
//! file, and nothing of the run is left alive.
#![forbid(unsafe_code)]

mod answer;
mod args;
mod aside;
mod check;
mod command;
mod ending;
mod guardian;
mod launch;
mod left;
mod lost;
mod outputs;
mod patience;
mod pipes;
mod prepare;
mod probe;
mod prompt;
mod report;
mod resume;
mod session;
mod stream;
mod traces;
mod verify;

use std::process::ExitCode;

/// The name in front of each message.
const NAME: &str = "codex-launch";

fn main() -> ExitCode {
    let status = match args::parse() {
        Ok(args::Job::Run(config)) => guardian::guarded(config, launch::run),
        Ok(args::Job::Verify(config)) => guardian::guarded(verify::small(config), verify::run),
        Ok(args::Job::DryRun(config)) => launch::dry_run(config),
        Err(status) => Err(check::Refusal::Said(status)),
    };
    status.unwrap_or_else(|refusal| refusal.say(NAME)).into()
}
