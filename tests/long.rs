//! The tests that take minutes: `cargo test --test long`. `scripts/faults` and `scripts/soak` run them at any length.
#![allow(clippy::print_stderr, clippy::print_stdout)]

mod faults;
mod harness;
mod soak;
