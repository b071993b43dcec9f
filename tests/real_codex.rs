//! The tests on the real Codex CLI: `cargo test --test real-codex`. `scripts/fetch-codex` gets each version by npm, once.
#![allow(clippy::print_stderr, clippy::print_stdout)]

#[path = "handoff/real_codex.rs"]
mod handoff;
mod harness;
#[path = "launch/real_codex/mod.rs"]
mod launch;
#[path = "loopback/real_codex.rs"]
mod loopback;
#[path = "render/real_codex.rs"]
mod render;
#[path = "usage/real_codex.rs"]
mod usage;
#[path = "wave/real_codex.rs"]
mod wave;
