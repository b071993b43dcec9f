//! The outcome of a run.

use crate::finish::answer::Answer;
use crate::finish::ending::Ending;
use std::time::Duration;

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// Its answer.
    pub answer: Answer,
    /// The time since Codex started.
    pub elapsed: Duration,
}
