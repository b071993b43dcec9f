//! `codex-launch`: one supervised run of `codex exec --json`.
//!
//! A prompt goes in; events land in a progress file that ends in exactly one sentinel, the answer lands in a result
//! file, and nothing of the run is left alive.
#![forbid(unsafe_code)]

mod dry_run;
mod files;
mod finish;
mod guardian;
mod launch;
mod launcher;
mod prepare;
mod run;
mod verify;

use crate::finish::refusal_seal;
use crate::prepare::{args, check};
use common::face::exit::Status;
use std::process::ExitCode;

/// The name in front of each message.
const NAME: &str = "codex-launch";

fn main() -> ExitCode {
    let status = match args::parse() {
        Ok(args::Job::Run(config)) => run(config),
        Ok(args::Job::Verify(config)) => guardian::guarded(verify::small(config), verify::run),
        Ok(args::Job::DryRun(config)) => {
            // It makes no output, and does not check whether it could.
            guardian::guarded(args::Config { outputs: args::Outputs::default(), ..config }, dry_run::run)
        }
        Ok(args::Job::Refused(config, status)) => {
            refusal_seal::Seal::of(&config).into_iter().for_each(|seal| seal.put(status));
            Ok(status)
        }
        Err(printed) => Ok(printed.status()),
    };
    status.unwrap_or_else(|refusal| refusal.say(NAME)).into()
}

/// Runs Codex. A launch that is refused, in whichever process, leaves a sentinel where that was asked for.
fn run(config: args::Config) -> Result<Status, check::Refusal> {
    let asked = config.seal_refusal.then(|| config.clone());
    guardian::guarded(config, launch::run).map_err(|refusal| {
        let check::Refusal::Because(status, _) = &refusal else { return refusal };
        let status = *status;
        let said = check::Refusal::Said(refusal.say(NAME));
        asked.as_ref().and_then(refusal_seal::Seal::of).into_iter().for_each(|seal| seal.put(status));
        said
    })
}
