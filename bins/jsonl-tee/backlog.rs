//! An output that may fall behind: what it has not taken yet waits in memory, and beyond that in a temporary file.

use common::edge::output::Output;
use common::edge::paths;
use common::edge::pump::WIDE;
use common::edge::spool::MEMORY;
use memchr::memrchr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// The maximum size of the temporary file. When the output falls further behind, or the file system is full, the input
/// waits for it: nothing is left out.
pub const BOUND: u64 = 1 << 30;

/// A queue of lines to an output that a thread of its own writes.
#[derive(Debug)]
pub struct Backlog {
    shared: Arc<Shared>,
    writer: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// Signals that bytes were added or taken, that the queue was closed, or that the writer ended.
    changed: Condvar,
}

/// What waits. The bytes in memory come before those in the file, so nothing is added to memory while the file has bytes.
#[derive(Debug)]
struct Waiting {
    memory: Vec<u8>,
    file: FileRing,
    /// Whether nothing more will be added.
    is_closed: bool,
    /// How the writer ended.
    end: Option<io::Result<()>>,
}

impl Backlog {
    /// Starts the thread that writes what is pushed to `output`.
    pub fn new(output: Output) -> Backlog {
        let waiting = Waiting { memory: Vec::new(), file: FileRing::new(BOUND), is_closed: false, end: None };
        let shared = Arc::new(Shared { waiting: Mutex::new(waiting), changed: Condvar::new() });
        let mine = shared.clone();
        let writer = thread::spawn(move || {
            let result = mine.write_to(output);
            mine.lock().end = Some(result);
            mine.changed.notify_all();
        });
        Backlog { shared, writer }
    }

    /// Adds `lines`: whole lines, or the next piece of one. It waits only while there is no room for them.
    ///
    /// # Errors
    /// When a write has failed. Push nothing after that.
    pub fn push(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut waiting = self.shared.lock();
        while waiting.end.is_none() && !waiting.add(lines) {
            waiting = self.shared.wait(waiting);
        }
        self.shared.changed.notify_all();
        waiting.end.take().unwrap_or(Ok(()))
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn finish(self) -> io::Result<()> {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
        let died = self.writer.join().is_err();
        let end = self.shared.lock().end.take();
        end.unwrap_or(if died { Err(io::Error::other("its thread panicked")) } else { Ok(()) })
    }
}

impl Shared {
    /// Locks what waits. A panic of the other thread leaves it consistent.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, waiting: MutexGuard<'a, Waiting>) -> MutexGuard<'a, Waiting> {
        self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner)
    }

    fn write_to(&self, mut output: Output) -> io::Result<()> {
        let mut batch = Vec::new();
        while self.take(&mut batch)? {
            output.lines(&batch)?;
        }
        Ok(())
    }

    /// Waits for the next bytes, and fills `batch` with them; false when nothing more will come.
    fn take(&self, batch: &mut Vec<u8>) -> io::Result<bool> {
        let mut waiting = self.lock();
        batch.clear();
        loop {
            if !waiting.memory.is_empty() {
                std::mem::swap(&mut waiting.memory, batch);
            } else if !waiting.file.is_empty() {
                waiting.file.take(batch)?;
            } else if waiting.is_closed {
                return Ok(false);
            } else {
                waiting = self.wait(waiting);
                continue;
            }
            self.changed.notify_all();
            return Ok(true);
        }
    }
}

impl Waiting {
    /// Adds `lines`; false when there is no room for them now.
    fn add(&mut self, lines: &[u8]) -> bool {
        if self.file.is_empty() && (self.memory.is_empty() || self.memory.len() + lines.len() <= MEMORY) {
            self.memory.extend_from_slice(lines);
            return true;
        }
        // A file that cannot be made or written counts as full.
        self.file.add(lines).unwrap_or(false)
    }
}

/// A ring buffer in an unlinked temporary file.
#[derive(Debug)]
struct FileRing {
    file: Option<File>,
    bound: u64,
    /// The file holds the bytes number `begin` to `end`, counted from the first one ever added, each at its number modulo
    /// `bound`.
    begin: u64,
    end: u64,
}

impl FileRing {
    fn new(bound: u64) -> FileRing {
        FileRing { file: None, bound, begin: 0, end: 0 }
    }

    fn is_empty(&self) -> bool {
        self.begin == self.end
    }

    /// Adds `bytes`; false when there is no room for all of them.
    fn add(&mut self, bytes: &[u8]) -> io::Result<bool> {
        if self.end - self.begin + bytes.len() as u64 > self.bound {
            return Ok(false);
        }
        let at = self.end % self.bound;
        let (first, second) = bytes.split_at(self.up_to_bound(at, bytes.len()));
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(paths::temp_dir())?),
        };
        file.write_all_at(first, at)?;
        file.write_all_at(second, 0)?;
        self.end += bytes.len() as u64;
        Ok(true)
    }

    /// Takes whole lines into `batch`, or a piece of a line that is longer than a batch.
    fn take(&mut self, batch: &mut Vec<u8>) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let there = usize::try_from(self.end - self.begin).unwrap_or(usize::MAX);
        batch.resize(there.min(MEMORY + WIDE), 0);
        let at = self.begin % self.bound;
        let split = self.up_to_bound(at, batch.len());
        let (first, second) = batch.split_at_mut(split);
        file.read_exact_at(first, at)?;
        file.read_exact_at(second, 0)?;
        if let Some(last) = memrchr(b'\n', batch) {
            batch.truncate(last + 1);
        }
        self.begin += batch.len() as u64;
        if self.is_empty() {
            // This releases the disk space.
            file.set_len(0)?;
            (self.begin, self.end) = (0, 0);
        }
        Ok(())
    }

    /// How many of `length` bytes from `at` on are before the bound.
    fn up_to_bound(&self, at: u64, length: usize) -> usize {
        usize::try_from(self.bound - at).map_or(length, |room| room.min(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_reader_that_takes_nothing_delays_nothing_and_gets_everything_in_the_end() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut backlog = Backlog::new(Output::of(writer).unwrap());
        let line = |n: usize| format!("{{\"n\":{n},\"x\":\"{}\"}}\n", "x".repeat(n % 5000));
        let lines: Vec<u8> = (0..3000).flat_map(|n| line(n).into_bytes()).collect();
        for chunk in lines.chunks(60_000) {
            backlog.push(chunk).unwrap();
        }
        let rest = thread::spawn(move || {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).map(|_| all)
        });
        backlog.finish().unwrap();
        assert!(rest.join().unwrap().unwrap() == lines);
    }

    #[test]
    fn a_reader_that_leaves_is_an_error() {
        let (reader, writer) = io::pipe().unwrap();
        let mut backlog = Backlog::new(Output::of(writer).unwrap());
        drop(reader);
        let error = loop {
            if let Err(error) = backlog.push(b"line\n") {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_ring_wraps_and_refuses_what_does_not_fit() {
        let mut ring = FileRing::new(10);
        let mut batch = Vec::new();
        assert!(ring.add(b"abc\n").unwrap());
        assert!(ring.add(b"def\n").unwrap());
        assert!(!ring.add(b"ghi\n").unwrap());
        ring.take(&mut batch).unwrap();
        assert_eq!(batch, b"abc\ndef\n");
        assert!(ring.is_empty());
        assert!(ring.add(b"one\ntw").unwrap());
        ring.take(&mut batch).unwrap();
        assert_eq!(batch, b"one\n");
        assert!(ring.add(b"o\nthree").unwrap());
        ring.take(&mut batch).unwrap();
        assert_eq!(batch, b"two\n");
        ring.take(&mut batch).unwrap();
        assert_eq!(batch, b"three");
        assert!(ring.is_empty());
    }
}
