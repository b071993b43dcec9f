//! Finds the thread of an earlier run in its progress file, and recognizes it in the stream of the new run.

use crate::prepare::check::{Refusal, refuse, refuse_path};
use crate::prepare::thread_id::{canonical, made_at, wrong_id};
use common::face::exit::Status;
use common::flow::event::{self, Event};
use common::flow::line::Piece;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The thread that a run has to continue.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Its id, or its name.
    asked: String,
    /// When it was asked for, in milliseconds since 1970.
    at: u128,
}

impl Wanted {
    /// The thread with the id or the name `asked`, asked for now.
    pub fn now(asked: String) -> Wanted {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
        Wanted { asked, at }
    }

    /// Whether a stream of the thread `id` continues this one.
    ///
    /// Codex looks a name up by itself, and begins a new thread where it does not know it (0.98.0 to 0.171.0). The id of
    /// a thread has the time of its making in it, so a thread that is older than this launch is the one of that name.
    pub fn is(&self, id: &str) -> bool {
        let same = canonical(&self.asked).unwrap_or_else(|| self.asked.clone());
        same.eq_ignore_ascii_case(id)
            || canonical(&self.asked).is_none() && made_at(id).is_some_and(|made| made < self.at)
    }
}

/// The id in the last `thread.started` of the file at `path`, which `option` names: what a file with several threads
/// ends with is what is continued, and what usage-diff and the session file hold to.
pub fn thread(option: &str, path: &Path) -> Result<String, Refusal> {
    let found = File::open(path).and_then(last_thread);
    let found = found.map_err(|error| refuse_path(option, path, &error))?;
    let what = format!("{option} {}", path.display());
    let id = found.ok_or_else(|| refuse(Status::DATA, &what, "names no thread: no thread.started in it"))?;
    match wrong_id(&id) {
        Some(wrong) => Err(refuse(Status::DATA, &what, wrong)),
        None => Ok(id),
    }
}

fn last_thread(mut file: impl Read) -> io::Result<Option<String>> {
    let mut scanner = event::scanner();
    let mut chunk = vec![0; 64 * 1024];
    let mut last = None;
    loop {
        let count = match file.read(&mut chunk) {
            Ok(0) => return Ok(last),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut rest = &chunk[..count];
        while let Some(piece) = scanner.take(&mut rest) {
            if matches!(piece, Piece::End(_))
                && let Event::ThreadStarted(Some(id)) = Event::of(scanner.finish())
            {
                last = Some(id.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a2311f-ba96-7d60-bf1d-199067abcfe6";

    #[test]
    fn a_name_is_continued_by_a_thread_that_was_there_before() {
        let made = made_at(ID).unwrap();
        let wanted = |asked: &str, at| Wanted { asked: asked.to_owned(), at };
        assert!(wanted("my-thread", made + 1).is(ID));
        assert!(!wanted("my-thread", made).is(ID));
        assert!(!wanted("my-thread", made + 1).is("t2"));
        assert!(wanted("t1", 0).is("t1"));
        let other = "01a2298f-0000-7000-8000-000000000000";
        assert!(!wanted(other, made + 1).is(ID));
        assert!(wanted(&ID.to_uppercase(), 0).is(ID));
    }
}
