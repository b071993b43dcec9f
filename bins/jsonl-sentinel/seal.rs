//! `seal`: passes a stream on, and writes the sentinel that follows from it.

use crate::stream_reader::StreamReader;
use crate::{NAME, print};
use common::edge::line_chunks::LineChunks;
use common::edge::output::Output;
use common::edge::signals::Interrupt;
use common::face::exit::Status;
use common::face::say::{self, why};
use common::face::terminal::{JsonLines, Target};
use common::flow::cause::Cause;
use common::flow::sentinel::{Decision, Position, Reason, Rule, Sentinel, Verdict};
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
            // If this cannot be written either, stderr has the reason.
            let _ = seal(&mut stdout, Position::Missing, &self::error(Status::IO, Some(Cause::Io), 0));
            return status;
        }
    };
    let mut stream = Stream::new(stdout);
    let passed = pass(&mut line_chunks, &mut stream);
    let signal = line_chunks.signal();
    let Stream { mut stdout, reader, .. } = stream;
    let Some(state) = reader.end() else {
        say::line(NAME, "reading: its thread panicked");
        return Status::IO;
    };
    let elapsed = started.elapsed().as_secs();
    if let Err(status) = passed {
        // The line that did not fit was cut off, so there may be room for this one. If not, stderr has the reason.
        let _ = seal(&mut stdout, state.position, &error(Status::IO, Some(Cause::Io), elapsed));
        return status;
    }
    let sentinel = sentinel_of(&state.verdict, signal.is_some(), elapsed);
    let sealed = seal(&mut stdout, state.position, &sentinel);
    let status = sealed.unwrap_or_else(|error| print::failed(&error));
    signal.map_or(status, Status::signal)
}

/// Passes the whole input on. The error is the status, and has been printed.
fn pass(line_chunks: &mut LineChunks<Interrupt>, stream: &mut Stream) -> Result<(), Status> {
    loop {
        match line_chunks.take() {
            Ok(Some(lines)) => stream.pass(lines)?,
            Ok(None) => return stream.end(),
            Err(error) => {
                stream.pass(line_chunks.rest())?;
                stream.reader.push(line_chunks.rest());
                stream.end()?;
                return Err(cannot_read(&error));
            }
        }
        // After the lines went out: the next program of the pipeline does not wait for the reading.
        stream.reader.take(line_chunks);
    }
}

/// Prints that stdin cannot be read, and returns the status.
fn cannot_read(error: &io::Error) -> Status {
    say::line(NAME, &format!("standard input: read: {}", why(error)));
    Status::IO
}

/// The sentinel of a stream that was passed on whole.
fn sentinel_of(verdict: &Verdict, is_cancelled: bool, elapsed_seconds: u64) -> Sentinel {
    match verdict.decide(Rule::TurnCompleted, verdict.has_message()) {
        Decision::Completed => {
            Sentinel::Completed { elapsed_seconds, output_tokens: verdict.output_tokens(), lingered: false }
        }
        _ if is_cancelled => Sentinel::Failed { reason: Reason::Cancelled, elapsed_seconds, cause: None },
        Decision::NoAnswer => error(Status::NO_RESULT, Some(Cause::NoResult), elapsed_seconds),
        Decision::Failed => error(Status::NO, verdict.failure().and_then(Cause::named_in), elapsed_seconds),
        Decision::Incomplete => error(Status::NO_RESULT, Some(Cause::Incomplete), elapsed_seconds),
    }
}

fn error(status: Status, cause: Option<Cause>, elapsed_seconds: u64) -> Sentinel {
    Sentinel::Failed { reason: Reason::Error { rc: status.code() }, elapsed_seconds, cause }
}

/// A stream that is passed on.
struct Stream {
    stdout: Output,
    /// The form that stdout gets.
    form: JsonLines,
    reader: StreamReader,
    /// Whether the last byte that was passed on is not an LF.
    is_in_line: bool,
}

impl Stream {
    fn new(stdout: Output) -> Stream {
        let form = JsonLines::new(Target::of(&stdout));
        Stream { stdout, form, reader: StreamReader::new(), is_in_line: false }
    }

    /// Passes bytes on. The caller has them read afterwards.
    fn pass(&mut self, bytes: &[u8]) -> Result<(), Status> {
        self.stdout.lines(&self.form.push(bytes)).map_err(|error| print::failed(&error))?;
        self.is_in_line = bytes.last().map_or(self.is_in_line, |&last| last != b'\n');
        Ok(())
    }

    /// Gives a last line without LF its LF.
    fn end(&mut self) -> Result<(), Status> {
        if self.is_in_line {
            self.pass(b"\n")?;
            self.reader.push(b"\n");
        }
        Ok(())
    }
}

/// Writes the sentinel unless the stream has one, and returns the status that the one in the stream asks for.
fn seal(stdout: &mut Output, position: Position, sentinel: &Sentinel) -> io::Result<Status> {
    let is_completed = match position {
        Position::NotLast => return Ok(Status::DATA),
        Position::Last { is_completed } => is_completed,
        Position::Missing => {
            stdout.lines(sentinel.line().as_bytes())?;
            matches!(sentinel, Sentinel::Completed { .. })
        }
    };
    Ok(if is_completed { Status::DONE } else { Status::NO })
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::flow::event::TurnLines;
    use common::flow::stream::LineReader;

    /// The sentinel of a stream of these lines.
    fn sealed(lines: &[&str], is_cancelled: bool) -> String {
        let mut verdict = Verdict::new();
        for line in lines {
            let line = [line.as_bytes(), b"\n"].concat();
            LineReader::<TurnLines>::new().push(&line, |(event, _)| verdict.observe(&event));
        }
        sentinel_of(&verdict, is_cancelled, 3).line()
    }

    const S: &str = r#"{"type":"turn.started"}"#;
    const M: &str = r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"ok"}}"#;
    const EMPTY: &str =
        r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"\n"}}"#;
    const C: &str = r#"{"type":"turn.completed","usage":{"output_tokens":7}}"#;
    const F: &str = r#"{"type":"turn.failed","error":{"message":"unexpected status 401 Unauthorized"}}"#;
    const E: &str = r#"{"type":"error","message":"Reconnecting... 1/5"}"#;

    #[test]
    fn the_last_turn_and_the_message_choose_the_sentinel() {
        let failed = |rc: u8, cause: &str| {
            format!(
                "{{\"type\":\"handoff.failed\",\"reason\":\"error\",\"rc\":{rc},\"elapsed_seconds\":3,\"cause\":\"{cause}\"}}\n"
            )
        };
        let completed = "{\"type\":\"handoff.completed\",\"elapsed_seconds\":3,\"output_tokens\":7}\n";
        assert_eq!(sealed(&[S, M, C], false), completed);
        assert_eq!(sealed(&[S, E, M, C], false), completed);
        assert_eq!(sealed(&[C, S, M, C], false), completed);
        // A usage of all zeros is none: Codex prints it when the server sent no usage.
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
    fn a_signal_makes_it_cancelled_unless_it_completed() {
        let cancelled = "{\"type\":\"handoff.failed\",\"reason\":\"cancelled\",\"elapsed_seconds\":3}\n";
        for lines in [&[][..], &[S, M], &[S, F], &[S, C]] {
            assert_eq!(sealed(lines, true), cancelled);
        }
        assert_eq!(sealed(&[S, M, C], true), sealed(&[S, M, C], false));
    }
}
