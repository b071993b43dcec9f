//! The thread that an earlier run began, from its progress file.

use crate::args;
use crate::check::{Refusal, refuse, refuse_path};
use common::face::exit::Status;
use common::flow::event::{self, Event};
use common::flow::line::Piece;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The id in the first `thread.started` of the file at `path`.
pub fn thread(path: &Path) -> Result<String, Refusal> {
    let found = File::open(path).and_then(first_thread);
    let found = found.map_err(|error| refuse_path("--resume-from", path, &error))?;
    let what = format!("--resume-from {}", path.display());
    let id = found.ok_or_else(|| refuse(Status::DATA, &what, "names no thread: no thread.started in it"))?;
    match args::wrong_id(&id) {
        Some(wrong) => Err(refuse(Status::DATA, &what, wrong)),
        None => Ok(id),
    }
}

fn first_thread(mut file: impl Read) -> io::Result<Option<String>> {
    let mut scanner = event::scanner();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let count = match file.read(&mut chunk) {
            Ok(0) => return Ok(None),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut rest = &chunk[..count];
        while let Some(piece) = scanner.take(&mut rest) {
            if matches!(piece, Piece::End(_))
                && let Event::ThreadStarted(Some(id)) = Event::of(scanner.finish())
            {
                return Ok(Some(id.to_owned()));
            }
        }
    }
}
