//! The tests, by what they are about.

mod fake_codex;
mod faults;
mod handoff;
mod harness;
mod harness_itself;
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
