//! A line that waits to be judged: in memory while it is short, in an unlinked temporary file beyond that.

use super::paths;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// How much waits in memory. A line up to this long is passed on in one write.
pub const MEMORY: usize = 1 << 20;

/// Bytes that wait.
#[derive(Debug)]
pub struct Spool {
    /// The first bytes, at most [`MEMORY`] of them.
    memory: Vec<u8>,
    /// What came after them; there only when the memory is full.
    file: Option<File>,
}

impl Spool {
    /// An empty spool.
    pub fn new() -> Spool {
        Spool { memory: Vec::new(), file: None }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    /// Adds `bytes` behind those that wait.
    ///
    /// # Errors
    /// When the temporary file cannot be made or written. What waits is incomplete then.
    pub fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (near, far) = bytes.split_at(bytes.len().min(MEMORY - self.memory.len()));
        self.memory.extend_from_slice(near);
        if far.is_empty() {
            return Ok(());
        }
        if self.file.is_none() {
            self.file = Some(tempfile::tempfile_in(paths::temp_dir())?);
        }
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(far))
    }

    /// Hands what waits to `each`, in order and in pieces of at most [`MEMORY`], and is empty afterwards.
    ///
    /// # Errors
    /// When the temporary file cannot be read, or of `each`, which is then not called again.
    pub fn take(&mut self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let file = self.file.take();
        let result = each(&self.memory).and_then(|()| file.map_or(Ok(()), |file| self.replay(file, each)));
        self.clear();
        result
    }

    /// Reads `file` through the memory, whose bytes have been handed over.
    fn replay(&mut self, mut file: File, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        file.seek(SeekFrom::Start(0))?;
        self.memory.resize(MEMORY, 0);
        loop {
            match file.read(&mut self.memory)? {
                0 => return Ok(()),
                count => each(&self.memory[..count])?,
            }
        }
    }

    /// Forgets what waits.
    pub fn clear(&mut self) {
        self.memory.clear();
        self.file = None;
    }
}

impl Default for Spool {
    fn default() -> Spool {
        Spool::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(spool: &mut Spool) -> (Vec<u8>, usize) {
        let (mut bytes, mut pieces) = (Vec::new(), 0);
        spool
            .take(|piece| {
                bytes.extend_from_slice(piece);
                pieces += 1;
                Ok(())
            })
            .unwrap();
        (bytes, pieces)
    }

    #[test]
    fn a_short_line_is_one_piece() {
        let mut spool = Spool::new();
        spool.push(b"ab").unwrap();
        spool.push(b"c").unwrap();
        assert_eq!(taken(&mut spool), (b"abc".to_vec(), 1));
        assert!(spool.is_empty());
    }

    #[test]
    fn a_long_line_goes_through_a_file_and_comes_out_whole() {
        let line: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
        let mut spool = Spool::new();
        for chunk in line.chunks(65_521) {
            spool.push(chunk).unwrap();
        }
        let (bytes, pieces) = taken(&mut spool);
        assert!(bytes == line);
        assert_eq!(pieces, 3);
        spool.push(b"next").unwrap();
        assert_eq!(taken(&mut spool).0, b"next");
    }

    #[test]
    fn a_failing_reader_stops_it_and_leaves_it_empty() {
        let mut spool = Spool::new();
        spool.push(&vec![7; MEMORY + 1]).unwrap();
        let mut calls = 0;
        let result = spool.take(|_| {
            calls += 1;
            Err(io::ErrorKind::BrokenPipe.into())
        });
        assert_eq!((result.is_err(), calls, spool.is_empty()), (true, 1, true));
    }
}
