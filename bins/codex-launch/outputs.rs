//! Opening the outputs: the last step before the launch, and the first that makes files.

use crate::args::{Outputs, Progress};
use crate::aside::{Aside, Writer};
use crate::check::{self, Refusal, refuse, refuse_path};
use crate::prepare;
use common::edge::output::{Existing, Output};
use common::edge::place::{self, Making, Standing};
use common::edge::signals::Notice;
use common::face::exit::Status;
use common::face::say::why;
use crossbeam_channel::Receiver;
use std::fs;
use std::io;
use std::path::Path;

/// What is written while the run lives.
#[derive(Debug)]
pub struct Opened {
    /// Where stderr goes.
    pub aside: Aside,
    /// The thread of the stderr file.
    pub writer: Option<Writer>,
    /// Where events go.
    pub progress: Option<Output>,
}

/// Opens what is written while the run lives, and removes an old answer, so that it cannot pass for this run's. A
/// refusal leaves everything as it was: the progress file, which another launch may have, comes first, and goes again
/// when it was made here and the rest fails.
pub fn open(outputs: &Outputs, force: bool, notices: &Receiver<Notice>) -> Result<Opened, Refusal> {
    let new = match &outputs.progress {
        Some(Progress::File(path)) if fs::symlink_metadata(path).is_err() => Some(path),
        _ => None,
    };
    let progress = open_progress(outputs, force, notices)?;
    open_rest(outputs, progress, notices).inspect_err(|_| {
        if let Some(path) = new {
            let _ = fs::remove_file(path);
        }
    })
}

fn open_progress(
    outputs: &Outputs,
    force: bool,
    notices: &Receiver<Notice>,
) -> Result<Option<Output>, Refusal> {
    let existing = if force { Existing::Emptied } else { Existing::Refused };
    match &outputs.progress {
        None => Ok(None),
        Some(Progress::Stdout) => {
            Output::stdout().map(Some).map_err(|error| refuse(Status::NO_INPUT, "stdout", why(&error)))
        }
        Some(Progress::File(path)) => {
            let opened = open_one(path, existing, notices, Output::open_alone)?;
            opened.map(Some).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => check::not_empty(path),
                io::ErrorKind::WouldBlock => {
                    let what = format!("--progress-file {}", path.display());
                    refuse(Status::NO_INPUT, &what, "another launch is writing it")
                }
                _ => refuse_path("--progress-file", path, &error),
            })
        }
    }
}

fn open_rest(
    outputs: &Outputs,
    progress: Option<Output>,
    notices: &Receiver<Notice>,
) -> Result<Opened, Refusal> {
    let (aside, writer) = match &outputs.stderr {
        None => (Aside::new(), None),
        Some(path) => {
            let file = open_one(path, Existing::Emptied, notices, Output::open)?;
            let file = file.map_err(|error| refuse_path("--stderr-file", path, &error))?;
            let pair = Aside::with_file(file);
            let (aside, writer) = pair.map_err(|error| refuse(Status::LAUNCHER, "threads", why(&error)))?;
            (aside, Some(writer))
        }
    };
    for (option, path) in [("--result-file", &outputs.result), ("--session-file", &outputs.session)] {
        if let Some(path) = path {
            remove_old(path).map_err(|error| refuse_path(option, path, &error))?;
        }
    }
    Ok(Opened { aside, writer, progress })
}

/// Opens one output. A named pipe opens when its reader comes, and the user may cancel meanwhile; a file is opened
/// here and now, so that none is ever made by a launch that was cancelled before it.
fn open_one(
    path: &Path,
    existing: Existing,
    notices: &Receiver<Notice>,
    open: fn(&Path, Existing) -> io::Result<Output>,
) -> Result<io::Result<Output>, Refusal> {
    if !matches!(place::look(path, Making::InPlace), Ok(Standing::Special)) {
        return Ok(open(path, existing));
    }
    let path = path.to_owned();
    prepare::unless_cancelled("outputs", notices, move || open(&path, existing))
}

fn remove_old(path: &Path) -> io::Result<()> {
    match place::look(path, Making::Moved)? {
        Standing::EmptyFile | Standing::File => fs::remove_file(path),
        Standing::Nothing | Standing::Special => Ok(()),
    }
}
