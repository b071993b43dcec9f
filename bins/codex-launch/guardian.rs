//! The launcher as two processes: what each does when the other one is killed.

use crate::NAME;
use crate::args::{Config, Outputs, Progress};
use crate::check::{Refusal, refuse};
use crate::ending::Ending;
use crate::report;
use crate::traces::Traces;
use common::edge::halves::{self, Half, Link, Stage, Watched};
use common::edge::output::{Existing, Output};
use common::edge::place::{self, Making, Standing};
use common::edge::supervise::Exit;
use common::face::exit::Status;
use common::face::say::{self, why};
use common::flow::event;
use common::flow::record;
use common::flow::sentinel::{Outcome, Reading};
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Does `job` in a second process, and what is left of it in this one if that is killed.
///
/// # Errors
/// The refusal of `job`, in the other process; or when there can be no other process.
pub fn guarded(
    config: Config,
    job: impl FnOnce(Config, &Traces, Link) -> Result<Status, Refusal>,
) -> Result<Status, Refusal> {
    let traces = Traces::new();
    let cannot = |error: io::Error| refuse(Status::LAUNCHER, "processes", why(&error));
    match halves::split().map_err(cannot)? {
        Half::Runner(link) => job(config, &traces, link),
        Half::Guardian(guardian) => {
            let watched = guardian.watch().map_err(cannot)?;
            Ok(match watched.exit {
                Exit::Code(code) => Status::of_program(code),
                Exit::Signal(signal) => finish(watched, signal, &config, &traces),
            })
        }
    }
}

/// Finishes the run of a runner that was killed by `signal`.
fn finish(mut watched: Watched, signal: i32, config: &Config, traces: &Traces) -> Status {
    watched.end(config.kill_grace / 2);
    traces.remove(&config.outputs);
    let elapsed = watched.said.elapsed();
    let status = match progress(&mut watched, &config.outputs) {
        Err(error) => {
            say::line(NAME, &format!("progress file: {}", why(&error)));
            Status::IO
        }
        Ok(mut progress) => match sealed(progress.as_ref(), &watched) {
            Some(status) => status,
            None => {
                forget_answer(&watched, &config.outputs);
                seal(progress.as_mut(), signal, elapsed)
            }
        },
    };
    report::elapsed(elapsed);
    status
}

/// The progress file, if there is one that the run has begun to write, mended.
fn progress(watched: &mut Watched, outputs: &Outputs) -> io::Result<Option<Output>> {
    if let Some(open) = watched.said.output.take() {
        return Output::take_over(open).map(Some);
    }
    match &outputs.progress {
        // It was killed while it opened the file, and may have made it.
        Some(Progress::File(path)) if watched.said.stage == Stage::Opening && is_empty(path) => {
            Output::open_alone(path, Existing::Refused).map(Some)
        }
        _ => Ok(None),
    }
}

fn is_empty(path: &Path) -> bool {
    matches!(place::look(path, Making::InPlace), Ok(Standing::EmptyFile))
}

/// The status that the run had, if it was over: its sentinel says so. To a pipe a sentinel that was begun counts as
/// written; it takes one write, and two of them would be worse than none.
fn sealed(progress: Option<&Output>, watched: &Watched) -> Option<Status> {
    match progress?.read_last_line() {
        Ok(Some(line)) => status_of(&line, watched.signal),
        Ok(None) if watched.said.stage >= Stage::Sealing => Some(Status::LAUNCHER),
        Ok(None) | Err(_) => None,
    }
}

/// The launcher's status that goes with a sentinel, if the line is one.
fn status_of(line: &[u8], cancelled_by: Option<i32>) -> Option<Status> {
    let mut scanner = event::scanner();
    scanner.push(line);
    Some(match Reading::of(scanner.finish())?.outcome {
        Outcome::Completed { .. } => Status::DONE,
        Outcome::Failed { reason: Some("timeout"), .. } => Status::TIMEOUT,
        Outcome::Failed { rc: Some(rc), .. } => Status::of_program(i32::try_from(rc).unwrap_or(1)),
        Outcome::Failed { .. } => cancelled_by.map_or(Status::LAUNCHER, Status::signal),
    })
}

/// Removes an answer that was put in place for a run which now counts as failed.
fn forget_answer(watched: &Watched, outputs: &Outputs) {
    let Some(path) = outputs.result.as_ref().filter(|_| watched.said.stage >= Stage::Started) else { return };
    let path = place::behind_links(path);
    if matches!(place::look(&path, Making::Moved), Ok(Standing::File | Standing::EmptyFile)) {
        // An answer that cannot be removed is of a run whose sentinel says that it failed.
        let _ = fs::remove_file(path);
    }
}

/// Writes the sentinel of a run whose truth died with its runner.
fn seal(progress: Option<&mut Output>, signal: i32, elapsed: Duration) -> Status {
    let ending = Ending::lost(Status::LAUNCHER, Some(signal));
    let line = record::sentinel(&ending.sentinel(elapsed.as_secs(), None));
    let sealed = progress.map_or(Ok(()), |progress| {
        let sealed = progress.last_line(line.as_bytes(), line.as_bytes());
        progress.give_room_back();
        sealed.map(drop)
    });
    report::failure(&ending);
    match sealed {
        Ok(()) => ending.status(),
        Err(error) => {
            say::line(NAME, &format!("progress file: write: {}", why(&error)));
            report::unsealed(&line);
            Status::IO
        }
    }
}
