//! The threads for Codex's stdin, stdout and stderr. The supervision never waits for them.

use crate::finish::drain_deadline::DrainDeadline;
use crate::run::stderr_sink::StderrSink;
use crate::run::stream::{Heard, Stream};
use crate::run::supervise;
use common::edge::pump::{self, Stop};
use common::edge::worker::Worker;
use common::face::exit::Status;
use crossbeam_channel::Receiver;
use std::fs::File;
use std::io::{self, PipeReader, Write};

/// The threads for the three pipes of a Codex that is not started yet.
#[derive(Debug)]
pub struct Pipes {
    stop: Stop,
    listeners: [PipeReader; 2],
    workers: [Worker; 3],
}

impl Pipes {
    /// Starts the threads. This can fail; connecting them to Codex cannot.
    pub fn spawn() -> io::Result<Pipes> {
        let stop = Stop::new()?;
        let listeners = [stop.listener()?, stop.listener()?];
        Ok(Pipes { stop, listeners, workers: [Worker::spawn()?, Worker::spawn()?, Worker::spawn()?] })
    }

    /// Feeds `prompt` to the child, its stdout to `stream` and its stderr to `stderr_sink`.
    pub fn connect(
        self,
        pipes: supervise::Pipes,
        prompt: Vec<u8>,
        mut stream: Stream,
        stderr_sink: StderrSink,
    ) -> Connected {
        let Pipes { stop, listeners: [stdout_stop, stderr_stop], workers: [feeder, stdout, stderr] } = self;
        // A Codex that ends before it has read its prompt is judged by its status.
        feeder.run(move || File::from(pipes.stdin).write_all(&prompt));
        let heard = stdout.run(move || {
            // A pipe that cannot be read is at its end; the run is judged by what came before.
            let _ = pump::drain(pipes.stdout, &stdout_stop, |chunk| stream.push(chunk));
            stream.end()
        });
        let stderr = stderr.run(move || {
            let _ = pump::drain(pipes.stderr, &stderr_stop, |chunk| stderr_sink.stderr(chunk));
        });
        Connected { stop, heard, stderr }
    }
}

/// The threads while Codex runs.
#[derive(Debug)]
pub struct Connected {
    stop: Stop,
    heard: Receiver<Heard>,
    stderr: Receiver<()>,
}

impl Connected {
    /// Reads what is left in the pipes. Returns what came on stdout.
    ///
    /// # Errors
    /// The exit status of the launcher, when the reader of the progress file takes nothing until the drain deadline.
    pub fn finish(self, drain_deadline: &DrainDeadline<'_>) -> Result<Heard, Status> {
        self.stop.call();
        let heard = drain_deadline.receive(&self.heard)?;
        // Only the stderr file can delay this, and that has a time limit of its own.
        let _ = self.stderr.recv();
        Ok(heard)
    }
}
