//! What Codex prints: judged line by line and sent where it belongs.
//!
//! Lines that are JSON objects go to the progress file, byte for byte; everything else on stdout is noise and goes
//! where stderr goes. A line is judged whole before a byte of it is passed on.

use common::edge::output::Output;
use common::edge::signals::Notice;
use common::edge::spool::Spool;
use common::flow::event::{self, Event};
use common::flow::line::{Piece, pieces};
use common::flow::scan::Scanner;
use common::flow::verdict::Verdict;
use crossbeam_channel::Sender;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much of stderr is kept for the report.
const TAIL: usize = 4000;

/// Where stderr goes, and noise with it.
#[derive(Debug)]
pub struct Aside {
    file: Option<Output>,
    /// The end of both, which is shown.
    all: Tail,
    /// The end of stderr alone, which can name a cause: noise may be half an item, and items never do.
    stderr: Tail,
    /// The first failure to write the file; nothing is written after it.
    pub error: Option<io::Error>,
}

impl Aside {
    /// Nothing yet; all of it will go to `file` too.
    pub fn new(file: Option<Output>) -> Arc<Mutex<Aside>> {
        Arc::new(Mutex::new(Aside { file, all: Tail::default(), stderr: Tail::default(), error: None }))
    }

    /// Takes more of stderr.
    pub fn stderr(&mut self, bytes: &[u8]) {
        self.stderr.push(bytes);
        self.noise(bytes);
    }

    /// Takes noise.
    pub fn noise(&mut self, bytes: &[u8]) {
        if let (Some(file), None) = (&mut self.file, &self.error) {
            self.error = file.bytes(bytes).err();
        }
        self.all.push(bytes);
    }

    /// The ends that are kept: of stderr with noise, and of stderr alone.
    pub fn tails(&self) -> (String, String) {
        (self.all.text(), self.stderr.text())
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

/// Opens a lock whose holder cannot have left it half changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a stream needs to know.
#[derive(Debug)]
pub struct Wiring {
    /// Where events go.
    pub progress: Option<Output>,
    /// Where noise goes.
    pub aside: Arc<Mutex<Aside>>,
    /// The thread that it must be.
    pub thread: Option<String>,
    /// Where the thread's id is written.
    pub session: Option<PathBuf>,
    /// Whom to tell that the run must end.
    pub notices: Sender<Notice>,
}

/// The stream of one run.
#[derive(Debug)]
pub struct Stream {
    wiring: Wiring,
    scanner: Scanner,
    line: Line,
    /// What the stream has said.
    pub verdict: Verdict,
    /// How many lines were noise.
    pub noise: u64,
    /// The first failure to write the progress file; no event is written after it.
    pub progress_error: Option<io::Error>,
    /// The failure to write the session file.
    pub session_error: Option<io::Error>,
    /// Whether it named another thread than the one to resume.
    pub is_wrong_thread: bool,
}

/// Where the beginning of a line that spans chunks is.
#[derive(Debug)]
enum Line {
    /// It began in this chunk, or has not begun.
    Here,
    /// It waits, and is valid so far.
    Waiting(Spool),
    /// It cannot be an event, and has gone to the noise already.
    Noise,
    /// It could not wait: the temporary file failed.
    Lost(io::Error),
}

impl Stream {
    /// A stream of which nothing has come yet.
    pub fn new(wiring: Wiring) -> Stream {
        Stream {
            wiring,
            scanner: event::scanner(),
            line: Line::Here,
            verdict: Verdict::new(),
            noise: 0,
            progress_error: None,
            session_error: None,
            is_wrong_thread: false,
        }
    }

    /// Takes a chunk. Events that stand side by side in it are passed on in one write.
    pub fn push(&mut self, chunk: &[u8]) {
        // The bytes of `chunk` from `start` to `at` are events that have not been passed on.
        let (mut start, mut at) = (0, 0);
        for piece in pieces(chunk) {
            let (Piece::Part(bytes) | Piece::End(bytes)) = piece;
            let ends = matches!(piece, Piece::End(_));
            self.scanner.push(bytes.strip_suffix(b"\n").unwrap_or(bytes));
            let is_event = ends && self.judge();
            if !(is_event && matches!(self.line, Line::Here)) {
                self.pass(&chunk[start..at]);
                start = at + bytes.len();
                if ends { self.end_line(bytes, is_event) } else { self.hold(bytes) }
            }
            at += bytes.len();
        }
        self.pass(&chunk[start..at]);
    }

    /// Takes the end of the stream. An unfinished last line that is a whole object gets its LF; any other is noise.
    pub fn end(&mut self) {
        if !matches!(self.line, Line::Here) {
            let is_event = self.judge();
            self.end_line(if is_event { b"\n" } else { b"" }, is_event);
        }
    }

    /// Writes the last line, the sentinel, whatever came before.
    pub fn seal(&mut self, sentinel: &str) -> io::Result<()> {
        self.wiring.progress.as_mut().map_or(Ok(()), |progress| progress.lines(sentinel.as_bytes()))
    }

    /// Ends the current line and says whether it is an event that belongs in the progress file. A line that claims
    /// to be the launcher's does not: a child cannot say that its run is over.
    fn judge(&mut self) -> bool {
        let event = Event::of(self.scanner.finish());
        let is_event = !matches!(event, Event::Blank | Event::NotObject | Event::Malformed | Event::Handoff);
        if is_event {
            self.verdict.observe(&event);
        }
        if let Event::ThreadStarted(Some(id)) = event {
            let wiring = &self.wiring;
            if wiring.thread.as_ref().is_some_and(|thread| !thread.eq_ignore_ascii_case(id)) {
                self.is_wrong_thread = true;
                // A run whose end is under way no longer listens, and needs not be told.
                let _ = wiring.notices.send(Notice::Halt);
            }
            if let Some(path) = &wiring.session {
                self.session_error = common::edge::replace::file(path, format!("{id}\n").as_bytes()).err();
            }
        }
        is_event
    }

    /// Passes on events.
    fn pass(&mut self, lines: &[u8]) {
        if !lines.is_empty() {
            self.write(|progress| progress.lines(lines));
        }
    }

    /// Writes to the progress file unless there is none or an earlier write failed: what is in it is then the
    /// beginning of the stream without a gap.
    fn write(&mut self, write: impl FnOnce(&mut Output) -> io::Result<()>) {
        if let (Some(progress), None) = (&mut self.wiring.progress, &self.progress_error) {
            self.progress_error = write(progress).err();
        }
    }

    /// Keeps a part of a line whose end is not there yet.
    fn hold(&mut self, part: &[u8]) {
        let mut aside = lock(&self.wiring.aside);
        self.line = match std::mem::replace(&mut self.line, Line::Here) {
            Line::Noise => {
                aside.noise(part);
                Line::Noise
            }
            Line::Lost(error) => Line::Lost(error),
            line => {
                let mut spool = match line {
                    Line::Waiting(spool) => spool,
                    _ => Spool::new(),
                };
                if self.scanner.is_malformed() {
                    let _ = spool.take(|piece| {
                        aside.noise(piece);
                        Ok(())
                    });
                    aside.noise(part);
                    Line::Noise
                } else {
                    spool.push(part).map_or_else(Line::Lost, |()| Line::Waiting(spool))
                }
            }
        };
    }

    /// Sends a line that ends in `rest`, what was kept of it first, where it belongs.
    fn end_line(&mut self, rest: &[u8], is_event: bool) {
        if !is_event {
            self.noise += 1;
        }
        match std::mem::replace(&mut self.line, Line::Here) {
            Line::Lost(error) if is_event => {
                self.progress_error.get_or_insert(error);
            }
            Line::Waiting(mut spool) => match spool.push(rest) {
                Err(error) => {
                    self.progress_error.get_or_insert(error);
                }
                Ok(()) if is_event => {
                    self.write(|progress| progress.line_in_pieces(|write| spool.take(|piece| write(piece))));
                }
                Ok(()) => {
                    let mut aside = lock(&self.wiring.aside);
                    // The temporary file failing now would cost only a part of the noise.
                    let _ = spool.take(|piece| {
                        aside.noise(piece);
                        Ok(())
                    });
                }
            },
            Line::Noise | Line::Here | Line::Lost(_) => lock(&self.wiring.aside).noise(rest),
        }
    }
}
