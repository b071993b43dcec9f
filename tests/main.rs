//! The tests of every day, by what they are about: `cargo test`. They need no network, no npm and no account.
#![allow(clippy::print_stderr, clippy::print_stdout)]

mod fake_codex;
mod handoff;
mod harness;
mod harness_itself;
mod house;
mod launch;
mod loopback;
mod pipeline;
mod readme;
mod render;
mod sentinel;
mod streams;
mod tee;
mod terminal;
mod usage;
mod wave;
