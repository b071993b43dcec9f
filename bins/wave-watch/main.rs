//! `wave-watch`: tells, as JSONL, how a wave of agents is doing and how each of them ended.
//!
//! Progress files go in, records come out: who is at work, who has settled and how, and when the wave is over. What
//! the agents say stays in their files.
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
