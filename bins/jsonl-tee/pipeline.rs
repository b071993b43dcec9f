//! The pipeline from the input to the outputs. It passes chunks on as they are, or judges each line first.

use crate::args::TeeConfig;
use crate::outputs::Outputs;
use crate::stamp::Stamper;
use common::edge::hold::{Hold, Sink};
use common::flow::event::Sentinels;
use common::flow::record;
use common::flow::scan::Scan;
use common::flow::sentinel::Position;
use common::flow::stream::{LineReader, Step};
use std::io;
use std::time::SystemTime;

/// The way of lines from the input to the outputs.
#[derive(Debug)]
pub struct Pipeline {
    /// Reads the lines, when an option needs to know what they are.
    lines: Option<InputLines>,
    /// Decides where each line goes, when an option asks for that.
    policy: Option<LinePolicy>,
}

impl Pipeline {
    /// The pipeline that the options ask for.
    pub fn new(config: &TeeConfig) -> Pipeline {
        let judges = config.only_json || config.stamp;
        Pipeline {
            lines: (judges || config.status).then(InputLines::new),
            policy: judges.then(|| LinePolicy {
                hold: Hold::new(),
                only_json: config.only_json,
                stamper: config.stamp.then(Stamper::new),
                stamped: Vec::new(),
            }),
        }
    }

    /// Passes on whole lines, or the next piece of one.
    pub fn push(&mut self, chunk: &[u8], outputs: &mut Outputs) {
        match (&mut self.lines, &mut self.policy) {
            (Some(lines), Some(policy)) => {
                if let Err(error) = policy.push(chunk, lines, outputs) {
                    outputs.close_judged(&error, policy.stamper.is_some());
                }
            }
            (lines, _) => {
                outputs.all(chunk);
                if let Some(lines) = lines {
                    lines.push(chunk);
                }
            }
        }
    }

    /// Passes on a last line without LF, at the end of the input.
    pub fn end(&mut self, outputs: &mut Outputs) {
        let Some(lines) = &mut self.lines else { return };
        let is_object = lines.end();
        if let Some(policy) = &mut self.policy
            && let Err(error) = policy.end(is_object, outputs)
        {
            outputs.close_judged(&error, policy.stamper.is_some());
        }
    }

    /// The position of the sentinel; [`Position::Missing`] when no option asks for it.
    pub fn position(&self) -> Position {
        self.lines.as_ref().map_or(Position::Missing, |lines| lines.position)
    }
}

/// Reads the lines of the input, and keeps what its sentinel says.
#[derive(Debug)]
struct InputLines {
    reader: LineReader<Sentinels>,
    position: Position,
}

impl InputLines {
    fn new() -> InputLines {
        InputLines { reader: LineReader::new(), position: Position::Missing }
    }

    /// Takes a chunk.
    fn push(&mut self, chunk: &[u8]) {
        self.reader.push(chunk, |line| self.position = self.position.after(line));
    }

    /// Takes the end of the input. Returns whether it ends in a whole object without its LF. Such a line is no sentinel,
    /// which needs its LF, and after one it is a line too many.
    fn end(&mut self) -> bool {
        let Some(line) = self.reader.finish() else { return false };
        if !matches!(line, Scan::Blank) && self.position != Position::Missing {
            self.position = Position::NotLast;
        }
        matches!(line, Scan::Object(_))
    }
}

/// Decides where each line goes: it accepts JSON objects and refuses other lines.
#[derive(Debug)]
struct LinePolicy {
    hold: Hold,
    only_json: bool,
    stamper: Option<Stamper>,
    /// The buffer for stamped lines.
    stamped: Vec<u8>,
}

impl LinePolicy {
    fn push(&mut self, chunk: &[u8], lines: &mut InputLines, outputs: &mut Outputs) -> io::Result<()> {
        let stamp = match self.stamper {
            Some(_) => record::stamp(SystemTime::now()),
            // FILEs get every line as it is, without waiting for its judgement.
            None => {
                outputs.files(chunk);
                String::new()
            }
        };
        let mut sink = JudgedOutputs {
            only_json: self.only_json,
            files_wait: self.stamper.is_some(),
            stamper: self.stamper.as_mut().map(|stamper| (stamper, stamp.as_str())),
            stamped: &mut self.stamped,
            outputs,
        };
        let mut held = self.hold.chunk(chunk);
        let mut rest = chunk;
        while let Some(step) = lines.reader.read(&mut rest) {
            match step {
                Step::End(line, scan) => {
                    lines.position = lines.position.after(scan);
                    held.end(line.len(), matches!(scan, Scan::Object(_)), &mut sink)?;
                }
                Step::Part(part) => held.part(part.len(), lines.reader.is_malformed(), &mut sink)?,
            }
        }
        held.flush(&mut sink)
    }

    /// Passes on a last line without LF, without a stamp.
    fn end(&mut self, is_object: bool, outputs: &mut Outputs) -> io::Result<()> {
        if !self.hold.is_in_line() {
            return Ok(());
        }
        let mut sink = JudgedOutputs {
            only_json: self.only_json,
            stamper: None,
            stamped: &mut self.stamped,
            files_wait: self.stamper.is_some(),
            outputs,
        };
        self.hold.chunk(b"").end(0, is_object, &mut sink)
    }
}

/// Sends accepted and refused lines to the outputs, which report their own errors.
struct JudgedOutputs<'a> {
    only_json: bool,
    /// What stamps objects, and the stamp.
    stamper: Option<(&'a mut Stamper, &'a str)>,
    stamped: &'a mut Vec<u8>,
    /// Whether the FILEs, too, get each line after its judgement.
    files_wait: bool,
    outputs: &'a mut Outputs,
}

impl Sink for JudgedOutputs<'_> {
    fn accept(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut lines = lines;
        if let Some((stamper, stamp)) = &mut self.stamper {
            self.stamped.clear();
            stamper.push(lines, stamp, self.stamped);
            lines = self.stamped;
        }
        if self.files_wait {
            self.outputs.files(lines);
        }
        self.outputs.stdout(lines);
        Ok(())
    }

    fn refuse(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.files_wait {
            self.outputs.files(bytes);
        }
        if self.only_json {
            self.outputs.reject(bytes);
        } else {
            self.outputs.stdout(bytes);
        }
        Ok(())
    }
}
