//! The answer of a run: reading it, checking it and delivering it.

use crate::files::output_path::OutputPath;
use crate::files::temp_names::TempNames;
use common::edge::output::Output;
use common::face::terminal::Target;
use common::flow::event;
use common::flow::scan::Scan;
use common::flow::sentinel::{Message, Verdict};
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

/// The longest answer, in bytes.
const MOST: u64 = 64 << 20;

/// What a run left as its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This text.
    Text(Vec<u8>),
    /// None, or nothing but white space.
    Nothing,
    /// A text that is not the JSON value that was asked for.
    NotJson,
    /// Longer than what is kept: a file over 64 MiB, or a message that stands in the stream alone and is over
    /// [`event::MESSAGE_CAP`].
    TooLong,
    /// A file that ends in the middle of a message that is over [`event::MESSAGE_CAP`].
    Torn,
}

impl Answer {
    /// The answer in the file that Codex wrote its last message to in this very run or, when that is missing, empty or
    /// only the beginning of it, the last message of the stream. A killed Codex leaves no file; failed ones leave none
    /// (0.156.1) or an empty one (0.98.0, 0.171.0); one without room for it leaves a part, and its status may be 0
    /// all the same (0.156.1; 1 of 0.171.0).
    pub fn of(last_message: io::Result<File>, verdict: &Verdict, must_be_json: bool) -> Answer {
        let file = match last_message.and_then(read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Answer::TooLong,
            Err(_) => Vec::new(),
        };
        let text = match verdict.message() {
            Some(message) if is_torn(&file, message) && !message.whole => return Answer::Torn,
            Some(message) if is_torn(&file, message) => message.text.clone().into_bytes(),
            _ if !file.trim_ascii().is_empty() => file,
            Some(message) if !message.whole => return Answer::TooLong,
            Some(message) => message.text.clone().into_bytes(),
            None => Vec::new(),
        };
        if text.trim_ascii().is_empty() {
            return Answer::Nothing;
        }
        if must_be_json && !is_json(&text) {
            return Answer::NotJson;
        }
        Answer::Text(text)
    }
}

/// Whether `file` has something, and less than all of `message`. Codex writes a message as it is, without an LF of its
/// own, so a part of it is its beginning to the byte.
fn is_torn(file: &[u8], message: &Message) -> bool {
    let text = message.text.as_bytes();
    let is_less = file.len() < text.len() || !message.whole && file.len() == text.len();
    !file.trim_ascii().is_empty() && is_less && text.starts_with(file)
}

/// Reads the file that Codex writes. A command of the agent can know its path and put anything there; only a regular file
/// is an answer.
fn read(file: File) -> io::Result<Vec<u8>> {
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    if about.len() > MOST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut text = Vec::new();
    file.take(MOST).read_to_end(&mut text)?;
    Ok(text)
}

/// Whether `text` is one JSON value. The scanner of the stream decides, so that what is JSON in an event is JSON in an
/// answer: unpaired surrogates, huge numbers and deep nesting too. It takes lines, and an LF is white space in JSON; in
/// a string neither an LF nor the control character that stands for it here is allowed.
fn is_json(text: &[u8]) -> bool {
    let mut scanner = event::scanner();
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        if number > 0 {
            scanner.push(b"\r");
        }
        scanner.push(line);
    }
    matches!(scanner.finish(), Scan::Object(_) | Scan::NotObject)
}

/// Where an answer goes.
#[derive(Debug, Clone)]
pub enum Destination {
    /// To this file, moved into place from beside it, where it has one of these names.
    File(OutputPath, Arc<TempNames>),
    /// To stdout, ending in LF.
    Stdout,
    /// To the caller, who has it already.
    Caller,
}

/// Delivers `text`.
pub fn deliver(text: &[u8], destination: &Destination) -> io::Result<()> {
    match destination {
        Destination::File(path, names) => path.replace(text, names),
        Destination::Stdout => {
            // A terminal gets what does it no harm, a file or a pipe the exact text.
            let mut whole = Target::stdout().bytes(text).into_owned();
            if !whole.ends_with(b"\n") {
                whole.push(b'\n');
            }
            Output::stdout()?.bytes(&whole)
        }
        Destination::Caller => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_torn_that_has_the_beginning_of_the_message_alone() {
        let torn = |file: &str, text: &str, whole| {
            is_torn(file.as_bytes(), &Message { text: text.to_owned(), whole })
        };
        assert!(torn("the first half", "the first half, and the second half", true));
        assert!(torn("x", "xy", false) && torn("xy", "xy", false));
        for (file, text) in [("xy", "xy"), ("", "xy"), (" ", " xy"), ("other", "xy"), ("xy\n", "xy")] {
            assert!(!torn(file, text, true), "{file:?} {text:?}");
        }
        assert!(!torn("xyz", "xy", false));
    }

    #[test]
    fn one_json_value_is_json() {
        for text in ["{\"a\":\n1}\n", "[]", "7", "\"x\"", "{\"a\":\"\\ud83d\"}", "1e400"] {
            assert!(is_json(text.as_bytes()), "{text}");
        }
        for text in ["{}{}", "{\"a\":\"x\ny\"}", "Done.", "{", "{}\n{}"] {
            assert!(!is_json(text.as_bytes()), "{text}");
        }
    }
}
