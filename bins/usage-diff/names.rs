//! The names of the files, one after the other: a long list of them is never in memory at once.

use crate::args::{Files, Source};
use common::edge::reader::BlockingReader;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStringExt;

/// U+FEFF in UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The sources, in order. In a list a name is a line, without a CR before its LF and a BOM at the beginning; blank lines
/// are none.
///
/// # Errors
/// When the list cannot be opened; an element is an error when it cannot be read on.
pub fn sources(files: Files) -> io::Result<Box<dyn Iterator<Item = io::Result<Source>>>> {
    Ok(match files {
        Files::Given(files) => Box::new(files.into_iter().map(Ok)),
        Files::Listed(Source::Stdin) => Box::new(lines(BufReader::new(BlockingReader::stdin()?))),
        Files::Listed(Source::File(path)) => Box::new(lines(BufReader::new(File::open(path)?))),
    })
}

fn lines(list: impl BufRead) -> impl Iterator<Item = io::Result<Source>> {
    let names = list.split(b'\n').enumerate().map(|(number, line)| line.map(|line| bare(line, number == 0)));
    let names = names.filter(|name| name.as_ref().map_or(true, |name| !name.is_empty()));
    names.map(|name| name.map(|name| Source::named(OsString::from_vec(name).into())))
}

fn bare(mut line: Vec<u8>, is_first: bool) -> Vec<u8> {
    if line.ends_with(b"\r") {
        line.pop();
    }
    if is_first && line.starts_with(BOM) {
        line.drain(..BOM.len());
    }
    line
}
