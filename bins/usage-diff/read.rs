//! One stream, read to its end.

use crate::args::Source;
use common::edge::reader::Input;
use common::face::exit::Status;
use common::face::say;
use common::flow::event::UsageLines;
use common::flow::stream::{Line, LineReader};
use common::flow::usage::{Account, Said};
use std::io;

/// Why a stream was not read to its end.
#[derive(Debug)]
pub struct Unread {
    /// 66 when it could not be begun, 74 when it broke off.
    pub status: Status,
    /// Why, in words.
    pub why: String,
}

/// What the run at `source` said. Files are opened one at a time.
pub fn account(source: &Source) -> Result<Said, Unread> {
    let unread = |status, error: io::Error| Unread { status, why: say::why(&error) };
    let input = match source {
        Source::Stdin => Input::stdin(),
        Source::File(path) => Input::open(path),
    };
    let mut input = input.map_err(|error| unread(Status::NO_INPUT, error))?;
    let mut account = Account::new();
    let mut lines = LineReader::<UsageLines>::new();
    let mut status = Status::NO_INPUT;
    loop {
        // What opens and cannot be read at all, as a folder, is no input either.
        let chunk = input.read().map_err(|error| unread(status, error))?;
        if chunk.is_empty() {
            break;
        }
        status = Status::IO;
        lines.push(chunk, |line| account.observe(line));
    }
    // Nothing that matters could have been added to a whole object; any other last line is torn, and is nothing.
    if let Some(line) = lines.finish().filter(Line::is_object) {
        account.observe(line);
    }
    Ok(account.close())
}
