//! `codex-render`: what a run says, for people.
//!
//! The events of a stream go in; a line or a block of text for each comes out as it arrives, harmless for a terminal.
#![forbid(unsafe_code)]

mod answer;
mod args;
mod failure;
mod page;
mod read;
mod render;
mod shown;

use common::face::printed::exit_code;
use std::process::ExitCode;

/// The name in front of each message.
const NAME: &str = "codex-render";

fn main() -> ExitCode {
    exit_code(args::parse().and_then(|config| match config.what {
        args::What::Events => render::run(&config),
        args::What::Answer => answer::run(&config),
    }))
}
