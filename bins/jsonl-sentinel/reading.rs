//! What `seal` reads of the stream that it passes on: here or, when bulk goes through, beside the passing.
//!
//! Reading takes as long as passing, so with a thread of its own for it a replay of a large file takes half the time
//! (measured on 25 MB of short lines: 34 ms and 20 ms). A stream as an agent prints it never needs the thread, and
//! does not pay for it.

use common::edge::line_chunks::{Chunk, LineChunks};
use common::edge::pump::{CHUNK, WIDE};
use common::edge::worker::Worker;
use common::flow::event::{self, Event};
use common::flow::line::Piece;
use common::flow::scan::Scanner;
use common::flow::sentinel::Standing;
use common::flow::verdict::Verdict;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::os::fd::AsFd;

/// How many chunks may wait to be read.
const WAITING: usize = 2;

/// Up to which size a buffer is handed over. What came in a larger one, which has had a long line, is copied: there is
/// one that has grown, and not as many as there are chunks.
const HANDY: usize = WIDE + CHUNK;

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
        let mut rest = bytes;
        while let Some(piece) = self.scanner.take(&mut rest) {
            if let Piece::End(_) = piece {
                let line = self.scanner.finish();
                self.standing = self.standing.after(line);
                self.verdict.observe(&Event::of_turns(line));
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
    chunks: Sender<Chunk>,
    /// Chunks that were read, to be filled again.
    spare: Receiver<Chunk>,
    reader: Receiver<Reader>,
}

impl Reading {
    /// Nothing was read.
    pub fn new() -> Reading {
        Reading::Here(Box::new(Reader::new()))
    }

    /// Reads what `line_chunks` has handed out.
    pub fn take<S: AsFd>(&mut self, line_chunks: &mut LineChunks<S>) {
        // Where no thread is to be had it goes on here.
        if let (Reading::Here(reader), true) = (&mut *self, line_chunks.is_bulk())
            && let Ok(worker) = Worker::spawn()
        {
            let reader = std::mem::replace(&mut **reader, Reader::new());
            *self = Reading::Beside(Beside::new(reader, worker));
        }
        match self {
            Reading::Beside(beside) if line_chunks.size() <= HANDY => {
                beside.send(line_chunks.give(beside.spare()));
            }
            _ => self.push(line_chunks.given()),
        }
    }

    /// Reads `bytes`.
    pub fn push(&mut self, bytes: &[u8]) {
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
        let (chunks, waiting) = bounded::<Chunk>(WAITING);
        let (give_back, spare) = bounded(WAITING + 1);
        let reader = worker.run(move || {
            for chunk in waiting {
                reader.push(chunk.bytes());
                // One too many is as well made anew.
                let _ = give_back.try_send(chunk);
            }
            reader
        });
        Beside { chunks, spare, reader }
    }

    fn push(&self, bytes: &[u8]) {
        for part in bytes.chunks(WIDE) {
            let mut chunk = self.spare();
            chunk.fill(part);
            self.send(chunk);
        }
    }

    fn spare(&self) -> Chunk {
        self.spare.try_recv().unwrap_or_default()
    }

    fn send(&self, chunk: Chunk) {
        // That the thread has died is seen at the end.
        let _ = self.chunks.send(chunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::edge::pump::Source;
    use common::flow::verdict::Turn;
    use std::io::{self, Write};

    #[test]
    fn bulk_is_read_as_it_was_passed_on() {
        let (reader, mut writer) = io::pipe().unwrap();
        let (never, _open) = io::pipe().unwrap();
        let item = |length| {
            let text = "x".repeat(length);
            format!(
                "{{\"type\":\"item.completed\",\"item\":{{\"id\":\"item_0\",\"type\":\"agent_message\",\"text\":\"{text}\"}}}}\n"
            )
        };
        let lines = [item(100).repeat(20_000), item(3 << 20), item(7).repeat(20_000)].concat();
        let feeder = std::thread::spawn(move || {
            writer.write_all(lines.as_bytes()).unwrap();
            writer.write_all(b"{\"type\":\"turn.completed\",\"usage\":{\"output_tokens\":7}}\n").unwrap();
        });
        let mut line_chunks = LineChunks::new(Source::new(reader.into(), never));
        let mut reading = Reading::new();
        while line_chunks.take().unwrap().is_some() {
            reading.take(&mut line_chunks);
        }
        feeder.join().unwrap();
        assert!(matches!(reading, Reading::Beside(_)));
        let verdict = reading.end().unwrap().verdict;
        assert_eq!((verdict.turn(), verdict.output_tokens()), (Turn::Completed, Some(7)));
        assert_eq!(verdict.message().unwrap().text, "x".repeat(7));
    }

    #[test]
    fn beside_the_passing_the_same_is_read() {
        let stream =
            b"{\"type\":\"turn.started\"}\n{\"type\":\"turn.completed\",\"usage\":{\"output_tokens\":7}}\n\
                       {\"type\":\"handoff.completed\"}\n";
        for size in 1..stream.len() {
            let mut reading = Reading::Beside(Beside::new(Reader::new(), Worker::spawn().unwrap()));
            stream.chunks(size).for_each(|bytes| reading.push(bytes));
            let reader = reading.end().unwrap();
            assert_eq!(reader.verdict.turn(), Turn::Completed);
            assert_eq!(reader.verdict.output_tokens(), Some(7));
            assert_eq!(reader.standing, Standing::Settled { completed: true });
        }
    }
}
