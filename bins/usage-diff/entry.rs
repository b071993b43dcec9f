//! A file that was given, as it is printed.

use crate::account::StreamUsage;
use crate::run::Run;

/// A file and its run.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The name of the file, as it was given.
    pub file: &'a str,
    /// What its stream reports; empty when the file could not be read, or was counted before.
    pub usage: &'a StreamUsage,
    /// Its run; `None` when there is no run in it.
    pub run: Option<&'a Run>,
}
