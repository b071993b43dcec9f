//! `usage-diff`: what each run of a thread used.
//!
//! Streams of runs go in, oldest first; out come what each of them used by itself, the sums of their threads, and
//! the sum of all.
#![forbid(unsafe_code)]

mod args;
mod count;
mod names;
mod print;
mod read;
mod table;
mod words;

use std::process::ExitCode;

/// The name in front of each message.
const NAME: &str = "usage-diff";

fn main() -> ExitCode {
    args::parse().map_or_else(|status| status, count::run).into()
}
