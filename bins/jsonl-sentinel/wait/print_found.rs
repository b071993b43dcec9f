//! Prints a sentinel as it stands in its file.

use super::cannot_read;
use super::search::FoundSentinel;
use crate::print;
use common::edge::output::Output;
use common::edge::pump::CHUNK;
use common::face::exit::Status;
use common::face::say::why;
use common::face::terminal::{JsonLines, Target};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Prints `found` behind `name`: from `chunk`, the one that has its end, or from the file at `path` when it began before
/// that. The error is the status, and has been printed.
pub fn print(
    found: &FoundSentinel,
    stdout: &mut Output,
    name: &str,
    chunk: &[u8],
    path: &Path,
) -> Result<(), Status> {
    // A sentinel is valid UTF-8, so nothing is left over at its end.
    let mut form = JsonLines::new(Target::of(&*stdout));
    let in_chunk = |at: u64| at.checked_sub(found.chunk).and_then(|at| usize::try_from(at).ok());
    let written = match (in_chunk(found.line.start), in_chunk(found.line.end)) {
        (Some(start), Some(end)) => {
            let line = form.push(&chunk[start..end]);
            stdout.lines(&[name.as_bytes(), &line, b"\n"].concat())
        }
        _ => {
            let mut file = open(found, path).map_err(|error| cannot_read(path, &why(&error)))?;
            from_file(stdout, name, &mut form, &mut file)
        }
    };
    written.map_err(|error| print::failed(&error))
}

/// The part of the file at `path` that is the sentinel.
fn open(found: &FoundSentinel, path: &Path) -> io::Result<impl Read> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(found.line.start))?;
    Ok(file.take(found.line.end - found.line.start))
}

/// Copies a line of any length from `file`, a chunk at a time.
fn from_file(stdout: &mut Output, name: &str, form: &mut JsonLines, file: &mut impl Read) -> io::Result<()> {
    stdout.line_in_pieces(|write| {
        write(name.as_bytes())?;
        let mut chunk = vec![0; CHUNK];
        loop {
            match file.read(&mut chunk)? {
                0 => return write(b"\n"),
                count => write(&form.push(&chunk[..count]))?,
            }
        }
    })
}
