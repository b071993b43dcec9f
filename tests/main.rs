//! The tests, by what they are about.

mod fake_codex;
mod harness;
mod harness_itself;
mod launch;
mod loopback;
mod pipeline;
mod readme;
mod sentinel;
mod streams;
mod tee;
