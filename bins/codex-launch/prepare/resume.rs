//! The thread that an earlier run began, from its progress file, and what makes two spellings of an id one thread.

use crate::prepare::args;
use crate::prepare::check::{Refusal, refuse, refuse_path};
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

/// Returns the one spelling of a UUID that every Codex takes, in lower case with hyphens; `None` for anything else.
///
/// Newer versions take it in capitals, without hyphens, in braces and as a URN too; 0.98.0 begins a new thread for the
/// last two.
pub fn canonical(id: &str) -> Option<String> {
    let bare = id.strip_prefix("urn:uuid:").unwrap_or(id);
    let bare = bare.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(bare);
    let parts: Vec<&str> = bare.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let hex = parts.concat().to_ascii_lowercase();
    let fits = lengths == [8, 4, 4, 4, 12] || lengths == [32];
    if !fits || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    Some([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}

/// When the thread `id` was made, in milliseconds since 1970: what a UUID of version 7 begins with.
fn made_at(id: &str) -> Option<u128> {
    let hex = canonical(id)?.replace('-', "");
    if hex.as_bytes()[12] != b'7' {
        return None;
    }
    u128::from_str_radix(&hex[..12], 16).ok()
}

/// The id in the last `thread.started` of the file at `path`, which `option` names: what a file with several threads
/// ends with is what is continued, and what usage-diff and the session file hold to.
pub fn thread(option: &str, path: &Path) -> Result<String, Refusal> {
    let found = File::open(path).and_then(last_thread);
    let found = found.map_err(|error| refuse_path(option, path, &error))?;
    let what = format!("{option} {}", path.display());
    let id = found.ok_or_else(|| refuse(Status::DATA, &what, "names no thread: no thread.started in it"))?;
    match args::wrong_id(&id) {
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
    fn one_uuid_has_one_spelling() {
        for spelling in [
            ID.to_owned(),
            ID.to_uppercase(),
            ID.replace('-', ""),
            format!("{{{ID}}}"),
            format!("urn:uuid:{ID}"),
        ] {
            assert_eq!(canonical(&spelling).as_deref(), Some(ID), "{spelling}");
        }
        for other in
            ["", "t1", "my-thread", &ID[1..], &ID.replace('a', "g"), "é1a2311fba967d60bf1d199067abcfe"]
        {
            assert_eq!(canonical(other), None, "{other}");
        }
    }

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
