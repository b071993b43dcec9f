//! loopback-model: its scenarios, its answers to plain requests, and that the real Codex understands them.

mod answers;
mod real_codex;
mod scenarios;
