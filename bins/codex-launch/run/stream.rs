//! Codex's stdout: each line is judged whole, and then goes to the progress file or to the noise.
//!
//! Lines that are JSON objects go to the progress file, byte for byte. Every other line is noise and goes where stderr goes.

use crate::prepare::resume::Wanted;
use crate::run::progress_file::ProgressFile;
use crate::run::session::Session;
use crate::run::stderr_sink::StderrSink;
use crate::run::supervise::Pulse;
use common::edge::hold::{Hold, Sink};
use common::edge::signals::Notice;
use common::flow::event::{Event, TurnLines};
use common::flow::sentinel::{Turn, Verdict};
use common::flow::stream::{LineReader, Step};
use crossbeam_channel::Sender;
use std::io;

/// What a stream needs to know.
#[derive(Debug)]
pub struct Wiring {
    /// Where events go.
    pub progress: Option<ProgressFile>,
    /// Where noise goes.
    pub stderr_sink: StderrSink,
    /// The thread that a resumed run must name.
    pub thread: Option<Wanted>,
    /// Where the thread's id is written.
    pub session: Option<Session>,
    /// Where the stream asks for the end of the run.
    pub notices: Sender<Notice>,
    /// Where the stream reports whether the turn is completed.
    pub pulse: Pulse,
}

/// The stdout of one run.
#[derive(Debug)]
pub struct Stream {
    reader: LineReader<TurnLines>,
    hold: Hold,
    policy: LinePolicy,
    sink: EventSink,
    pulse: Pulse,
}

/// What is known of a stream that has ended.
#[derive(Debug)]
pub struct Heard {
    /// What it says about the run.
    pub verdict: Verdict,
    /// The number of lines that were noise.
    pub noise: u64,
    /// Whether it named another thread than the one to resume.
    pub is_wrong_thread: bool,
    /// The session file.
    pub session: Option<Session>,
    /// The progress file, which has no sentinel yet.
    pub progress: Option<ProgressFile>,
    /// The first failure to write the progress file.
    pub progress_error: Option<io::Error>,
}

impl Stream {
    /// A stream at its beginning.
    pub fn new(wiring: Wiring) -> Stream {
        let Wiring { progress, stderr_sink, thread, session, notices, pulse } = wiring;
        Stream {
            reader: LineReader::new(),
            hold: Hold::new(),
            policy: LinePolicy {
                verdict: Verdict::new(),
                noise: 0,
                is_wrong_thread: false,
                thread,
                session,
                notices,
            },
            sink: EventSink { progress, error: None, stderr_sink },
            pulse,
        }
    }

    /// Takes a chunk. Adjacent lines of one kind are passed on in one write.
    pub fn push(&mut self, chunk: &[u8]) {
        self.pulse.busy();
        self.take(chunk);
        self.pulse.beat(self.policy.verdict.has_message() && self.policy.verdict.turn() == Turn::Completed);
    }

    fn take(&mut self, chunk: &[u8]) {
        let Stream { reader, hold, policy, sink, .. } = self;
        let mut held = hold.chunk(chunk);
        let mut rest = chunk;
        while let Some(step) = reader.read(&mut rest) {
            match step {
                Step::Part(part) => {
                    let is_refused = reader.is_malformed();
                    // An error loses noise alone.
                    let _ = held.part(part.len(), is_refused, sink);
                }
                Step::End(line, (event, _)) => {
                    let is_event = policy.line(&event);
                    let copies = if is_event { 0 } else { skip_copies(line, &mut rest) };
                    policy.noise += copies as u64;
                    let ended = held.end(line.len(), is_event, sink);
                    sink.lose_event(ended, is_event);
                    if copies > 0 {
                        let _ = held.end(copies * line.len(), false, sink);
                    }
                }
            }
        }
        let _ = held.flush(sink);
    }

    /// Takes the end of the stream, and closes its way to the stderr file. An unfinished last line that is a whole object
    /// gets its LF; any other is noise.
    pub fn end(mut self) -> Heard {
        if let Some((event, _)) = self.reader.finish() {
            let is_event = self.policy.line(&event);
            let lf: &[u8] = if is_event { b"\n" } else { b"" };
            let ended = self.hold.chunk(lf).end(lf.len(), is_event, &mut self.sink);
            self.sink.lose_event(ended, is_event);
        }
        let LinePolicy { verdict, noise, is_wrong_thread, session, .. } = self.policy;
        let EventSink { progress, error: progress_error, .. } = self.sink;
        Heard { verdict, noise, is_wrong_thread, session, progress, progress_error }
    }
}

/// Takes the copies of `line`, which is noise, off the front of `rest`; returns how many. A copy is judged as the line
/// itself, so a flood of one line is not scanned line by line.
fn skip_copies(line: &[u8], rest: &mut &[u8]) -> usize {
    let before = rest.len();
    while let Some(behind) = rest.strip_prefix(line) {
        *rest = behind;
    }
    (before - rest.len()) / line.len()
}

/// Decides for each line whether it is an event, and observes the events.
#[derive(Debug)]
struct LinePolicy {
    verdict: Verdict,
    noise: u64,
    is_wrong_thread: bool,
    /// The thread that a resumed run must name.
    thread: Option<Wanted>,
    session: Option<Session>,
    notices: Sender<Notice>,
}

impl LinePolicy {
    /// Returns whether the line belongs in the progress file. A line that claims to be the launcher's does not: Codex
    /// cannot say that its run is over.
    fn line(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Blank | Event::NotObject | Event::Malformed | Event::LauncherLine => {
                self.noise += 1;
                return false;
            }
            Event::ThreadStarted(Some(id)) => self.thread_started(id),
            _ => {}
        }
        self.verdict.observe(event);
        true
    }

    fn thread_started(&mut self, id: &str) {
        if self.thread.as_ref().is_some_and(|thread| !thread.is(id)) {
            self.is_wrong_thread = true;
            // The supervision of a run that is ending no longer receives notices, and needs none.
            let _ = self.notices.send(Notice::Halt);
        }
        if let Some(session) = &mut self.session {
            session.write(id);
        }
    }
}

/// Writes events to the progress file, and noise to where stderr goes. It keeps its errors, because the run goes on.
#[derive(Debug)]
struct EventSink {
    progress: Option<ProgressFile>,
    /// The first failure. No event is written after it, so the file holds the beginning of the stream without a gap.
    error: Option<io::Error>,
    stderr_sink: StderrSink,
}

impl EventSink {
    /// Writes to the progress file unless there is none or an earlier write failed.
    fn write(&mut self, write: impl FnOnce(&mut ProgressFile) -> io::Result<()>) {
        if let (Some(progress), None) = (&mut self.progress, &self.error) {
            self.error = write(progress).err();
        }
    }

    /// Keeps the error of a line that could not be held: an event is lost to the progress file. Lost noise is no failure of
    /// the run.
    fn lose_event(&mut self, ended: io::Result<()>, is_event: bool) {
        if let Err(error) = ended
            && is_event
            && self.progress.is_some()
        {
            self.error.get_or_insert(error);
        }
    }
}

impl Sink for EventSink {
    fn accept(&mut self, lines: &[u8]) -> io::Result<()> {
        self.write(|progress| progress.lines(lines));
        Ok(())
    }

    fn accept_long(
        &mut self,
        feed: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.write(|progress| progress.line_in_pieces(feed));
        Ok(())
    }

    fn refuse(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stderr_sink.noise(bytes);
        Ok(())
    }
}
