//! What one writer has written to a regular file, compared with what the file holds.

use common::edge::pump::CHUNK;
use memchr::memrchr;
use std::fs::File;
use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};
use std::io;
use std::os::unix::fs::FileExt;

/// What another program did to a file that is one writer's alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tampering {
    /// It is longer than what was written.
    Grown,
    /// It is shorter.
    Shrunk,
    /// It has other content of the same length.
    Changed,
    /// Its name stands for another file, or for none.
    Moved,
    /// The path of its folder leads elsewhere.
    FolderMoved,
}

/// The length and a digest of what was written. The digest has a secret key, so no other content with the same one can
/// be made up.
#[derive(Debug)]
pub(super) struct Written {
    /// Where the first byte of it is.
    start: u64,
    length: u64,
    keys: RandomState,
    /// Of the whole lines, and of all that came.
    lines: DefaultHasher,
    all: DefaultHasher,
}

impl Written {
    /// Nothing yet, to a file of `length` bytes.
    pub(super) fn from(length: u64) -> Written {
        let keys = RandomState::new();
        let (lines, all) = (keys.build_hasher(), keys.build_hasher());
        Written { start: length, length, keys, lines, all }
    }

    /// The length that the file must have.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Takes note of bytes that the file took.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let (lines, begun) = bytes.split_at(memrchr(b'\n', bytes).map_or(0, |at| at + 1));
        if !lines.is_empty() {
            self.all.write(lines);
            self.lines = self.all.clone();
        }
        self.all.write(begun);
        self.length += bytes.len() as u64;
    }

    /// The file was cut back to the last whole line, and has `length` bytes.
    pub(super) fn cut(&mut self, length: u64) {
        self.all = self.lines.clone();
        self.length = length;
    }

    /// The file was cut to `length` bytes, and what was written counts no more.
    pub(super) fn begin_anew(&mut self, length: u64) {
        (self.start, self.length) = (length, length);
        (self.lines, self.all) = (self.keys.build_hasher(), self.keys.build_hasher());
    }

    /// Where the file was when nothing had been written, or where its end is if that is less.
    pub(super) fn start(&self, length: u64) -> u64 {
        self.start.min(length)
    }

    /// Whether `file`, which has the right length, holds what was written. One that cannot be read counts as intact.
    pub(super) fn is_intact_in(&self, file: &File) -> bool {
        let mut digest = self.keys.build_hasher();
        let read = pieces(file, self.start, self.length, |piece| {
            digest.write(piece);
            Ok(())
        });
        read.is_err() || digest.finish() == self.all.finish()
    }
}

/// Hands the bytes of `file` from one offset to another to `each`, in pieces.
///
/// # Errors
/// When they cannot be read, or of `each`.
pub(super) fn pieces(
    file: &File,
    from: u64,
    to: u64,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let mut at = from;
    while at < to {
        let wanted = usize::try_from(to - at).map_or(buffer.len(), |left| left.min(buffer.len()));
        file.read_exact_at(&mut buffer[..wanted], at)?;
        each(&buffer[..wanted])?;
        at += wanted as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_digest_does_not_depend_on_the_pieces_and_sees_each_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let text: Vec<u8> =
            (0..100_000_u32).map(|n| if n % 97 == 0 { b'\n' } else { (n % 251) as u8 }).collect();
        let mut written = Written::from(3);
        for piece in text.chunks(7919) {
            written.add(piece);
        }
        fs::write(&path, [b"old", &text[..]].concat()).unwrap();
        assert!(written.is_intact_in(&File::open(&path).unwrap()));
        for at in [0, 50_000, 99_999] {
            let mut other = text.clone();
            other[at] ^= 1;
            fs::write(&path, [b"old", &other[..]].concat()).unwrap();
            assert!(!written.is_intact_in(&File::open(&path).unwrap()), "{at}");
        }
    }

    #[test]
    fn what_is_cut_off_counts_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let mut written = Written::from(0);
        written.add(b"one\ntw");
        written.add(b"o");
        written.cut(4);
        written.add(b"three\n");
        fs::write(&path, "one\nthree\n").unwrap();
        assert!(written.is_intact_in(&File::open(&path).unwrap()));
        assert_eq!(written.length(), 10);
    }
}
