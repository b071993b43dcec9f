//! The last line of a progress file: that the run is over, and how.

use super::cause::Cause;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sentinel {
    /// It completed.
    Completed {
        /// Whole seconds since Codex started, rounded down.
        elapsed_seconds: u64,
        /// The thread's total as the last completed turn said it.
        output_tokens: Option<u64>,
    },
    /// It failed.
    Failed {
        /// In which of the three ways.
        reason: Reason,
        /// Whole seconds since Codex started, rounded down.
        elapsed_seconds: u64,
        /// What it failed of, where that is known.
        cause: Option<Cause>,
    },
}

/// The three ways of failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The time limit.
    Timeout,
    /// Anything that went wrong; `rc` is the launcher's exit status.
    Error {
        /// The launcher's exit status.
        rc: u8,
    },
    /// A signal to the launcher.
    Cancelled,
}
