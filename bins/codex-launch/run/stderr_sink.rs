//! Where stderr goes, and noise with it: the ends of both are kept, and all of it goes to the stderr file.
//!
//! The file has a thread of its own. Its reader may take nothing for as long as it likes: nothing else stands still for
//! that, and at the end of the run it is given up.

use crate::finish::drain_deadline::DRAIN_GRACE;
use common::edge::output::Output;
use common::edge::pump::CHUNK;
use common::edge::worker::Worker;
use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded, select};
use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much of stderr is kept for the report.
const TAIL: usize = 4000;

/// How many chunks may wait for the file: one mebibyte.
const WAITING: usize = 16;

/// Where stderr goes, and noise with it; shared by those who have some.
#[derive(Debug, Clone)]
pub struct StderrSink {
    tails: Arc<Mutex<Tails>>,
    file: Option<Feed>,
}

#[derive(Debug, Default)]
struct Tails {
    /// The end of both, which is shown.
    all: Tail,
    /// The end of stderr alone, which can name a cause: noise may be half an item, and items never do.
    stderr: Tail,
}

/// The way to the file's thread.
#[derive(Debug, Clone)]
struct Feed {
    chunks: Sender<Vec<u8>>,
    /// Disconnected when the run is over.
    over: Receiver<Infallible>,
    pace: Arc<Pace>,
}

/// How the file's thread gets on.
#[derive(Debug, Default)]
struct Pace {
    /// How many chunks it has taken.
    taken: AtomicU64,
    /// Whether it was given up.
    given_up: AtomicBool,
}

/// The file's thread, for whoever waits for it. While this is there, the run is not over.
#[derive(Debug)]
pub struct Writer {
    /// What came of it, when the last [`StderrSink`] is gone and all is written.
    done: Receiver<Option<io::Error>>,
    over: Sender<Infallible>,
    pace: Arc<Pace>,
}

impl StderrSink {
    /// Nothing yet; without a file.
    pub fn new() -> StderrSink {
        StderrSink { tails: Arc::default(), file: None }
    }

    /// Nothing yet; all of it will go to `file` too.
    pub fn with_file(mut file: Output) -> io::Result<(StderrSink, Writer)> {
        let worker = Worker::spawn()?;
        let (chunks, incoming) = bounded::<Vec<u8>>(WAITING);
        let (is_over, over) = bounded(0);
        let pace = Arc::new(Pace::default());
        let count = Arc::clone(&pace);
        let done = worker.run(move || {
            let mut error = None;
            for chunk in incoming {
                // After a failure the rest is taken and dropped: the run goes on.
                if error.is_none() {
                    error = file.bytes(&chunk).err();
                }
                count.taken.fetch_add(1, Ordering::Relaxed);
            }
            error
        });
        let feed = Feed { chunks, over, pace: Arc::clone(&pace) };
        Ok((StderrSink { tails: Arc::default(), file: Some(feed) }, Writer { done, over: is_over, pace }))
    }

    /// Takes more of stderr.
    pub fn stderr(&self, bytes: &[u8]) {
        self.tails().stderr.push(bytes);
        self.noise(bytes);
    }

    /// Takes noise.
    pub fn noise(&self, bytes: &[u8]) {
        self.tails().all.push(bytes);
        let Some(feed) = &self.file else { return };
        bytes.chunks(CHUNK).for_each(|chunk| feed.send(chunk.to_vec()));
    }

    /// The ends that are kept: of stderr with noise, and of stderr alone.
    pub fn ends(&self) -> (String, String) {
        let tails = self.tails();
        (tails.all.text(), tails.stderr.text())
    }

    /// A panic in another thread cannot have left a tail half changed.
    fn tails(&self) -> MutexGuard<'_, Tails> {
        self.tails.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Feed {
    /// Hands `chunk` to the thread. While the run goes on, a file that takes nothing holds up Codex's stderr, as a
    /// full pipe would; when it is over, the file is given up.
    fn send(&self, chunk: Vec<u8>) {
        let mut waiting = Some(chunk);
        select! {
            send(self.chunks, waiting.take().unwrap_or_default()) -> _ => return,
            recv(self.over) -> _ => {}
        }
        let _ = self.pace.wait(|| {
            match self.chunks.send_timeout(waiting.take().unwrap_or_default(), DRAIN_GRACE) {
                Err(SendTimeoutError::Timeout(chunk)) => {
                    waiting = Some(chunk);
                    None
                }
                Ok(()) | Err(SendTimeoutError::Disconnected(_)) => Some(()),
            }
        });
    }
}

impl Writer {
    /// The run is over: nobody waits for the file any more unless it takes something now and then.
    pub fn run_is_over(self) -> Closing {
        let Writer { done, over, pace } = self;
        drop(over);
        Closing { done, pace }
    }
}

/// The file's thread after the run.
#[derive(Debug)]
pub struct Closing {
    done: Receiver<Option<io::Error>>,
    pace: Arc<Pace>,
}

impl Closing {
    /// Waits until all is written; every [`StderrSink`] must be gone. The failure to write it, if any.
    pub fn finish(self) -> Option<io::Error> {
        let end = self.pace.wait(|| match self.done.recv_timeout(DRAIN_GRACE) {
            Ok(error) => Some(error),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Some(io::Error::other("its thread died"))),
        });
        end.unwrap_or_else(|| Some(io::Error::other("its reader takes nothing")))
    }
}

impl Pace {
    /// Tries until something comes of it, as long as the file takes something between two tries; else gives it up.
    fn wait<T>(&self, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
        while !self.given_up.load(Ordering::Relaxed) {
            let before = self.taken.load(Ordering::Relaxed);
            if let Some(thing) = attempt() {
                return Some(thing);
            }
            if self.taken.load(Ordering::Relaxed) == before {
                self.given_up.store(true, Ordering::Relaxed);
            }
        }
        None
    }
}

/// The last [`TAIL`] bytes of a stream.
#[derive(Debug, Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
        self.0.drain(..self.0.len().saturating_sub(TAIL));
    }

    /// As text; a character that the cut went through is left out.
    fn text(&self) -> String {
        let is_rest = |byte: &&u8| self.0.len() == TAIL && **byte & 0xc0 == 0x80;
        let start = self.0.iter().take(3).take_while(is_rest).count();
        String::from_utf8_lossy(&self.0[start..]).into_owned()
    }
}
