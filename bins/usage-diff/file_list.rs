//! The files to count, one after the other. A list of names is read as the files are counted, never held as a whole.

use crate::NAME;
use crate::args::{FileNames, RunFile};
use common::edge::reader::BlockingReader;
use common::face::exit::Status;
use common::face::printed::Printed;
use common::face::say;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStringExt;

/// U+FEFF in UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The files, in order. In a list each line is a name. A CR before the LF, a BOM at the beginning and blank lines are
/// ignored.
///
/// # Errors
/// When the list cannot be opened; an element is an error when reading the list breaks off.
pub fn files(names: FileNames) -> Result<Box<dyn Iterator<Item = Result<RunFile, Printed>>>, Printed> {
    let list = match names {
        FileNames::Given(files) => return Ok(Box::new(files.into_iter().map(Ok))),
        FileNames::Listed(list) => list,
    };
    let name = list.name();
    let failed = move |error: io::Error| {
        let message = format!("--files-from {name}: {}", say::why(&error));
        Printed::message(NAME, Status::NO_INPUT, &message)
    };
    let reader: io::Result<Box<dyn BufRead>> = match &list {
        RunFile::Stdin => {
            BlockingReader::stdin().map(|stdin| Box::new(BufReader::new(stdin)) as Box<dyn BufRead>)
        }
        RunFile::Path(path) => {
            File::open(path).map(|file| Box::new(BufReader::new(file)) as Box<dyn BufRead>)
        }
    };
    let lines = reader.map_err(&failed)?.split(b'\n').enumerate();
    let names = lines.map(|(number, line)| line.map(|line| without_marks(line, number == 0)));
    let names = names.filter(|name| name.as_ref().map_or(true, |name| !name.is_empty()));
    let files = names.map(|name| name.map(|name| RunFile::named(OsString::from_vec(name).into())));
    Ok(Box::new(files.map(move |file| file.map_err(&failed))))
}

/// A line of the list without a CR at its end, and without a BOM when it is the first one.
fn without_marks(mut line: Vec<u8>, is_first: bool) -> Vec<u8> {
    if line.ends_with(b"\r") {
        line.pop();
    }
    if is_first && line.starts_with(BOM) {
        line.drain(..BOM.len());
    }
    line
}
