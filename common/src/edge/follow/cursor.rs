//! How far a file was read, and what a change of the file means for that. Pure.
//!
//! A path can lead to another file, a file can be truncated and rewritten, and an inode number can be reused. So a file is
//! identified by device and inode, by its birth time where the file system has one, and by the last bytes that were read:
//! reading goes on only where they are still in front of the position. They are compared also when the length is the same
//! and the ctime is not.

use memchr::memrchr;
use std::time::SystemTime;

/// The number of bytes in front of a position that are remembered. Fewer tell two sentinels apart.
const LAST: usize = 32;

/// The identity of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Id {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) born: Option<SystemTime>,
}

/// What stat(2) says of a regular file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct About {
    pub(super) id: Id,
    pub(super) length: u64,
    pub(super) changed: Changed,
}

/// When a file was last changed, by its ctime: unlike its mtime, no writer can set that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Changed {
    pub(super) seconds: i64,
    pub(super) nanoseconds: i64,
    /// Whether that is so long ago that a later change has another time. Time stamps are as coarse as a timer tick, or even
    /// two seconds, so a change right after a look can leave the stamp unchanged.
    pub(super) is_past: bool,
}

/// How a file changed other than by growing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Another file has its path, or bytes that were read have changed.
    Replaced,
    /// It is shorter than the whole lines that were read.
    Truncated,
}

/// What is to be done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing: all of it was read.
    Rest,
    /// Read on.
    Read,
    /// Read from the end of the last whole line: the unfinished line was taken back.
    Back,
    /// Read from the beginning; what was read before is void.
    Anew(Option<Change>),
}

/// A position in a file, and the bytes in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The offset in bytes.
    pub(super) at: u64,
    last: [u8; LAST],
}

/// How far one file was read.
#[derive(Debug, Clone)]
pub(super) struct Cursor {
    id: Option<Id>,
    /// The end of what was read.
    read: Place,
    /// The end of the last whole line before that.
    whole: Place,
    /// The ctime at the last look.
    changed: Option<Changed>,
}

impl Cursor {
    /// A cursor before the first look.
    pub(super) fn new() -> Cursor {
        Cursor { id: None, read: Place::START, whole: Place::START, changed: None }
    }

    /// Where reading stopped.
    pub(super) fn at(&self) -> u64 {
        self.read.at
    }

    /// Whether there is nothing to do, as far as stat alone can tell. The length alone does not: a file may be rewritten
    /// in place to exactly its old length.
    pub(super) fn is_current(&self, now: &About) -> bool {
        let is_unchanged = now.changed.is_past && self.changed == Some(now.changed);
        self.id == Some(now.id) && self.read.at == now.length && is_unchanged
    }

    /// What to do about a file that is `now` so. `stands` says whether the bytes before a place are still there.
    pub(super) fn step<E>(
        &self,
        now: &About,
        mut stands: impl FnMut(&Place) -> Result<bool, E>,
    ) -> Result<Step, E> {
        let had = |change| if self.read.at == 0 { None } else { Some(change) };
        Ok(if self.id != Some(now.id) {
            Step::Anew(had(Change::Replaced))
        } else if now.length < self.whole.at {
            Step::Anew(had(Change::Truncated))
        } else if self.is_current(now) {
            Step::Rest
        } else if now.length >= self.read.at && stands(&self.read)? {
            if now.length == self.read.at { Step::Rest } else { Step::Read }
        } else if stands(&self.whole)? {
            Step::Back
        } else {
            Step::Anew(had(Change::Replaced))
        })
    }

    /// Goes to the beginning of the file `id`.
    pub(super) fn begin(&mut self, id: Id) {
        *self = Cursor { id: Some(id), ..Cursor::new() };
    }

    /// Remembers when the file had been changed.
    pub(super) fn see(&mut self, changed: Changed) {
        self.changed = Some(changed);
    }

    /// Goes back to the end of the last whole line.
    pub(super) fn back(&mut self) {
        self.read = self.whole;
    }

    /// Goes on behind `bytes`, which were read.
    pub(super) fn had(&mut self, bytes: &[u8]) {
        if let Some(lf) = memrchr(b'\n', bytes) {
            self.whole = self.read.behind(&bytes[..=lf]);
        }
        self.read = self.read.behind(bytes);
    }
}

impl Place {
    const START: Place = Place { at: 0, last: [0; LAST] };

    /// The last bytes before it, as far as they are remembered.
    pub(super) fn last(&self) -> &[u8] {
        let length = usize::try_from(self.at).map_or(LAST, |at| at.min(LAST));
        &self.last[LAST - length..]
    }

    /// The place behind `bytes`.
    fn behind(&self, bytes: &[u8]) -> Place {
        let mut last = [0; LAST];
        let new = &bytes[bytes.len().saturating_sub(LAST)..];
        let (old_room, new_room) = last.split_at_mut(LAST - new.len());
        old_room.copy_from_slice(&self.last[new.len()..]);
        new_room.copy_from_slice(new);
        Place { at: self.at + bytes.len() as u64, last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    const ID: Id = Id { device: 1, inode: 7, born: None };

    /// A cursor that has read `bytes` of file [`ID`].
    fn after(bytes: &[u8]) -> Cursor {
        let mut cursor = Cursor::new();
        cursor.begin(ID);
        bytes.chunks(5).for_each(|chunk| cursor.had(chunk));
        cursor
    }

    const LATER: Changed = Changed { seconds: 9, nanoseconds: 0, is_past: true };

    /// What to do when the file `id`, changed since the last look, holds `bytes`.
    fn step(cursor: &Cursor, id: Id, bytes: &[u8]) -> Step {
        step_at(cursor, id, LATER, bytes)
    }

    fn step_at(cursor: &Cursor, id: Id, changed: Changed, bytes: &[u8]) -> Step {
        let now = About { id, length: bytes.len() as u64, changed };
        let stands = |place: &Place| {
            Ok::<_, Infallible>(bytes[..usize::try_from(place.at).unwrap()].ends_with(place.last()))
        };
        let Ok(step) = cursor.step(&now, stands);
        assert!(step == Step::Rest || !cursor.is_current(&now));
        step
    }

    #[test]
    fn a_file_is_read_on_while_it_grows() {
        assert_eq!(step(&Cursor::new(), ID, b""), Step::Anew(None));
        assert_eq!(step(&after(b""), ID, b""), Step::Rest);
        assert_eq!(step(&after(b""), ID, b"one"), Step::Read);
        assert_eq!(step(&after(b"one\ntw"), ID, b"one\ntw"), Step::Rest);
        assert_eq!(step(&after(b"one\ntw"), ID, b"one\ntwo\n"), Step::Read);
        let long = [b'x'; 100];
        assert_eq!(step(&after(&long), ID, &[b'x'; 101]), Step::Read);
    }

    #[test]
    fn another_file_is_read_from_its_beginning() {
        for other in
            [Id { device: 2, ..ID }, Id { inode: 8, ..ID }, Id { born: Some(SystemTime::UNIX_EPOCH), ..ID }]
        {
            assert_eq!(step(&after(b"one\n"), other, b"one\ntwo\n"), Step::Anew(Some(Change::Replaced)));
            assert_eq!(step(&after(b""), other, b"one\n"), Step::Anew(None));
        }
    }

    #[test]
    fn an_inode_number_that_came_back_is_seen_by_the_bytes() {
        assert_eq!(step(&after(b"one\n"), ID, b"two\nthree\n"), Step::Anew(Some(Change::Replaced)));
        assert_eq!(step(&after(b"one\ntw"), ID, b"1\n2\n3\n4\n"), Step::Anew(Some(Change::Replaced)));
    }

    #[test]
    fn a_file_rewritten_to_its_old_length_is_seen_by_its_time() {
        for (had, has, expected) in [
            ("one\n", "two\n", Step::Anew(Some(Change::Replaced))),
            ("one\ntw", "one\n2\n", Step::Back),
            ("one\n", "one\n", Step::Rest),
        ] {
            let mut cursor = after(had.as_bytes());
            assert_eq!(step(&cursor, ID, has.as_bytes()), expected, "a look before");
            let now = |is_past| Changed { is_past, ..LATER };
            cursor.see(now(true));
            assert_eq!(step_at(&cursor, ID, now(true), has.as_bytes()), Step::Rest, "no change since");
            assert_eq!(step_at(&cursor, ID, Changed { nanoseconds: 1, ..LATER }, has.as_bytes()), expected);
            // In the tick of the last look the stamp stays as it was.
            cursor.see(now(false));
            assert_eq!(step_at(&cursor, ID, now(false), has.as_bytes()), expected);
            assert_eq!(step_at(&cursor, ID, now(true), has.as_bytes()), expected);
        }
    }

    #[test]
    fn a_file_that_shrank_below_its_whole_lines_is_truncated() {
        assert_eq!(step(&after(b"one\ntwo\nth"), ID, b"one\n"), Step::Anew(Some(Change::Truncated)));
        assert_eq!(step(&after(b"one\n"), ID, b""), Step::Anew(Some(Change::Truncated)));
    }

    #[test]
    fn an_unfinished_line_may_be_taken_back() {
        assert_eq!(step(&after(b"one\ntw"), ID, b"one\n"), Step::Back);
        assert_eq!(step(&after(b"one\ntw"), ID, b"one\nt"), Step::Back);
        assert_eq!(step(&after(b"one\ntw"), ID, b"one\nthree\n"), Step::Back);
        assert_eq!(step(&after(b"tw"), ID, b"three\n"), Step::Back);
        let mut cursor = after(b"one\ntw");
        cursor.back();
        assert_eq!(cursor.at(), 4);
        assert_eq!(step(&cursor, ID, b"one\nthree\n"), Step::Read);
    }
}
