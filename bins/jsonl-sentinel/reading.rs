//! What `seal` reads of the stream that it passes on: here or, when bulk goes through, beside the passing.
//!
//! Reading takes as long as passing, so with a thread of its own for it a replay of a large file takes half the time
//! (measured on 25 MB of short lines: 34 ms and 20 ms). A stream as an agent prints it never needs the thread, and
//! does not pay for it.

use common::edge::pump::WIDE;
use common::edge::worker::Worker;
use common::flow::event::{self, Event};
use common::flow::line::{Piece, pieces};
use common::flow::scan::Scanner;
use common::flow::sentinel::Standing;
use common::flow::verdict::Verdict;
use crossbeam_channel::{Receiver, Sender, bounded};

/// How many chunks may wait to be read.
const WAITING: usize = 4;

/// What was read of a stream so far.
#[derive(Debug)]
pub struct Reader {
    scanner: Scanner,
    /// What its events say.
    pub verdict: Verdict,
    /// What its sentinels say.
    pub standing: Standing,
}

impl Reader {
    fn new() -> Reader {
        Reader { scanner: event::turn_scanner(), verdict: Verdict::new(), standing: Standing::Open }
    }

    fn push(&mut self, bytes: &[u8]) {
        for piece in pieces(bytes) {
            match piece {
                Piece::Part(part) => self.scanner.push(part),
                Piece::End(rest) => {
                    self.scanner.push(rest.strip_suffix(b"\n").unwrap_or(rest));
                    let line = self.scanner.finish();
                    self.standing = self.standing.after(line);
                    self.verdict.observe(&Event::of_turns(line));
                }
            }
        }
    }
}

/// The reading of one stream.
#[derive(Debug)]
pub enum Reading {
    /// It is done where the stream is passed on.
    Here(Box<Reader>),
    /// It is done by a thread.
    Beside(Beside),
}

/// A thread that reads.
#[derive(Debug)]
pub struct Beside {
    chunks: Sender<Vec<u8>>,
    /// Chunks that were read, to be filled again.
    spare: Receiver<Vec<u8>>,
    reader: Receiver<Reader>,
}

impl Reading {
    /// Nothing was read.
    pub fn new() -> Reading {
        Reading::Here(Box::new(Reader::new()))
    }

    /// Reads `bytes`; `is_bulk` is whether many more are to be expected.
    pub fn push(&mut self, bytes: &[u8], is_bulk: bool) {
        // Where no thread is to be had it goes on here.
        if let (Reading::Here(reader), true) = (&mut *self, is_bulk)
            && let Ok(worker) = Worker::hire()
        {
            let reader = std::mem::replace(&mut **reader, Reader::new());
            *self = Reading::Beside(Beside::new(reader, worker));
        }
        match self {
            Reading::Here(reader) => reader.push(bytes),
            Reading::Beside(beside) => beside.push(bytes),
        }
    }

    /// What was read, once all is; `None` when the thread died.
    pub fn end(self) -> Option<Reader> {
        match self {
            Reading::Here(reader) => Some(*reader),
            Reading::Beside(Beside { chunks, reader, .. }) => {
                drop(chunks);
                reader.recv().ok()
            }
        }
    }
}

impl Beside {
    fn new(mut reader: Reader, worker: Worker) -> Beside {
        let (chunks, waiting) = bounded::<Vec<u8>>(WAITING);
        let (give_back, spare) = bounded(WAITING);
        let reader = worker.run(move || {
            for chunk in waiting {
                reader.push(&chunk);
                // One too many is as well made anew.
                let _ = give_back.try_send(chunk);
            }
            reader
        });
        Beside { chunks, spare, reader }
    }

    fn push(&self, bytes: &[u8]) {
        // A long line comes in one large piece, and no chunk is to grow to that.
        for part in bytes.chunks(WIDE) {
            let mut chunk = self.spare.try_recv().unwrap_or_else(|_| Vec::with_capacity(WIDE));
            chunk.clear();
            chunk.extend_from_slice(part);
            // That the thread has died is seen at the end.
            let _ = self.chunks.send(chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::flow::verdict::Turn;

    #[test]
    fn beside_the_passing_the_same_is_read() {
        let stream =
            b"{\"type\":\"turn.started\"}\n{\"type\":\"turn.completed\",\"usage\":{\"output_tokens\":7}}\n\
                       {\"type\":\"handoff.completed\"}\n";
        for bulk_from in 0..stream.len() {
            let mut reading = Reading::new();
            for (at, byte) in stream.chunks(1).enumerate() {
                reading.push(byte, at >= bulk_from);
            }
            let reader = reading.end().unwrap();
            assert_eq!(reader.verdict.turn(), Turn::Completed);
            assert_eq!(reader.verdict.output_tokens(), Some(7));
            assert_eq!(reader.standing, Standing::Settled { completed: true });
        }
    }
}
