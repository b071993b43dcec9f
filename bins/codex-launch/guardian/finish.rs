//! Finishes the run of a runner that was killed.

use super::status::Phase;
use super::watch::Watched;
use crate::NAME;
use crate::files::output_path::Existing;
use crate::finish::drain_deadline::DRAIN_GRACE;
use crate::finish::ending::Ending;
use crate::finish::left;
use crate::finish::output_errors::tampered;
use crate::finish::report;
use crate::finish::temp_files::TempFiles;
use crate::prepare::args::Config;
use crate::run::progress_file::ProgressFile;
use crate::run::supervise::Leftovers;
use common::face::exit::Status;
use common::face::say::{self, why};
use common::flow::event::Sentinels;
use common::flow::sentinel::ReadSentinel;
use common::flow::stream::LineReader;
use std::io;
use std::time::Duration;

/// Finishes the run of a runner that was killed by `signal`.
pub(super) fn finish(mut watched: Watched, signal: i32, config: &Config, temp_files: &TempFiles) -> Status {
    // Of a run that is over only what is meant to live on is left, or nothing.
    let is_kept = config.leftovers == Leftovers::Keep && watched.report.phase >= Phase::Over;
    let is_left = !is_kept && watched.end(config.kill_grace / 2);
    let left = match watched.report.phase >= Phase::Started {
        true => left::lines(&watched.tree, is_left),
        false => Vec::new(),
    };
    temp_files.mount_points.remove_empty();
    if let Some(line) = temp_files.remove() {
        say::line(NAME, &line);
    }
    let mut progress = progress(&mut watched, temp_files);
    if let Some(progress) = progress.as_mut().filter(|_| watched.report.phase < Phase::Sealing) {
        progress.drop_forged(temp_files);
    }
    if let Some(status) = progress.as_ref().and_then(|progress| progress.sealed(&watched)) {
        return status;
    }
    forget_answer(&watched, temp_files);
    let Some(progress) = &mut progress else { return unrecorded(&watched, signal, &left) };
    let status = progress.seal(signal, watched.report.elapsed(), temp_files);
    report::left(&left);
    report::elapsed(watched.report.elapsed());
    status
}

/// Tells the end of a run that has no progress file, or has not begun.
fn unrecorded(watched: &Watched, signal: i32, left: &[String]) -> Status {
    if watched.report.phase < Phase::Started {
        say::line(NAME, "the launcher was killed before the launch");
    } else {
        report::failure(&Ending::lost(Status::LAUNCHER, Some(signal)));
        report::left(left);
        report::elapsed(watched.report.elapsed());
    }
    Status::LAUNCHER
}

/// The progress file of a dead runner.
struct Progress {
    output: ProgressFile,
    /// Its last whole line, where it can be read.
    last: Option<Vec<u8>>,
}

/// The progress file, if there is one that the run has begun to write, mended.
fn progress(watched: &mut Watched, temp_files: &TempFiles) -> Option<Progress> {
    let path = temp_files.outputs.progress.as_ref()?;
    if let Some(open) = watched.report.output.take() {
        let (output, last) = ProgressFile::take_over(open, path).ok()?;
        return Some(Progress { output, last });
    }
    // It was killed while it opened the file, and may have made it.
    if watched.report.phase == Phase::Opening && path.is_empty_file() {
        let output = ProgressFile::open(path, Existing::Refused).ok()?;
        return Some(Progress { output, last: Some(Vec::new()) });
    }
    None
}

impl Progress {
    /// Cuts off sentinels that the runner has not written. In a file that came as a descriptor they may be older.
    fn drop_forged(&mut self, temp_files: &TempFiles) {
        let is_named = temp_files.outputs.progress.as_ref().is_some_and(|path| path.descriptor().is_none());
        while self.last.take_if(|line| is_named && status_of(line, None).is_some()).is_some() {
            self.last = self.output.drop_last_line().ok();
        }
    }

    /// The status that the run had, if it was over: its sentinel says so or, to a pipe, its runner. There a sentinel that
    /// was begun counts as written; it takes one write, and two of them would be worse than none.
    fn sealed(&self, watched: &Watched) -> Option<Status> {
        match &self.last {
            Some(_) if watched.report.phase < Phase::Sealing => None,
            Some(line) => status_of(line, watched.signal),
            None => {
                let status = watched.report.status.map(Status::of_program);
                status.or((watched.report.phase >= Phase::Sealing).then_some(Status::LAUNCHER))
            }
        }
    }

    /// Writes the sentinel of a run whose truth died with its runner.
    fn seal(&mut self, signal: i32, elapsed: Duration, temp_files: &TempFiles) -> Status {
        let settled = self.output.settle(&temp_files.names());
        let ending = Ending::lost(Status::LAUNCHER, Some(signal));
        let line = ending.sentinel(elapsed.as_secs(), None).line();
        let sealed = match self.output.is_ready(DRAIN_GRACE) {
            true => self.output.last_line(line.as_bytes(), line.as_bytes()).map(drop),
            false => Err(io::Error::other("its reader takes nothing")),
        };
        self.output.release_reserve();
        report::failure(&ending);
        if let Some(tampering) = settled.tampering {
            say::line(NAME, &format!("progress file: {}", tampered(tampering, settled.error.as_ref())));
        }
        if let Err(error) = sealed.and(settled.error.map_or(Ok(()), Err)) {
            say::line(NAME, &format!("progress file: write: {}", why(&error)));
            report::unsealed(&line);
        }
        ending.status()
    }
}

/// The launcher's status that goes with a sentinel, if the line is one.
fn status_of(line: &[u8], cancelled_by: Option<i32>) -> Option<Status> {
    let mut lines = LineReader::<Sentinels>::new();
    lines.push(line, |_| {});
    let sentinel = ReadSentinel::of(lines.finish()?)?;
    Some(match (sentinel.reason(), sentinel.rc()) {
        _ if sentinel.is_completed() => Status::DONE,
        (Some("timeout"), _) => Status::TIMEOUT,
        (_, Some(rc)) => Status::of_program(i32::try_from(rc).unwrap_or(1)),
        _ => cancelled_by.map_or(Status::LAUNCHER, Status::signal),
    })
}

/// Removes an answer that was put in place for a run which now counts as failed, or an old one that the runner did not
/// come to remove, or what a command of the run left there.
fn forget_answer(watched: &Watched, temp_files: &TempFiles) {
    if watched.report.phase >= Phase::Opening {
        // An answer that cannot be removed is of a run whose sentinel says that it failed.
        let _ = temp_files.outputs.remove_result();
    }
}
