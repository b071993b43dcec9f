//! What of a run could not be written.

use common::face::say::why;
use std::io;

/// The outputs that failed, each once, in the order in which they are told.
#[derive(Debug, Default)]
pub struct Lost(Vec<(&'static str, String)>);

impl Lost {
    /// Nothing is lost.
    pub fn new() -> Lost {
        Lost::default()
    }

    /// Takes note of a failure of `what`, if there was one. Of an output that fails again, as a full disk does for
    /// event and sentinel, the first failure is enough.
    pub fn note(&mut self, what: &'static str, error: Option<io::Error>) {
        if let Some(error) = error
            && !self.0.iter().any(|(known, _)| *known == what)
        {
            self.0.push((what, format!("{what}: write: {}", why(&error))));
        }
    }

    /// What is to be told, a line each.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, line)| line.as_str())
    }
}
