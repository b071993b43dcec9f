//! One file, read to its end.

use crate::NAME;
use crate::account::{Account, StreamUsage};
use crate::args::RunFile;
use common::edge::reader::Input;
use common::face::exit::Status;
use common::face::printed::Printed;
use common::face::say;
use common::flow::event::{UsageEvent, UsageLines};
use common::flow::stream::LineReader;
use std::io;

/// Reads what the stream in `file` reports. `name` is the name of the file in messages.
///
/// # Errors
/// With status 66 when nothing of the file can be read, with status 74 when reading breaks off.
pub fn stream_usage(file: &RunFile, name: &str) -> Result<StreamUsage, Printed> {
    let failed = |status, error: io::Error| {
        Printed::message(NAME, status, &format!("{name}: read: {}", say::why(&error)))
    };
    let input = match file {
        RunFile::Stdin => Input::stdin(),
        RunFile::Path(path) => Input::open(path),
    };
    let mut input = input.map_err(|error| failed(Status::NO_INPUT, error))?;
    let mut account = Account::new();
    let mut lines = LineReader::<UsageLines>::new();
    // A folder, for example, can be opened and not be read.
    let mut status = Status::NO_INPUT;
    loop {
        let chunk = input.read().map_err(|error| failed(status, error))?;
        if chunk.is_empty() {
            break;
        }
        status = Status::IO;
        lines.push(chunk, |event| account.observe(event));
    }
    // A last line without LF counts when it is a whole object; otherwise it is torn.
    if let Some(event) = lines.finish().filter(UsageEvent::is_object) {
        account.observe(event);
    }
    Ok(account.close())
}
