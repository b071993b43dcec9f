//! `wave-watch`: prints, as JSONL, how each agent of a wave is doing and how it ended.
//!
//! It reads their progress files and prints records: digests of those at work, the sentinel of each that settles, and how many
//! have. No record has a text that an agent wrote.
#![forbid(unsafe_code)]

mod activity;
mod args;
mod listing;
mod manifest;
mod outbox;
mod reader;
mod record;
mod sentinel;
mod table;
mod tally;
mod watch;
mod wave;

use common::face::printed::exit_code;
use std::process::ExitCode;

/// The name in front of each message.
const NAME: &str = "wave-watch";

fn main() -> ExitCode {
    exit_code(args::parse().map(watch::run))
}
