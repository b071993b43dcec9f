//! Reads the command line into the configuration of a launch. No file is opened.

mod checks;
mod config;
mod options;

pub use self::config::*;

use self::options::Options;
use crate::NAME;
use common::face::exit::Status;
use common::face::printed::Printed;
use common::face::{args, say};

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

/// Reads the command line.
pub fn parse() -> Result<Job, Printed> {
    let typed: Options = args::parse_with_hints(NAME, hint)?;
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
