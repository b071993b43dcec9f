//! Copies stdin through the pipeline to the outputs, and decides the exit status.

use crate::NAME;
use crate::args::TeeConfig;
use crate::outputs::Outputs;
use crate::pipeline::Pipeline;
use common::edge::line_chunks::LineChunks;
use common::edge::signals;
use common::face::exit::Status;
use common::face::say::{self, why};
use common::flow::sentinel::Position;
use std::io;

/// Copies as `config` says.
pub fn run(config: TeeConfig) -> Status {
    // Opening a FIFO waits for its reader. INT is ignored before that; the handlers of the other signals are installed
    // after it, so that a signal ends the wait.
    let ready = if config.ignore_int { signals::ignore_int() } else { Ok(()) };
    let mut outputs = Outputs::open(&config);
    let line_chunks = ready.and_then(|()| LineChunks::stdin());
    let mut line_chunks = match line_chunks {
        Ok(line_chunks) => line_chunks,
        Err(error) => return cannot_read(&error, Status::NO_INPUT),
    };
    let mut pipeline = Pipeline::new(&config);
    let mut read = Ok(());
    let mut is_first = true;
    while !outputs.is_over() && (config.status || !outputs.is_empty()) {
        match line_chunks.take() {
            Ok(Some(lines)) => pipeline.push(lines, &mut outputs),
            Ok(None) => break,
            Err(error) => {
                pipeline.push(line_chunks.rest(), &mut outputs);
                read = Err(cannot_read(&error, if is_first { Status::NO_INPUT } else { Status::IO }));
                break;
            }
        }
        is_first = false;
    }
    if !outputs.is_over() {
        pipeline.end(&mut outputs);
    }
    let written = outputs.finish();
    let cut_short = line_chunks.signal().map(Status::signal).or(read.err());
    let failed = (written != Status::DONE).then_some(written);
    let of_sentinel = if config.status { sentinel_status(pipeline.position()) } else { Status::DONE };
    cut_short.or(failed).unwrap_or(of_sentinel)
}

/// The exit status for what the stream says about its run.
fn sentinel_status(position: Position) -> Status {
    match position {
        Position::Last { is_completed: true } => Status::DONE,
        Position::Last { is_completed: false } => Status::NO,
        Position::Missing | Position::NotLast => Status::DATA,
    }
}

/// Prints the error. Returns `status`.
fn cannot_read(error: &io::Error, status: Status) -> Status {
    say::line(NAME, &format!("standard input: read: {}", why(error)));
    status
}
