//! `jsonl-tee`: copies a stream of lines to stdout and to files, whole lines per write.
//!
//! It goes on when a reader leaves, changes no byte, and holds back only a line whose end has not come yet.
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
