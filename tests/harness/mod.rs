//! The words that tests speak.
#![allow(dead_code, unused_imports, unused_macros, reason = "three test targets share these; none uses all")]

pub(crate) mod codex;
pub(crate) mod dispositions;
pub(crate) mod filter;
pub(crate) mod handoff;
pub(crate) mod mounts;
pub(crate) mod pipes;
pub(crate) mod private;
pub(crate) mod progress;
pub(crate) mod ran;
pub(crate) mod running;
pub(crate) mod scratch;
pub(crate) mod script;
pub(crate) mod skipped;
pub(crate) mod sweep;
pub(crate) mod terminal;
pub(crate) mod transcript;
pub(crate) mod wait;
pub(crate) mod watcher;
