//! What Codex prints: judged line by line and sent where it belongs.
//!
//! Lines that are JSON objects go to the progress file, byte for byte; everything else on stdout is noise and goes
//! where stderr goes. A line is judged whole before a byte of it is passed on.

use crate::prepare::resume::Wanted;
use crate::run::session::Session;
use crate::run::stderr_sink::StderrSink;
use crate::run::supervise::Pulse;
use common::edge::output::{Output, Settled};
use common::edge::signals::Notice;
use common::edge::spool::Spool;
use common::edge::temp_names::TempNames;
use common::flow::event::{self, Event};
use common::flow::line::Piece;
use common::flow::scan::Scanner;
use common::flow::sentinel::{Turn, Verdict};
use crossbeam_channel::Sender;
use std::io;

/// What a stream needs to know.
#[derive(Debug)]
pub struct Wiring {
    /// Where events go.
    pub progress: Option<Output>,
    /// Where noise goes.
    pub stderr_sink: StderrSink,
    /// The thread that it must be.
    pub thread: Option<Wanted>,
    /// Where the thread's id is written.
    pub session: Option<Session>,
    /// Whom to tell that the run must end.
    pub notices: Sender<Notice>,
    /// Where it is seen whether the work is done.
    pub pulse: Pulse,
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
            is_wrong_thread: false,
        }
    }

    /// Takes a chunk. Events that stand side by side in it are passed on in one write, and so is noise.
    pub fn push(&mut self, chunk: &[u8]) {
        self.wiring.pulse.busy();
        self.take(chunk);
        self.wiring.pulse.beat(self.verdict.has_message() && self.verdict.turn() == Turn::Completed);
    }

    fn take(&mut self, chunk: &[u8]) {
        // The bytes of `chunk` from `start` to `at` are whole lines of one kind that have not been passed on.
        let (mut start, mut at, mut are_events) = (0, 0, true);
        let mut rest = chunk;
        while let Some(piece) = self.scanner.take(&mut rest) {
            let (Piece::Part(bytes) | Piece::End(bytes)) = piece;
            let ends = matches!(piece, Piece::End(_));
            let is_event = ends && self.judge();
            let is_whole = ends && matches!(self.line, Line::Here);
            if !is_whole || is_event != are_events {
                self.pass(&chunk[start..at], are_events);
                (start, are_events) = (at, is_event);
            }
            at += bytes.len();
            if is_whole {
                if !is_event {
                    let more = blank_lines_behind(bytes, &mut rest);
                    at += more;
                    self.noise += 1 + more as u64;
                }
                continue;
            }
            start = at;
            if ends { self.end_line(bytes, is_event) } else { self.hold(bytes) }
        }
        self.pass(&chunk[start..at], are_events);
    }

    /// Takes the end of the stream. An unfinished last line that is a whole object gets its LF; any other is noise.
    pub fn end(&mut self) {
        if !matches!(self.line, Line::Here) {
            let is_event = self.judge();
            self.end_line(if is_event { b"\n" } else { b"" }, is_event);
        }
    }

    /// Compares the progress file with what was written to it, and puts it right; see [`Output::settle`].
    pub fn settle(&mut self, names: &TempNames) -> Option<Settled> {
        self.wiring.progress.as_mut().map(|progress| progress.settle(names))
    }

    /// Writes the last line, the sentinel, whatever came before; where events have to be given up for it, the one that
    /// says so. The failure is returned, and whether there is a sentinel all the same.
    pub fn seal(&mut self, sentinel: &str, if_lost: &str) -> (bool, Option<io::Error>) {
        let Some(progress) = &mut self.wiring.progress else { return (true, None) };
        match progress.last_line(sentinel.as_bytes(), if_lost.as_bytes()) {
            Ok(lost) => (true, lost),
            Err(error) => (false, Some(error)),
        }
    }

    /// Ends the current line and says whether it is an event that belongs in the progress file. A line that claims
    /// to be the launcher's does not: a child cannot say that its run is over.
    fn judge(&mut self) -> bool {
        let event = Event::of(self.scanner.finish());
        let is_event =
            !matches!(event, Event::Blank | Event::NotObject | Event::Malformed | Event::LauncherLine);
        if is_event {
            self.verdict.observe(&event);
        }
        if let Event::ThreadStarted(Some(id)) = event {
            if self.wiring.thread.as_ref().is_some_and(|thread| !thread.is(id)) {
                self.is_wrong_thread = true;
                // A run whose end is under way no longer listens, and needs not be told.
                let _ = self.wiring.notices.send(Notice::Halt);
            }
            if let Some(session) = &mut self.wiring.session {
                session.write(id);
            }
        }
        is_event
    }

    /// Passes on whole lines, which are events or noise.
    fn pass(&mut self, lines: &[u8], are_events: bool) {
        match are_events {
            _ if lines.is_empty() => {}
            true => self.write(|progress| progress.lines(lines)),
            false => self.wiring.stderr_sink.noise(lines),
        }
    }

    /// Writes to the progress file unless there is none or an earlier write failed: what is in it is then the
    /// beginning of the stream without a gap.
    fn write(&mut self, write: impl FnOnce(&mut Output) -> io::Result<()>) {
        if let (Some(progress), None) = (&mut self.wiring.progress, &self.progress_error) {
            self.progress_error = write(progress).err();
        }
    }

    /// Takes note that an event is lost to the progress file, if there is one.
    fn lose(&mut self, error: io::Error) {
        if self.wiring.progress.is_some() {
            self.progress_error.get_or_insert(error);
        }
    }

    /// Ends this stream's way to the stderr file.
    pub fn close_stderr_sink(&mut self) {
        self.wiring.stderr_sink = StderrSink::new();
    }

    /// What came of the session file.
    pub fn session(&mut self) -> Option<Session> {
        self.wiring.session.take()
    }

    /// Keeps a part of a line whose end is not there yet.
    fn hold(&mut self, part: &[u8]) {
        let stderr_sink = &self.wiring.stderr_sink;
        self.line = match std::mem::replace(&mut self.line, Line::Here) {
            Line::Noise => {
                stderr_sink.noise(part);
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
                        stderr_sink.noise(piece);
                        Ok(())
                    });
                    stderr_sink.noise(part);
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
            Line::Lost(error) if is_event => self.lose(error),
            Line::Waiting(mut spool) => match spool.push(rest) {
                Err(error) => self.lose(error),
                Ok(()) if is_event => {
                    self.write(|progress| progress.line_in_pieces(|write| spool.take(|piece| write(piece))));
                }
                Ok(()) => {
                    let stderr_sink = &self.wiring.stderr_sink;
                    // The temporary file failing now would cost only a part of the noise.
                    let _ = spool.take(|piece| {
                        stderr_sink.noise(piece);
                        Ok(())
                    });
                }
            },
            Line::Noise | Line::Here | Line::Lost(_) => self.wiring.stderr_sink.noise(rest),
        }
    }
}

/// Takes the empty lines that `rest` begins with off it where `line` is one; how many. Each is judged like the one
/// before it, so a flood of them is not judged line by line.
fn blank_lines_behind(line: &[u8], rest: &mut &[u8]) -> usize {
    if line != b"\n" {
        return 0;
    }
    let count = rest.iter().take_while(|&&byte| byte == b'\n').count();
    *rest = &rest[count..];
    count
}
