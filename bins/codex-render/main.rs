//! `codex-render`: a run as people read it.
//!
//! [`read`] reads the events of a stream. [`render`] turns each into a line or a block of text on a [`page`]; [`answer`]
//! prints the final answer alone.
#![forbid(unsafe_code)]

mod answer;
mod args;
mod failure;
mod items;
mod page;
mod read;
mod render;

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
