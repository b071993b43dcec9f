//! The way of a line: straight through, or judged first.

use crate::args::Config;
use crate::outputs::Outputs;
use common::edge::sift::{Judged, Sift};
use common::flow::event;
use common::flow::line::Piece;
use common::flow::record;
use common::flow::scan::{Scan, Scanner};
use common::flow::sentinel::Standing;
use common::flow::stamp::Stamper;
use std::io;
use std::time::SystemTime;

/// What lines go through between input and outputs.
#[derive(Debug)]
pub struct Way {
    /// Reads the lines, where anything depends on what they are.
    reader: Option<Reader>,
    /// Judges them, where anything depends on that before they are passed on.
    judge: Option<Judge>,
}

impl Way {
    /// The way that the options ask for.
    pub fn new(config: &Config) -> Way {
        let judges = config.only_json || config.stamp;
        Way {
            reader: (judges || config.status).then(Reader::new),
            judge: judges.then(|| Judge {
                sift: Sift::new(),
                road: Road {
                    only_json: config.only_json,
                    stamper: config.stamp.then(Stamper::new),
                    stamped: Vec::new(),
                },
            }),
        }
    }

    /// Passes on whole lines, or the next piece of one.
    pub fn push(&mut self, lines: &[u8], outputs: &mut Outputs) {
        match (&mut self.reader, &mut self.judge) {
            (Some(reader), Some(judge)) => {
                if let Err(error) = judge.push(lines, reader, outputs) {
                    outputs.cannot_wait(&error, judge.road.stamper.is_some());
                }
            }
            (reader, _) => {
                outputs.all(lines);
                if let Some(reader) = reader {
                    let mut rest = lines;
                    while reader.read(&mut rest).is_some() {}
                }
            }
        }
    }

    /// Passes on what still waits at the end of the input: a line without its LF.
    pub fn end(&mut self, outputs: &mut Outputs) {
        if let (Some(reader), Some(judge)) = (&mut self.reader, &mut self.judge)
            && let Err(error) = judge.end(reader, outputs)
        {
            outputs.cannot_wait(&error, judge.road.stamper.is_some());
        }
        if let Some(reader) = &mut self.reader {
            reader.end();
        }
    }

    /// How the stream stands; open where nobody read it.
    pub fn standing(&self) -> Standing {
        self.reader.as_ref().map_or(Standing::Open, |reader| reader.standing)
    }
}

/// What lines are.
#[derive(Debug)]
struct Reader {
    scanner: Scanner,
    standing: Standing,
}

/// What is known of a line after one more piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It goes on, and may be an object.
    Nothing,
    /// It is a whole object.
    Object,
    /// It is none, or cannot become one.
    Other,
}

impl Reader {
    fn new() -> Reader {
        Reader { scanner: event::handoff_scanner(), standing: Standing::Open }
    }

    /// Reads the next piece off `bytes`.
    fn read<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<(Piece<'a>, Known)> {
        let piece = self.scanner.take(bytes)?;
        let known = match piece {
            Piece::Part(_) if self.scanner.is_malformed() => Known::Other,
            Piece::Part(_) => Known::Nothing,
            Piece::End(_) => {
                let line = self.scanner.finish();
                self.standing = self.standing.after(line);
                known(line)
            }
        };
        Some((piece, known))
    }

    /// What the line without LF is that ends the stream. It is no sentinel, which needs its LF, and behind one it is a
    /// line too many.
    fn end(&mut self) -> Known {
        let line = self.scanner.finish();
        if !matches!(line, Scan::Blank) && self.standing != Standing::Open {
            self.standing = Standing::Overrun;
        }
        known(line)
    }
}

fn known(line: Scan<'_>) -> Known {
    if matches!(line, Scan::Object(_)) { Known::Object } else { Known::Other }
}

/// Sends lines where they belong.
#[derive(Debug)]
struct Judge {
    sift: Sift,
    road: Road,
}

impl Judge {
    fn push(&mut self, lines: &[u8], reader: &mut Reader, outputs: &mut Outputs) -> io::Result<()> {
        let stamp = self.road.begin(lines, outputs);
        let mut each = |judged: Judged<'_>| self.road.pass(judged, &stamp, outputs);
        let mut chunk = self.sift.chunk(lines);
        let mut rest = lines;
        while let Some((piece, known)) = reader.read(&mut rest) {
            match piece {
                Piece::End(line) => chunk.end(line.len(), known == Known::Object, &mut each)?,
                Piece::Part(part) => chunk.part(part.len(), known == Known::Other, &mut each)?,
            }
        }
        chunk.pass(each);
        Ok(())
    }

    fn end(&mut self, reader: &mut Reader, outputs: &mut Outputs) -> io::Result<()> {
        if !self.sift.is_in_line() {
            return Ok(());
        }
        // It is passed on as it is.
        let is_stamped = self.road.stamper.take().is_some();
        let accepted = reader.end() == Known::Object;
        let mut each = |judged: Judged<'_>| {
            let (Judged::Accepted(bytes) | Judged::Refused(bytes)) = judged;
            if is_stamped {
                outputs.files(bytes);
            }
            self.road.pass(judged, "", outputs);
        };
        let mut chunk = self.sift.chunk(b"");
        chunk.end(0, accepted, &mut each)
    }
}

/// What is done with lines that are judged.
#[derive(Debug)]
struct Road {
    only_json: bool,
    stamper: Option<Stamper>,
    /// Room for stamped lines.
    stamped: Vec<u8>,
}

impl Road {
    /// What need not be judged for a FILE goes there at once. Gives the stamp for what is judged.
    fn begin(&self, lines: &[u8], outputs: &mut Outputs) -> String {
        if self.stamper.is_some() {
            return record::stamp(SystemTime::now());
        }
        outputs.files(lines);
        String::new()
    }

    fn pass(&mut self, judged: Judged<'_>, stamp: &str, outputs: &mut Outputs) {
        match (judged, &mut self.stamper) {
            (Judged::Accepted(lines), Some(stamper)) => {
                self.stamped.clear();
                stamper.push(lines, stamp, &mut self.stamped);
                outputs.all(&self.stamped);
            }
            (Judged::Accepted(lines), None) => outputs.stdout(lines),
            (Judged::Refused(lines), stamper) => {
                if stamper.is_some() {
                    outputs.files(lines);
                }
                if self.only_json { outputs.reject(lines) } else { outputs.stdout(lines) }
            }
        }
    }
}
