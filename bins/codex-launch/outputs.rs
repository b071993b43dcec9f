//! Opening the outputs: the last step before the launch, and the first that makes files.

use crate::args::{Outputs, Progress};
use crate::check::{self, Refusal, refuse, refuse_path, why};
use crate::prepare;
use crate::stream::Aside;
use common::edge::output::{Existing, Output};
use common::edge::place::{self, Making, Standing};
use common::edge::signals::Notice;
use common::face::exit::Status;
use crossbeam_channel::Receiver;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Opens what is written while the run lives, and removes an old answer, so that it cannot pass for this run's.
pub fn open(
    outputs: &Outputs,
    force: bool,
    notices: &Receiver<Notice>,
) -> Result<(Arc<Mutex<Aside>>, Option<Output>), Refusal> {
    let open = |option: &str, path: &Path, existing: Existing| {
        open_one(path, existing, notices)?.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => check::not_empty(path),
            _ => refuse_path(option, path, &error),
        })
    };
    let stderr = match &outputs.stderr {
        None => None,
        Some(path) => Some(open("--stderr-file", path, Existing::Emptied)?),
    };
    for (option, path) in [("--result-file", &outputs.result), ("--session-file", &outputs.session)] {
        if let Some(path) = path {
            remove_old(path).map_err(|error| refuse_path(option, path, &error))?;
        }
    }
    let existing = if force { Existing::Emptied } else { Existing::Refused };
    let progress = match &outputs.progress {
        None => None,
        Some(Progress::Stdout) => {
            Some(Output::stdout().map_err(|error| refuse(Status::NO_INPUT, "stdout", why(&error)))?)
        }
        Some(Progress::File(path)) => Some(open("--progress-file", path, existing)?),
    };
    Ok((Aside::new(stderr), progress))
}

/// Opens one output. A named pipe opens when its reader comes, and the user may cancel meanwhile; a file is opened
/// here and now, so that none is ever made by a launch that was cancelled before it.
fn open_one(
    path: &Path,
    existing: Existing,
    notices: &Receiver<Notice>,
) -> Result<io::Result<Output>, Refusal> {
    if !matches!(place::look(path, Making::InPlace), Ok(Standing::Special)) {
        return Ok(Output::open(path, existing));
    }
    let path = path.to_owned();
    prepare::unless_cancelled("outputs", notices, move || Output::open(&path, existing))
}

fn remove_old(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(about) if about.is_file() => fs::remove_file(path),
        _ => Ok(()),
    }
}
