//! `jsonl-sentinel`: writes, waits for and checks the sentinel, the line that says that a run is over.
#![forbid(unsafe_code)]

mod args;
mod check;
mod print;
mod seal;
mod stream_reader;
mod wait;

use args::Job;
use common::face::printed::exit_code;
use std::process::ExitCode;

/// The name in front of each message.
const NAME: &str = "jsonl-sentinel";

fn main() -> ExitCode {
    exit_code(args::parse().map(|job| match job {
        Job::Seal => seal::run(),
        Job::Wait(config) => wait::run(config),
        Job::Check(files) => check::run(&files),
    }))
}
