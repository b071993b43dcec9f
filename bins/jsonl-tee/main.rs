//! `jsonl-tee`: copies a stream of lines to stdout and to files, whole lines per write.
//!
//! It outlives its readers, passes on every byte as it came, and holds nothing back but a line whose end is not
//! there yet.
#![forbid(unsafe_code)]

mod args;
mod backlog;
mod copy;
mod fanout;
mod outputs;
mod pipeline;
mod stamp;

use common::face::printed::exit_code;
use std::process::ExitCode;

/// The name in front of each message.
const NAME: &str = "jsonl-tee";

fn main() -> ExitCode {
    exit_code(args::parse().map(copy::run))
}
