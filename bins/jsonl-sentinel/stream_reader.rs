//! Reads the stream that `seal` passes on: in the same thread or, when much comes, in a thread of its own.
//!
//! Reading takes as long as passing on, so a thread of its own halves the time for a large file (25 MB of short lines: 20 ms
//! instead of 34 ms). A stream as an agent prints it never gets the thread, and does not pay for it.

use common::edge::line_chunks::{Chunk, LineChunks};
use common::edge::pump::{CHUNK, WIDE};
use common::edge::worker::Worker;
use common::flow::event::TurnLines;
use common::flow::sentinel::{Position, Verdict};
use common::flow::stream::LineReader;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::os::fd::AsFd;

/// The maximum number of chunks that wait for the thread.
const QUEUE: usize = 2;

/// The maximum size of a buffer that is handed to the thread. A larger one has had a long line in it and is copied
/// instead, so that only one buffer is that large.
const HANDOVER_CAP: usize = WIDE + CHUNK;

/// What was read of a stream so far.
#[derive(Debug)]
pub struct StreamState {
    lines: LineReader<TurnLines>,
    /// What its events say.
    pub verdict: Verdict,
    /// Where its sentinel stands.
    pub position: Position,
}

impl StreamState {
    fn new() -> StreamState {
        StreamState { lines: LineReader::new(), verdict: Verdict::new(), position: Position::Missing }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.lines.push(bytes, |(event, line)| {
            self.position = self.position.after(line);
            self.verdict.observe(&event);
        });
    }
}

/// Reads one stream.
#[derive(Debug)]
pub enum StreamReader {
    /// It reads in the thread that passes the stream on.
    Inline(Box<StreamState>),
    /// It reads in a thread of its own.
    Threaded(ReaderThread),
}

/// A thread that reads.
#[derive(Debug)]
pub struct ReaderThread {
    chunks: Sender<Chunk>,
    /// Chunks that were read, to be filled again.
    spare: Receiver<Chunk>,
    result: Receiver<StreamState>,
}

impl StreamReader {
    /// A reader at the beginning of a stream.
    pub fn new() -> StreamReader {
        StreamReader::Inline(Box::new(StreamState::new()))
    }

    /// Reads the bytes that `line_chunks` handed out last. Where a thread is wanted and cannot be had, it goes on without.
    pub fn take<S: AsFd>(&mut self, line_chunks: &mut LineChunks<S>) {
        if let (StreamReader::Inline(state), true) = (&mut *self, line_chunks.is_bulk())
            && let Ok(worker) = Worker::spawn()
        {
            let state = std::mem::replace(&mut **state, StreamState::new());
            *self = StreamReader::Threaded(ReaderThread::new(state, worker));
        }
        match self {
            StreamReader::Threaded(thread) if line_chunks.size() <= HANDOVER_CAP => {
                thread.send(line_chunks.give(thread.spare()));
            }
            _ => self.push(line_chunks.given()),
        }
    }

    /// Reads `bytes`.
    pub fn push(&mut self, bytes: &[u8]) {
        match self {
            StreamReader::Inline(state) => state.push(bytes),
            StreamReader::Threaded(thread) => thread.push(bytes),
        }
    }

    /// The state after all that was pushed; `None` when the thread panicked.
    pub fn end(self) -> Option<StreamState> {
        match self {
            StreamReader::Inline(state) => Some(*state),
            StreamReader::Threaded(ReaderThread { chunks, result, .. }) => {
                drop(chunks);
                result.recv().ok()
            }
        }
    }
}

impl ReaderThread {
    fn new(mut state: StreamState, worker: Worker) -> ReaderThread {
        let (chunks, queue) = bounded::<Chunk>(QUEUE);
        let (give_back, spare) = bounded(QUEUE + 1);
        let result = worker.run(move || {
            for chunk in queue {
                state.push(chunk.bytes());
                // A chunk that finds no place here is dropped, and a new one made when it is needed.
                let _ = give_back.try_send(chunk);
            }
            state
        });
        ReaderThread { chunks, spare, result }
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
        // It fails when the thread has panicked, which `end` reports.
        let _ = self.chunks.send(chunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::edge::pump::Source;
    use common::flow::sentinel::Turn;
    use std::io::{self, Write};

    #[test]
    fn bulk_gets_a_thread_and_is_read_whole() {
        let (pipe, mut writer) = io::pipe().unwrap();
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
        let mut line_chunks = LineChunks::new(Source::new(pipe.into(), never));
        let mut reader = StreamReader::new();
        while line_chunks.take().unwrap().is_some() {
            reader.take(&mut line_chunks);
        }
        feeder.join().unwrap();
        assert!(matches!(reader, StreamReader::Threaded(_)));
        let verdict = reader.end().unwrap().verdict;
        assert_eq!((verdict.turn(), verdict.output_tokens()), (Turn::Completed, Some(7)));
        assert_eq!(verdict.message().unwrap().text, "x".repeat(7));
    }

    #[test]
    fn a_thread_reads_the_same_under_every_cut() {
        let stream =
            b"{\"type\":\"turn.started\"}\n{\"type\":\"turn.completed\",\"usage\":{\"output_tokens\":7}}\n\
                       {\"type\":\"handoff.completed\"}\n";
        for size in 1..stream.len() {
            let thread = ReaderThread::new(StreamState::new(), Worker::spawn().unwrap());
            let mut reader = StreamReader::Threaded(thread);
            stream.chunks(size).for_each(|bytes| reader.push(bytes));
            let state = reader.end().unwrap();
            assert_eq!(state.verdict.turn(), Turn::Completed);
            assert_eq!(state.verdict.output_tokens(), Some(7));
            assert_eq!(state.position, Position::Last { is_completed: true });
        }
    }
}
