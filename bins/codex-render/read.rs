//! The stream, read as it comes.

use crate::NAME;
use crate::args::{Config, Source};
use common::edge::follow::{Change, Pace, Set, Told};
use common::edge::reader::Input;
use common::face::exit::Status;
use common::face::lossy_utf8::LossyUtf8;
use common::face::say;
use common::flow::event::{Event, EventLines};
use common::flow::sentinel::Reading;
use common::flow::stream::{Line, LineReader};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long is waited for what comes next before something is said that it might change. Codex writes events that
/// belong together within a fraction of that.
const PATIENCE: Duration = Duration::from_millis(4);

/// How often a growing file is looked at: soon enough for who watches it, where the kernel tells of no change.
const PACE: Pace = Pace { poll: Duration::from_millis(50), net: Duration::from_secs(1) };

/// Who hears the events of a stream.
pub trait Listener {
    /// An event, and its line.
    fn event(&mut self, event: Event<'_>, line: Line<'_>);

    /// Those were all events of a chunk. False when nothing more need be read.
    fn go_on(&mut self) -> bool {
        true
    }

    /// Whether the next event matters for what is said of the last one.
    fn is_curious(&self) -> bool {
        false
    }

    /// For now there is no next event.
    fn pause(&mut self) {}
}

/// Reads what `config` says, as long as `listener` listens. False when that is no stream of Codex, which is said: there
/// are lines, and none of them is an event.
pub fn events(config: &Config, listener: &mut impl Listener) -> Result<bool, Status> {
    let mut ear = Ear { listener, others: 0, unknown: 0, events: 0, until_sentinel: false, is_done: false };
    match &config.source {
        Source::Stdin => read(Input::stdin(), "standard input", &mut ear)?,
        Source::File(path) => read(Input::open(path), &path.display().to_string(), &mut ear)?,
        Source::Growing(path) => {
            ear.until_sentinel = true;
            follow(path, &mut ear)?;
        }
    }
    if config.verbose {
        let (others, unknown) = (ear.others, ear.unknown);
        say::line(
            NAME,
            &format!(
                "left out: lines that are no JSON objects: {others}; events of unknown types: {unknown}"
            ),
        );
    }
    let is_stream = ear.events > 0 || ear.others + ear.unknown == 0;
    if !is_stream {
        let name = match &config.source {
            Source::Stdin => "standard input".into(),
            Source::File(path) | Source::Growing(path) => path.display().to_string(),
        };
        let what = match ear.unknown {
            0 => "not JSONL: none of its lines is a JSON object",
            _ => "no event of codex exec --json in it",
        };
        say::line(NAME, &format!("{name}: {what}"));
    }
    Ok(is_stream)
}

fn read<L: Listener>(input: io::Result<Input>, name: &str, ear: &mut Ear<'_, L>) -> Result<(), Status> {
    let failed = |status: Status, error: io::Error| {
        say::line(NAME, &format!("{name}: read: {}", say::why(&error)));
        status
    };
    let mut input = input.map_err(|error| failed(Status::NO_INPUT, error))?;
    let mut lines = LossyLines::new();
    let mut status = Status::NO_INPUT;
    loop {
        // What opens and cannot be read at all, as a folder, is no input either.
        let chunk = input.read().map_err(|error| failed(status, error))?;
        if chunk.is_empty() {
            lines.end(ear);
            return Ok(());
        }
        status = Status::IO;
        lines.push(chunk, ear);
        if !ear.listener.go_on() {
            return Ok(());
        }
        if ear.listener.is_curious() && input.pauses_for(PATIENCE).map_err(|error| failed(status, error))? {
            ear.listener.pause();
        }
    }
}

fn follow<L: Listener>(path: &Path, ear: &mut Ear<'_, L>) -> Result<(), Status> {
    let name = path.display();
    if !path.exists() {
        say::line(NAME, &format!("{name}: not there yet: waiting for it"));
    }
    let mut set = Set::new([path.to_owned()], PACE);
    let mut lines = LossyLines::new();
    loop {
        let until = ear.listener.is_curious().then(|| Instant::now() + PATIENCE);
        let mut wrong = None;
        let mut is_pause = true;
        set.round(until, |_, told| {
            is_pause &= matches!(told, Told::Pause(_));
            match told {
                Told::Bytes(chunk) => {
                    lines.push(chunk, ear);
                    if !ear.listener.go_on() || ear.is_done {
                        return ControlFlow::Break(());
                    }
                }
                Told::Back => lines.rewind(),
                Told::Pause(_) => {}
                Told::Anew(change) => {
                    let what = match change {
                        Change::Replaced => "another file is there now",
                        Change::Truncated => "was cut",
                    };
                    say::line(NAME, &format!("{name}: {what}: read from its beginning"));
                    lines = LossyLines::new();
                }
                Told::Unreadable(error) => wrong = Some(say::why(&error)),
                Told::Irregular => wrong = Some("not a regular file".to_owned()),
            }
            ControlFlow::Continue(())
        });
        if let Some(why) = wrong {
            say::line(NAME, &format!("{name}: read: {why}"));
            return Err(Status::NO_INPUT);
        }
        if ear.is_done || !ear.listener.go_on() {
            return Ok(());
        }
        if is_pause {
            ear.listener.pause();
        }
    }
}

/// The lines of a stream whose bytes that are not UTF-8 are replaced.
struct LossyLines {
    decoder: LossyUtf8,
    reader: LineReader<EventLines>,
}

impl LossyLines {
    fn new() -> LossyLines {
        LossyLines { decoder: LossyUtf8::new(), reader: LineReader::new() }
    }

    fn push<L: Listener>(&mut self, chunk: &[u8], ear: &mut Ear<'_, L>) {
        self.reader.push(self.decoder.push(chunk).as_bytes(), |(event, line)| ear.line(event, line));
    }

    /// Drops the line that has begun: its writer took it back.
    fn rewind(&mut self) {
        self.decoder = LossyUtf8::new();
        self.reader.rewind();
    }

    fn end<L: Listener>(mut self, ear: &mut Ear<'_, L>) {
        self.reader.push(self.decoder.end().as_bytes(), |(event, line)| ear.line(event, line));
        // Nothing that matters could have been added to a whole object; any other last line is torn, and is nothing.
        if let Some((event, line)) = self.reader.finish()
            && line.is_object()
        {
            ear.line(event, line);
        }
    }
}

/// What is between a stream and a listener.
struct Ear<'a, L> {
    listener: &'a mut L,
    /// How many lines were neither objects nor blank.
    others: u64,
    /// How many objects were of no known type.
    unknown: u64,
    /// How many events there were.
    events: u64,
    /// Whether nothing after a sentinel is heard.
    until_sentinel: bool,
    /// Whether such a sentinel came.
    is_done: bool,
}

impl<L: Listener> Ear<'_, L> {
    fn line(&mut self, event: Event<'_>, line: Line<'_>) {
        if self.is_done {
            return;
        }
        match event {
            Event::NotObject | Event::Malformed => self.others += 1,
            Event::Other => self.unknown += 1,
            Event::Handoff => match Reading::of(line.scan) {
                Some(_) => {
                    self.events += 1;
                    self.is_done = self.until_sentinel;
                }
                None => self.unknown += 1,
            },
            Event::Blank => {}
            _ => self.events += 1,
        }
        self.listener.event(event, line);
    }
}
