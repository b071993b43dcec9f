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
use std::path::{Path, PathBuf};

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
/// refusal leaves nothing that was not there before.
pub fn open(outputs: &Outputs, force: bool, notices: &Receiver<Notice>) -> Result<Opened, Refusal> {
    let is_new = |path: &PathBuf| fs::symlink_metadata(path).is_err();
    let made = outputs.stderr.as_ref().filter(|path| is_new(path));
    let opened = open_all(outputs, force, notices);
    if let (Err(_), Some(path)) = (&opened, made) {
        // It is empty, and gone it is as it was.
        let _ = fs::remove_file(path);
    }
    opened
}

fn open_all(outputs: &Outputs, force: bool, notices: &Receiver<Notice>) -> Result<Opened, Refusal> {
    let open = |option: &str, path: &Path, existing: Existing, open| {
        open_one(path, existing, notices, open)?.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => check::not_empty(path),
            io::ErrorKind::WouldBlock => {
                let what = format!("{option} {}", path.display());
                refuse(Status::NO_INPUT, &what, "another launch is writing it")
            }
            _ => refuse_path(option, path, &error),
        })
    };
    let (aside, writer) = match &outputs.stderr {
        None => (Aside::new(), None),
        Some(path) => {
            let file = open("--stderr-file", path, Existing::Emptied, Output::open)?;
            let pair = Aside::with_file(file);
            let (aside, writer) = pair.map_err(|error| refuse(Status::LAUNCHER, "threads", why(&error)))?;
            (aside, Some(writer))
        }
    };
    let existing = if force { Existing::Emptied } else { Existing::Refused };
    let progress = match &outputs.progress {
        None => None,
        Some(Progress::Stdout) => {
            Some(Output::stdout().map_err(|error| refuse(Status::NO_INPUT, "stdout", why(&error)))?)
        }
        Some(Progress::File(path)) => Some(open("--progress-file", path, existing, Output::open_alone)?),
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
        Standing::EmptyFile | Standing::File => fs::remove_file(place::behind_links(path)),
        Standing::Nothing | Standing::Special => Ok(()),
    }
}
