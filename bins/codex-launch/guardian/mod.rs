//! The launcher as two processes, each of which finishes the run when the other one is killed.

mod finish;
mod fork;
mod path_probe;
mod signals;
mod status;
mod watch;

pub use self::signals::RunnerEnd;
pub use self::status::{Phase, StatusWriter};

use self::fork::Half;
use self::watch::{RunnerEnding, Watched};
use crate::NAME;
use crate::finish::temp_files::TempFiles;
use crate::prepare::args::Config;
use crate::prepare::check::{self, Refusal, refuse};
use crate::prepare::environment;
use crate::run::supervise::Exit;
use common::edge::signals::Awaited;
use common::face::exit::Status;
use common::face::say::{self, why};
use common::sys::process;
use std::io;

/// Does `job` in a second process, and what is left of it in this one if that one is killed.
///
/// # Errors
/// The refusal of `job`, in the other process. The refusal of the paths in `config`, or of a second process, in this one.
pub fn guarded(
    config: Config,
    job: impl FnOnce(Config, &TempFiles, RunnerEnd) -> Result<Status, Refusal>,
) -> Result<Status, Refusal> {
    let cannot = |error: io::Error| refuse(Status::LAUNCHER, "processes", why(&error));
    // Commands of the model could read them in any of the processes.
    environment::erase(&config.removed_variables);
    // A signal that comes from now on waits until one of the processes asks for it.
    let mut awaited = Awaited::new().map_err(cannot)?;
    path_probe::paths_answer(&config, &mut awaited)?;
    check::paths_differ(&config)?;
    // Before anything of the launcher's own is opened: an output may name a descriptor.
    let temp_files = TempFiles::plan(&config)?;
    let (half, waits_for_this) = fork::split(awaited).map_err(cannot)?;
    let status = match half {
        Half::Runner(link) => {
            let status_writer = link.status_writer();
            let result = job(config, &temp_files, link);
            let status = result.as_ref().map_or_else(Refusal::status, |status| *status);
            status_writer.exiting(status.code());
            result
        }
        Half::CallersEnd(end) => end.wait().map(status_of).map_err(cannot),
        Half::Guardian(guardian) => {
            let watched = guardian.watch().map_err(cannot)?;
            Ok(finished(watched, &config, &temp_files))
        }
    };
    // The run may have stopped it.
    waits_for_this.into_iter().for_each(process::continue_parent);
    status
}

/// The status of a run whose runner has ended; where it was killed, the run is finished first.
fn finished(watched: Watched, config: &Config, temp_files: &TempFiles) -> Status {
    match watched.end {
        RunnerEnding::Reaped(Exit::Signal(signal)) => finish::finish(watched, signal, config, temp_files),
        RunnerEnding::Reaped(Exit::Code(code)) => {
            // What it could not remove itself, such as when it had hardly a descriptor left.
            let _ = temp_files.remove_folder();
            Status::of_program(code)
        }
        // What holds the runner could hold this process too: nothing is removed.
        RunnerEnding::Exiting(code) => {
            say::line(NAME, "a process of the launcher was ended: a system call held it");
            Status::of_program(code)
        }
        RunnerEnding::Held => {
            say::line(NAME, "cancelled before the launch: a system call held a process of the launcher");
            watched.signal.map_or(Status::LAUNCHER, Status::signal)
        }
    }
}

fn status_of(exit: Exit) -> Status {
    match exit {
        Exit::Code(code) => Status::of_program(code),
        Exit::Signal(signal) => Status::signal(signal),
    }
}
