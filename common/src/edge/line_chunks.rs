//! An input taken in whole lines.

use super::pump::{Source, WIDE};
use super::signals::Interrupt;
use super::spool::MEMORY;
use memchr::memrchr;
use std::io;
use std::os::fd::AsFd;

/// An input that hands its bytes on in whole lines, as soon as their LF is there.
#[derive(Debug)]
pub struct LineChunks<S> {
    source: Source<S>,
    /// What was read. Its first `given` bytes have been handed out, those up to `end` have not.
    buffer: Vec<u8>,
    given: usize,
    end: usize,
    /// Whether the beginning of the current line was handed out.
    is_long: bool,
}

impl LineChunks<Interrupt> {
    /// Takes in standard input as it stands, until its end or the user's wish.
    ///
    /// # Errors
    /// When its descriptor cannot be duplicated, or the signals cannot be taken.
    pub fn stdin() -> io::Result<LineChunks<Interrupt>> {
        let stdin = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(LineChunks::new(Source::new(stdin, Interrupt::new()?)))
    }

    /// The signal by which the user wished the end.
    pub fn signal(&self) -> Option<i32> {
        self.source.stop().signal()
    }
}

impl<S: AsFd> LineChunks<S> {
    /// Takes in what `source` reads.
    pub fn new(source: Source<S>) -> LineChunks<S> {
        LineChunks { source, buffer: Vec::new(), given: 0, end: 0, is_long: false }
    }

    /// The next bytes: all whole lines that there are. A line longer than [`MEMORY`] comes in pieces, and so does
    /// what has no LF at the end of the input. `None` at the end.
    ///
    /// # Errors
    /// When the input cannot be read; [`LineChunks::rest`] is what was read before and not handed out.
    pub fn take(&mut self) -> io::Result<Option<&[u8]>> {
        self.buffer.copy_within(self.given..self.end, 0);
        self.end -= self.given;
        self.given = 0;
        loop {
            let fresh = self.end;
            let room = fresh + self.source.chunk();
            if self.buffer.len() < room {
                self.buffer.resize(room, 0);
            }
            let count = self.source.read(&mut self.buffer[fresh..room])?;
            self.end += count;
            match memrchr(b'\n', &self.buffer[fresh..self.end]) {
                Some(at) => {
                    self.given = fresh + at + 1;
                    self.is_long = false;
                }
                None if count == 0 => self.given = self.end,
                None if self.is_long || self.end > MEMORY => {
                    self.given = self.end;
                    self.is_long = true;
                }
                None => continue,
            }
            return Ok((self.given > 0).then_some(&self.buffer[..self.given]));
        }
    }

    /// The bytes that were handed out last.
    pub fn given(&self) -> &[u8] {
        &self.buffer[..self.given]
    }

    /// Parts with the bytes that were handed out last, which spares a copy of them; `spare` takes their place.
    pub fn give(&mut self, spare: Chunk) -> Chunk {
        let Chunk { bytes: mut buffer, .. } = spare;
        let rest = self.rest();
        if buffer.len() < rest.len() {
            buffer.resize(rest.len(), 0);
        }
        buffer[..rest.len()].copy_from_slice(rest);
        self.end -= self.given;
        let length = std::mem::take(&mut self.given);
        Chunk { bytes: std::mem::replace(&mut self.buffer, buffer), length }
    }

    /// How large its buffer has grown: it is as large as the longest line that it had to keep, and a read.
    pub fn size(&self) -> usize {
        self.buffer.len()
    }

    /// Whether bulk goes through the input.
    pub fn is_bulk(&self) -> bool {
        self.source.chunk() == WIDE
    }

    /// The beginning of a line whose LF has not come.
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.given..self.end]
    }
}

/// Bytes in a buffer that is used again.
#[derive(Debug, Default)]
pub struct Chunk {
    bytes: Vec<u8>,
    /// How many of them count. The others are what was read into the buffer before: to clear it would be to fill it
    /// with zeros each time.
    length: usize,
}

impl Chunk {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Takes a copy of `bytes`.
    pub fn fill(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.length = bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// What an input of `parts` is handed on as; each is written when the one before has been read.
    fn handed_on(parts: &[&[u8]]) -> Vec<Vec<u8>> {
        let (reader, mut writer) = io::pipe().unwrap();
        let (never, _open) = io::pipe().unwrap();
        let parts: Vec<Vec<u8>> = parts.iter().map(|part| part.to_vec()).collect();
        let feeder = std::thread::spawn(move || {
            for part in parts {
                writer.write_all(&part).unwrap();
            }
        });
        let mut line_chunks = LineChunks::new(Source::new(reader.into(), never));
        let mut all = Vec::new();
        while let Some(bytes) = line_chunks.take().unwrap() {
            all.push(bytes.to_vec());
        }
        feeder.join().unwrap();
        all
    }

    #[test]
    fn lines_come_whole_and_the_rest_as_it_is() {
        for parts in [&[&b"one\ntw"[..], b"o", b"\nthree"][..], &[b"one\ntwo\nthree"], &[]] {
            let all = handed_on(parts);
            assert_eq!(all.concat(), parts.concat());
            let (last, whole) = all.split_last().map_or((&[][..], &[][..]), |(last, whole)| (last, whole));
            assert!(whole.iter().all(|bytes| bytes.ends_with(b"\n")), "{all:?}");
            assert!(parts.is_empty() || last == b"three", "{all:?}");
        }
    }

    #[test]
    fn what_was_handed_out_can_be_parted_with_and_nothing_is_lost() {
        let (reader, mut writer) = io::pipe().unwrap();
        let (never, _open) = io::pipe().unwrap();
        let mut line_chunks = LineChunks::new(Source::new(reader.into(), never));
        let mut spare = Chunk::default();
        spare.fill(b"what was read before");
        writer.write_all(b"one\ntw").unwrap();
        assert_eq!(line_chunks.take().unwrap(), Some(&b"one\n"[..]));
        let first = line_chunks.give(spare);
        assert_eq!(
            (first.bytes(), line_chunks.given(), line_chunks.rest()),
            (&b"one\n"[..], &b""[..], &b"tw"[..])
        );
        writer.write_all(b"o\nthree").unwrap();
        assert_eq!(line_chunks.take().unwrap(), Some(&b"two\n"[..]));
        let second = line_chunks.give(first);
        assert_eq!(second.bytes(), b"two\n");
        drop(writer);
        assert_eq!(line_chunks.take().unwrap(), Some(&b"three"[..]));
        assert_eq!(line_chunks.give(second).bytes(), b"three");
        assert_eq!(line_chunks.take().unwrap(), None);
    }

    #[test]
    fn a_line_up_to_the_limit_is_one_piece_and_a_longer_one_is_several() {
        let line = |length: usize| [vec![b'x'; length], b"\n".to_vec()].concat();
        let all = handed_on(&[b"a\n", &line(MEMORY)]);
        assert_eq!(all.last().map(Vec::len), Some(MEMORY + 1));
        let all = handed_on(&[&line(MEMORY + WIDE + 1), b"b\n"]);
        assert!(all.len() > 1 && !all[0].ends_with(b"\n"));
        assert!(all.iter().all(|bytes| bytes.len() <= MEMORY + WIDE));
        assert_eq!(all.concat(), [line(MEMORY + WIDE + 1), b"b\n".to_vec()].concat());
    }
}
