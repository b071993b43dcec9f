//! What the filters share, in four bands.
//!
//! ```text
//!         edge                    flow (pure)                      edge / face
//!  ┌───────────────┐   ┌───────────────────────────────┐   ┌───────────────────┐
//!  │ line_chunks    │   │ line ► scan ► line reader      │   │ record ► output   │
//!  │ reader         │──►│   view: event, verdict, cause  │──►│ hold  ► outputs   │
//!  │ follow: files  │   │         sentinel, usage,       │   │ messages ► stderr │
//!  │ pump: pipes    │   │         activity fields        │   │ exit status       │
//!  └──────┬────────┘   └───────────────────────────────┘   └───────────────────┘
//!  ┌──────▼────────┐         no I/O, no clock, no threads
//!  │ sys (unsafe)   │   process trees, descriptors, locks, folders, change notices
//!  └───────────────┘
//! ```
//!
//! **flow** computes, **edge** touches the world, **sys** touches the kernel, **face** touches the person. Flow and edge do
//! not know each other; only a filter brings them together.
//!
//! Three invariants hold everywhere:
//!
//! 1. A line that is passed on is passed on byte for byte. JSON is written only for records of our own.
//! 2. Memory does not grow with the length of a line or of a stream.
//! 3. What a message says never decides whether a run succeeded.
//!
//! `common/README.md` has the import table, which is tested, the rooms of each filter, the terms, and where a new thing goes.

#![warn(unreachable_pub)]

pub mod edge;
pub mod face;
pub mod flow;
pub mod sys;
