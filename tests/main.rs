//! The tests, by what they are about.
#![allow(clippy::print_stderr, clippy::print_stdout)]

mod fake_codex;
mod faults;
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
mod soak;
mod streams;
mod tee;
mod terminal;
mod usage;
mod wave;
