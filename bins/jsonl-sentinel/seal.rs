//! `seal`: a stream passes, and gets the sentinel that it deserves.

use crate::reading::Reading;
use crate::{NAME, print};
use common::edge::line_chunks::LineChunks;
use common::edge::output::Output;
use common::edge::signals::Interrupt;
use common::face::exit::Status;
use common::face::say::{self, why};
use common::face::terminal::{JsonLines, Target};
use common::flow::cause::Cause;
use common::flow::record;
use common::flow::sentinel::{Reason, Sentinel, Standing};
use common::flow::verdict::{Turn, Verdict};
use std::io;
use std::time::Instant;

/// Seals stdin to stdout.
pub fn run() -> Status {
    let started = Instant::now();
    let mut stdout = match print::stdout() {
        Ok(stdout) => stdout,
        Err(status) => return status,
    };
    let mut line_chunks = match LineChunks::stdin() {
        Ok(line_chunks) => line_chunks,
        Err(error) => {
            let status = cannot_read(&error);
            // If that cannot be written either, more cannot be said.
            let _ = seal(&mut stdout, Standing::Open, &self::error(Status::IO, Some(Cause::Io), 0));
            return status;
        }
    };
    let mut stream = Stream::new(stdout);
    let passed = pass(&mut line_chunks, &mut stream);
    let signal = line_chunks.signal();
    let Stream { mut stdout, reading, .. } = stream;
    let Some(reader) = reading.end() else {
        say::line(NAME, "reading: its thread died");
        return Status::IO;
    };
    let elapsed = started.elapsed().as_secs();
    if let Err(status) = passed {
        // The line that did not fit is cut away, so that there may be room for this one. If not, more cannot be said.
        let _ = seal(&mut stdout, reader.standing, &error(Status::IO, Some(Cause::Io), elapsed));
        return status;
    }
    let sealed = seal(&mut stdout, reader.standing, &deserved(&reader.verdict, signal.is_some(), elapsed));
    let status = sealed.unwrap_or_else(|error| print::failed(&error));
    signal.map_or(status, Status::signal)
}

/// Passes everything on. The error is the status, and has been said.
fn pass(line_chunks: &mut LineChunks<Interrupt>, stream: &mut Stream) -> Result<(), Status> {
    loop {
        match line_chunks.take() {
            Ok(Some(lines)) => stream.pass(lines)?,
            Ok(None) => return stream.end(),
            Err(error) => {
                stream.pass(line_chunks.rest())?;
                stream.reading.push(line_chunks.rest());
                stream.end()?;
                return Err(cannot_read(&error));
            }
        }
        // Now, not before: who comes next need not wait for it.
        stream.reading.take(line_chunks);
    }
}

/// Says so, and gives the status.
fn cannot_read(error: &io::Error) -> Status {
    say::line(NAME, &format!("standard input: read: {}", why(error)));
    Status::IO
}

/// The sentinel that a stream deserves which did not fail to pass. An empty message is none, as for a launch.
fn deserved(verdict: &Verdict, cancelled: bool, elapsed_seconds: u64) -> Sentinel {
    let has_message = verdict.message().is_some_and(|message| !message.text.trim().is_empty());
    match verdict.turn() {
        Turn::Completed if has_message => {
            Sentinel::Completed { elapsed_seconds, output_tokens: verdict.output_tokens(), lingered: false }
        }
        _ if cancelled => Sentinel::Failed { reason: Reason::Cancelled, elapsed_seconds, cause: None },
        Turn::Completed => error(Status::NO_RESULT, Some(Cause::NoResult), elapsed_seconds),
        Turn::Failed => error(Status::NO, verdict.failure().and_then(Cause::named_in), elapsed_seconds),
        Turn::None | Turn::Open => error(Status::NO_RESULT, Some(Cause::Incomplete), elapsed_seconds),
    }
}

fn error(status: Status, cause: Option<Cause>, elapsed_seconds: u64) -> Sentinel {
    Sentinel::Failed { reason: Reason::Error { rc: status.code() }, elapsed_seconds, cause }
}

/// A stream that passes.
struct Stream {
    stdout: Output,
    /// The stream as stdout gets it.
    shown: JsonLines,
    reading: Reading,
    /// Whether what was passed on last does not end a line.
    is_in_line: bool,
}

impl Stream {
    fn new(stdout: Output) -> Stream {
        let shown = JsonLines::new(Target::of(&stdout));
        Stream { stdout, shown, reading: Reading::new(), is_in_line: false }
    }

    /// Passes bytes on, which are read afterwards.
    fn pass(&mut self, bytes: &[u8]) -> Result<(), Status> {
        self.stdout.lines(&self.shown.push(bytes)).map_err(|error| print::failed(&error))?;
        self.is_in_line = bytes.last().map_or(self.is_in_line, |&last| last != b'\n');
        Ok(())
    }

    /// Gives a last line without LF its LF.
    fn end(&mut self) -> Result<(), Status> {
        if self.is_in_line {
            self.pass(b"\n")?;
            self.reading.push(b"\n");
        }
        Ok(())
    }
}

/// Writes the sentinel, unless the stream has one, and gives the status that the stream's end says.
fn seal(stdout: &mut Output, standing: Standing, sentinel: &Sentinel) -> io::Result<Status> {
    let completed = match standing {
        Standing::Overrun => return Ok(Status::DATA),
        Standing::Settled { completed } => completed,
        Standing::Open => {
            stdout.lines(record::sentinel(sentinel).as_bytes())?;
            matches!(sentinel, Sentinel::Completed { .. })
        }
    };
    Ok(if completed { Status::DONE } else { Status::NO })
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::flow::event::{self, Event};

    /// The sentinel of a stream of these lines.
    fn sealed(lines: &[&str], cancelled: bool) -> String {
        let (mut scanner, mut verdict) = (event::scanner(), Verdict::new());
        for line in lines {
            scanner.push(line.as_bytes());
            verdict.observe(&Event::of(scanner.finish()));
        }
        record::sentinel(&deserved(&verdict, cancelled, 3))
    }

    const S: &str = r#"{"type":"turn.started"}"#;
    const M: &str = r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"ok"}}"#;
    const EMPTY: &str =
        r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"\n"}}"#;
    const C: &str = r#"{"type":"turn.completed","usage":{"output_tokens":7}}"#;
    const F: &str = r#"{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}"#;
    const E: &str = r#"{"type":"error","message":"Reconnecting... 1/5"}"#;

    #[test]
    fn a_stream_gets_what_it_deserves() {
        let failed = |rc: u8, cause: &str| {
            format!(
                "{{\"type\":\"handoff.failed\",\"reason\":\"error\",\"rc\":{rc},\"elapsed_seconds\":3,\"cause\":\"{cause}\"}}\n"
            )
        };
        let completed = "{\"type\":\"handoff.completed\",\"elapsed_seconds\":3,\"output_tokens\":7}\n";
        assert_eq!(sealed(&[S, M, C], false), completed);
        assert_eq!(sealed(&[S, E, M, C], false), completed);
        assert_eq!(sealed(&[C, S, M, C], false), completed);
        // A usage of all zeros is none: the server has sent none.
        let zeros = r#"{"type":"turn.completed","usage":{"input_tokens":0,"output_tokens":0}}"#;
        assert_eq!(sealed(&[S, M, zeros], false), "{\"type\":\"handoff.completed\",\"elapsed_seconds\":3}\n");
        assert_eq!(sealed(&[S, F], false), failed(1, "auth"));
        assert_eq!(sealed(&[S, M, C, S, F], false), failed(1, "auth"));
        assert_eq!(sealed(&[S, C], false), failed(70, "no-result"));
        assert_eq!(sealed(&[S, EMPTY, C], false), failed(70, "no-result"));
        for open in [&[][..], &[S], &[S, M], &[S, M, C, S], &[S, M, E], &["[", "junk"]] {
            assert_eq!(sealed(open, false), failed(70, "incomplete"), "{open:?}");
        }
    }

    #[test]
    fn a_stream_that_was_cut_short_is_cancelled_unless_it_completed() {
        let cancelled = "{\"type\":\"handoff.failed\",\"reason\":\"cancelled\",\"elapsed_seconds\":3}\n";
        for lines in [&[][..], &[S, M], &[S, F], &[S, C]] {
            assert_eq!(sealed(lines, true), cancelled);
        }
        assert_eq!(sealed(&[S, M, C], true), sealed(&[S, M, C], false));
    }
}
