//! The cursor: a file is written, cut, rewritten in place, replaced and looked at, as the input says, and what was had of it is compared
//! with what is there.
#![no_main]

#[path = "../../../common/src/edge/follow/cursor.rs"]
mod cursor;

use cursor::{About, Change, Changed, Cursor, Id, Place, Step};
use libfuzzer_sys::fuzz_target;
use std::convert::Infallible;

/// How many bytes before a place tell whether a file is still the same.
const LAST: usize = 32;

fuzz_target!(|data: &[u8]| {
    let mut world = World::new();
    let mut rest = data;
    while let Some(([what, much], after)) = rest.split_first_chunk() {
        let (bytes, after_bytes) = after.split_at(after.len().min(usize::from(*much)));
        rest = after;
        match what % 8 {
            0..=2 => {
                world.content.extend_from_slice(bytes);
                rest = after_bytes;
            }
            3 => world.take_back(*much),
            4 => world.cut(*much),
            5 => world.replace(what / 8 % 2 == 0),
            6 => world.rewrite(*much),
            _ => world.look(usize::from(*much) + 1),
        }
    }
    world.look(1);
});

/// A file, a cursor that follows it, and what was had of it.
struct World {
    content: Vec<u8>,
    inode: u64,
    /// How often it was changed.
    changes: i64,
    /// Which inode was looked at last.
    looked_at: Option<u64>,
    cursor: Cursor,
    had: Vec<u8>,
    /// Whether nothing but growth came about since the last look: then what was had is a beginning of the file.
    grew: bool,
}

impl World {
    fn new() -> World {
        World {
            content: Vec::new(),
            inode: 0,
            changes: 0,
            looked_at: None,
            cursor: Cursor::new(),
            had: Vec::new(),
            grew: false,
        }
    }

    /// The writer takes back some of its unfinished line.
    fn take_back(&mut self, much: u8) {
        let unfinished = self.content.len() - whole(&self.content);
        self.cut(much.min(unfinished.try_into().unwrap_or(u8::MAX)));
    }

    fn cut(&mut self, much: u8) {
        self.content.truncate(self.content.len().saturating_sub(usize::from(much)));
        self.grew &= much == 0;
    }

    /// Another file has the name; it may have the number of the one before.
    fn replace(&mut self, new_number: bool) {
        self.content.clear();
        self.inode += u64::from(new_number);
        self.grew = false;
    }

    /// A byte, so far from the end, becomes another one.
    fn rewrite(&mut self, much: u8) {
        let length = self.content.len();
        if let Some(byte) = self.content.get_mut(length.wrapping_sub(usize::from(much))) {
            *byte ^= 1;
            self.grew = false;
        }
    }

    fn about(&self) -> About {
        About {
            id: Id { device: 1, inode: self.inode, born: None },
            length: self.content.len() as u64,
            changed: Changed { seconds: self.changes, nanoseconds: 0, is_past: true },
        }
    }

    /// Looks at the file as `Followed` does, reading in chunks of `size`.
    fn look(&mut self, size: usize) {
        // It has been changed since, or may have been.
        self.changes += 1;
        let now = self.about();
        let (content, had) = (&self.content, &self.had);
        let stands = |place: &Place| {
            let at = usize::try_from(place.at).expect("a place in memory");
            // What is remembered is what was had.
            assert_eq!(place.last(), last(&had[..at]));
            Ok::<_, Infallible>(content[..at].ends_with(place.last()))
        };
        let Ok(step) = self.cursor.step(&now, stands);
        assert!(step == Step::Rest || !self.cursor.is_current(&now));
        self.check(step);
        self.looked_at = Some(self.inode);
        match step {
            Step::Rest | Step::Read => {}
            Step::Back => {
                self.cursor.back();
                self.had.truncate(whole(&self.had));
            }
            Step::Anew(_) => {
                self.cursor.begin(now.id);
                self.had.clear();
            }
        }
        self.cursor.see(now.changed);
        assert_eq!(self.cursor.at(), self.had.len() as u64);
        for chunk in self.content[self.had.len()..].chunks(size) {
            self.cursor.had(chunk);
            self.had.extend_from_slice(chunk);
        }
        assert_eq!(self.cursor.at(), now.length);
        assert!(self.cursor.is_current(&now));
        assert!(self.content.ends_with(last(&self.had)));
        self.grew = self.had == self.content;
    }

    /// Whether `step` is right, by all that was had and all that is there.
    fn check(&self, step: Step) {
        let same_number = self.looked_at == Some(self.inode);
        let (whole, length) = (whole(&self.had), self.content.len());
        match step {
            Step::Rest => assert!(same_number && length == self.had.len()),
            Step::Read => assert!(same_number && length > self.had.len()),
            Step::Back => assert!(same_number && length >= whole && !self.grew),
            Step::Anew(None) => assert!(self.had.is_empty()),
            Step::Anew(Some(Change::Truncated)) => assert!(same_number && length < whole),
            Step::Anew(Some(Change::Replaced)) => assert!(!same_number || length >= whole),
        }
        // What only grew is never taken for another one.
        assert!(!self.grew || matches!(step, Step::Rest | Step::Read), "{step:?}");
        // Whole lines that still stand are never had again.
        if same_number && self.content.starts_with(&self.had[..whole]) {
            assert!(!matches!(step, Step::Anew(_)), "{step:?}");
        }
    }
}

/// Up to where `bytes` are whole lines.
fn whole(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |lf| lf + 1)
}

/// The last of `bytes`, as far as they are remembered.
fn last(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.len().saturating_sub(LAST)..]
}
