//! The sentinel: the last line of a progress file, which says that the run is over, and how.
//!
//! | question | file |
//! |---|---|
//! | Which line is a sentinel, and what does it say? | `read` |
//! | How does a launcher spell it? | `write` |
//! | Is it the last line, and the only one? | `position` |
//! | Did the run complete, as far as its stream tells? | `decide` |

mod decide;
mod position;
mod read;
mod write;

pub use decide::{Decision, Message, Rule, Turn, Verdict};
pub use position::Position;
pub use read::ReadSentinel;
pub use write::{Reason, Sentinel};

/// The type of the sentinel of a run that completed.
pub const COMPLETED: &str = "handoff.completed";

/// The type of the sentinel of a run that failed.
pub const FAILED: &str = "handoff.failed";
