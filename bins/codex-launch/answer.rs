//! The answer of a run: where it is found, whether it will do, and how it is delivered.

use common::edge::output::Output;
use common::edge::replace;
use common::flow::verdict::Verdict;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a run left as its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This text.
    Text(Vec<u8>),
    /// None, or nothing but white space.
    Nothing,
    /// A text that is not the JSON value that was asked for.
    NotJson,
    /// A message that stands in the stream alone and is longer than what is kept of one.
    TooLong,
}

impl Answer {
    /// The answer in the file that Codex wrote its last message to in this very run or, when that is missing or
    /// empty, the last message of the stream. A killed Codex leaves no file; failed ones leave none (0.156.1) or an
    /// empty one (0.98.0, 0.171.0).
    pub fn of(last_message: &Path, verdict: &Verdict, must_be_json: bool) -> Answer {
        let file = fs::read(last_message).unwrap_or_default();
        let text = match verdict.message() {
            _ if !file.trim_ascii().is_empty() => file,
            Some(message) if !message.whole => return Answer::TooLong,
            Some(message) => message.text.clone().into_bytes(),
            None => Vec::new(),
        };
        if text.trim_ascii().is_empty() {
            return Answer::Nothing;
        }
        if must_be_json && serde_json::from_slice::<serde_json::Value>(&text).is_err() {
            return Answer::NotJson;
        }
        Answer::Text(text)
    }
}

/// Where an answer goes.
#[derive(Debug, Clone)]
pub enum Destination {
    /// To this file, moved into place.
    File(PathBuf),
    /// To stdout, ending in LF.
    Stdout,
    /// To the caller, who has it already.
    Caller,
}

/// Delivers `text`.
pub fn deliver(text: &[u8], destination: &Destination) -> io::Result<()> {
    match destination {
        Destination::File(path) => replace::file(path, text),
        Destination::Stdout => {
            let mut whole = text.to_vec();
            if !whole.ends_with(b"\n") {
                whole.push(b'\n');
            }
            Output::stdout()?.bytes(&whole)
        }
        Destination::Caller => Ok(()),
    }
}
