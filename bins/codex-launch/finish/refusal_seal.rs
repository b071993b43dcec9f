//! The sentinel of a launch that was refused, for whoever watches the progress file.

use crate::files::output_path::{Existing, OutputPath};
use crate::prepare::args::{Config, Outputs, Progress};
use crate::prepare::check;
use crate::run::progress_file::ProgressFile;
use common::edge::worker::Worker;
use common::face::exit::Status;
use common::flow::cause::Cause;
use common::flow::sentinel::{Reason, Sentinel};
use std::time::Duration;

/// How long the progress file may take to take the sentinel.
const LIMIT: Duration = Duration::from_secs(2);

/// What is to be sealed when a launch is refused.
#[derive(Debug, Clone)]
pub struct Seal {
    outputs: Outputs,
    force: bool,
}

impl Seal {
    /// What `config` asks for, if it does. A file that is named twice is not touched: it may be the prompt.
    pub fn of(config: &Config) -> Option<Seal> {
        (config.seal_refusal && check::paths_differ(config).is_ok())
            .then(|| Seal { outputs: config.outputs.clone(), force: config.force })
    }

    /// Writes the sentinel of a launch that was refused with `status`, under the rules of every progress file: not behind
    /// content unless forced, and not while another launch has the file. What cannot be written is not: the refusal has
    /// been said. A file system that does not answer is given up.
    pub fn put(self, status: Status) {
        if let Ok(worker) = Worker::spawn() {
            let _ = worker.run(move || self.write(status)).recv_timeout(LIMIT);
        }
    }

    fn write(&self, status: Status) {
        // A named pipe is not opened, which may have no reader. What is open already is written.
        let is_ready = |path: &OutputPath| path.descriptor().is_some() || !path.may_wait();
        let opened = self.progress().filter(is_ready).and_then(|path| self.open(&path));
        if let Some(mut output) = opened {
            let line = sentinel(status).line();
            // There is nobody else to tell.
            let _ = output.last_line(line.as_bytes(), line.as_bytes());
            output.release_reserve();
        }
    }

    fn progress(&self) -> Option<OutputPath> {
        match self.outputs.progress.as_ref()? {
            Progress::Stdout => Some(OutputPath::stdout()),
            Progress::File(path) => OutputPath::resolve(path).ok(),
        }
    }

    fn open(&self, path: &OutputPath) -> Option<ProgressFile> {
        let existing = if self.force { Existing::Emptied } else { Existing::Refused };
        ProgressFile::open(path, existing).ok()
    }
}

/// The lowest status of a signal.
const SIGNALS: u8 = 128;

fn sentinel(status: Status) -> Sentinel {
    let (reason, cause) = match status.code() {
        code if code > SIGNALS => (Reason::Cancelled, None),
        rc => (Reason::Error { rc }, Some(Cause::Refused)),
    };
    Sentinel::Failed { reason, elapsed_seconds: 0, cause }
}
