//! The events of a stream, read as they come.

use crate::NAME;
use crate::args::{EventSource, RenderConfig};
use common::edge::follow::{Change, FileChange, Pace, Set};
use common::edge::reader::Input;
use common::face::exit::Status;
use common::face::lossy_utf8::LossyUtf8;
use common::face::printed::Printed;
use common::face::say;
use common::flow::event::{Event, EventLines};
use common::flow::sentinel::ReadSentinel;
use common::flow::stream::{Line, LineReader};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// After this time without an event the input counts as paused. Codex writes events that belong together within a
/// fraction of it.
const PAUSE: Duration = Duration::from_millis(4);

/// How often a followed file is polled where the kernel gives no notice of changes, and how often otherwise.
const PACE: Pace = Pace { poll: Duration::from_millis(50), net: Duration::from_secs(1) };

/// What consumes the events of a stream.
pub trait EventSink {
    /// Takes an event and its line.
    fn event(&mut self, event: Event<'_>, line: Line<'_>);

    /// Ends a chunk of events. Returns false when no more need be read.
    fn end_chunk(&mut self) -> bool {
        true
    }

    /// Whether the next event can change how the last one is shown.
    fn awaits_next(&self) -> bool {
        false
    }

    /// Takes notice that the input pauses.
    fn pause(&mut self) {}
}

/// How many lines of each kind were read. Blank lines are not counted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct LineCounts {
    /// Events of known types, and sentinels.
    events: u64,
    /// JSON objects of unknown types.
    unknown: u64,
    /// Lines that are not JSON objects.
    not_objects: u64,
}

impl LineCounts {
    fn add(&mut self, event: &Event<'_>, is_sentinel: bool) {
        match event {
            Event::Blank => {}
            Event::NotObject | Event::Malformed => self.not_objects += 1,
            Event::Other => self.unknown += 1,
            Event::LauncherLine if !is_sentinel => self.unknown += 1,
            _ => self.events += 1,
        }
    }

    /// Why this is not a stream of Codex, in one line; `None` when it is one, or there are no lines.
    pub fn fault(&self, source: &EventSource) -> Option<String> {
        let what = match *self {
            LineCounts { events: 0, unknown: 0, not_objects: 0 } => return None,
            LineCounts { events: 0, unknown: 0, .. } => "not JSONL: none of its lines is a JSON object",
            LineCounts { events: 0, .. } => "no event of codex exec --json in it",
            _ => return None,
        };
        Some(format!("{}: {what}", source.name()))
    }
}

/// Reads the events of the source in `config` into `sink`, until the source ends or the sink needs no more.
///
/// # Errors
/// When the source cannot be read.
pub fn events(config: &RenderConfig, sink: &mut impl EventSink) -> Result<LineCounts, Printed> {
    let mut reader = EventReader::new(sink);
    match &config.source {
        EventSource::Stdin => reader.read_to_end(Input::stdin(), &config.source)?,
        EventSource::File(path) => reader.read_to_end(Input::open(path), &config.source)?,
        EventSource::Growing(path) => reader.follow(path)?,
    }
    let counts = reader.counts;
    if config.verbose {
        let LineCounts { not_objects, unknown, .. } = counts;
        let message = format!(
            "left out: lines that are no JSON objects: {not_objects}; events of unknown types: {unknown}"
        );
        say::line(NAME, &message);
    }
    Ok(counts)
}

/// Reads chunks of a stream, and gives each event to a sink. Bytes that are not UTF-8 are replaced.
struct EventReader<'a, S> {
    decoder: LossyUtf8,
    lines: LineReader<EventLines>,
    sink: &'a mut S,
    counts: LineCounts,
    /// Whether a sentinel came.
    has_sentinel: bool,
    /// Whether a sentinel ends the stream: events after it are ignored.
    stops_at_sentinel: bool,
}

impl<'a, S: EventSink> EventReader<'a, S> {
    fn new(sink: &'a mut S) -> EventReader<'a, S> {
        EventReader {
            decoder: LossyUtf8::new(),
            lines: LineReader::new(),
            sink,
            counts: LineCounts::default(),
            has_sentinel: false,
            stops_at_sentinel: false,
        }
    }

    fn read_to_end(&mut self, input: io::Result<Input>, source: &EventSource) -> Result<(), Printed> {
        let failed = |status, error: io::Error| {
            Printed::message(NAME, status, &format!("{}: read: {}", source.name(), say::why(&error)))
        };
        let mut input = input.map_err(|error| failed(Status::NO_INPUT, error))?;
        // A folder, for example, can be opened and not be read.
        let mut status = Status::NO_INPUT;
        loop {
            let chunk = input.read().map_err(|error| failed(status, error))?;
            if chunk.is_empty() {
                self.finish();
                return Ok(());
            }
            status = Status::IO;
            self.push(chunk);
            if !self.sink.end_chunk() {
                return Ok(());
            }
            if self.sink.awaits_next() && input.pauses_for(PAUSE).map_err(|error| failed(status, error))? {
                self.sink.pause();
            }
        }
    }

    /// Follows the file at `path` to its sentinel.
    fn follow(&mut self, path: &Path) -> Result<(), Printed> {
        self.stops_at_sentinel = true;
        let name = path.display();
        if !path.exists() {
            say::line(NAME, &format!("{name}: not there yet: waiting for it"));
        }
        let mut set = Set::new([path.to_owned()], PACE);
        loop {
            let until = self.sink.awaits_next().then(|| Instant::now() + PAUSE);
            let (mut is_over, mut is_pause, mut fault) = (false, true, None);
            set.round(until, |_, news| {
                is_pause &= matches!(news, FileChange::Pause(_));
                match news {
                    FileChange::Bytes(chunk) => {
                        self.push(chunk);
                        is_over = !self.sink.end_chunk() || self.has_sentinel;
                    }
                    FileChange::Rewind => self.drop_line(),
                    FileChange::Pause(_) => {}
                    FileChange::Restart(change) => {
                        let what = match change {
                            Change::Replaced => "another file is there now",
                            Change::Truncated => "was cut",
                        };
                        say::line(NAME, &format!("{name}: {what}: read from its beginning"));
                        self.restart();
                    }
                    FileChange::Unreadable(error) => fault = Some(say::why(&error)),
                    FileChange::Irregular => fault = Some("not a regular file".to_owned()),
                }
                if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if let Some(why) = fault {
                return Err(Printed::message(NAME, Status::NO_INPUT, &format!("{name}: read: {why}")));
            }
            if is_over || !self.sink.end_chunk() {
                return Ok(());
            }
            if is_pause {
                self.sink.pause();
            }
        }
    }

    fn push(&mut self, chunk: &[u8]) {
        let text = self.decoder.push(chunk);
        self.push_text(&text);
    }

    fn push_text(&mut self, text: &str) {
        // The fields are borrowed one by one, because the reader lends its lines to the closure.
        let EventReader { lines, sink, counts, has_sentinel, stops_at_sentinel, .. } = self;
        lines.push(text.as_bytes(), |(event, line)| {
            if !(*has_sentinel && *stops_at_sentinel) {
                *has_sentinel |= give(event, line, *sink, counts);
            }
        });
    }

    /// Takes the end of the stream. A last line without LF counts when it is a whole object; otherwise it is torn.
    fn finish(&mut self) {
        let text = self.decoder.end();
        self.push_text(text);
        if let Some((event, line)) = self.lines.finish()
            && line.is_object()
        {
            give(event, line, self.sink, &mut self.counts);
        }
    }

    /// Drops the line that has begun: its writer took it back.
    fn drop_line(&mut self) {
        self.decoder = LossyUtf8::new();
        self.lines.rewind();
    }

    /// Begins anew, at the beginning of another file.
    fn restart(&mut self) {
        self.decoder = LossyUtf8::new();
        self.lines = LineReader::new();
    }
}

/// Counts an event and gives it to `sink`. Returns whether it is a sentinel.
fn give(event: Event<'_>, line: Line<'_>, sink: &mut impl EventSink, counts: &mut LineCounts) -> bool {
    let is_sentinel = matches!(event, Event::LauncherLine) && ReadSentinel::of(line.scan).is_some();
    counts.add(&event, is_sentinel);
    sink.event(event, line);
    is_sentinel
}
