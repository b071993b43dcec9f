//! The house that every filter lives in.
//!
//! ```text
//!         edge                    flow (pure)                      edge / face
//!  ┌───────────────┐   ┌───────────────────────────────┐   ┌───────────────────┐
//!  │ guardian       │   │ line ──► scan ──► event ─┬─►   │   │ record ► output   │
//!  │ line_chunks: stdin  │   │   verdict ──► cause      │     │   │ hold ► fan-out    │
//!  │ follow: files  │──►│   activity, sentinel ◄──┤     │──►│ report ► stderr   │
//!  │ supervise:     │   │   tally       usage ◄───┘     │   │ exit status       │
//!  │   child pipes  │   │   stamp                       │   │                   │
//!  └──────┬────────┘   └───────────────────────────────┘   └───────────────────┘
//!         │                 no I/O, no clock, no threads
//!  ┌──────▼────────┐
//!  │ sys (unsafe)   │   sessions, process trees, descriptors, locks, room, change notices
//!  └───────────────┘
//! ```
//!
//! **flow** computes, **edge** touches the world, **sys** touches the kernel, **face** touches the person.
//! Flow and edge do not know each other; only a bin introduces them. The folder is the rule.
//!
//! | band | may use | never uses |
//! |---|---|---|
//! | flow | flow files to its left; time as an argument | edge, sys, face, `std::{fs,io,process,thread}`, the clock |
//! | sys | std, nix | every other band |
//! | edge | sys, std, nix, signal-hook, crossbeam-channel, tempfile, memchr | flow, face |
//! | face | std, clap | flow, edge |
//! | bins | flow, edge, face; codex-launch's `run`, `guardian`, `prepare/environment`, `prepare/program` also sys | another bin |
//! | tests | the binaries, the public items of this crate | internals |
//!
//! `codex-launch` is two processes (`bins/codex-launch/guardian`): the guardian, which the caller started, and the runner, all of the
//! above. Each finishes the run when the other one is dead. A third one stands in front where the caller left children.
//!
//! Three invariants hold everywhere:
//!
//! 1. A line that is passed on is passed on byte for byte; JSON is written only for records of our own.
//! 2. Memory does not grow with the length of a line or of a stream.
//! 3. What a message says never decides whether a run succeeded.

pub mod edge;
pub mod face;
pub mod flow;
pub mod sys;
