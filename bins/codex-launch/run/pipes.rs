//! What feeds and drains Codex while it is supervised. Nothing here can hold the supervision up.

use crate::finish::drain_deadline::DrainDeadline;
use crate::run::stderr_sink::StderrSink;
use crate::run::stream::Stream;
use crate::run::supervise;
use common::edge::pump::{self, Stop};
use common::edge::worker::Worker;
use common::face::exit::Status;
use crossbeam_channel::Receiver;
use std::fs::File;
use std::io::{self, PipeReader, Write};

/// The threads for the three pipes of a child that is not there yet.
#[derive(Debug)]
pub struct Pipes {
    stop: Stop,
    listeners: [PipeReader; 2],
    workers: [Worker; 3],
}

impl Pipes {
    /// Makes everything that can fail, so that nothing can once Codex runs.
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
        // A child that leaves before it has read its prompt has its reasons, and a status of its own.
        feeder.run(move || File::from(pipes.stdin).write_all(&prompt));
        let stream = stdout.run(move || {
            // A pipe that cannot be read has nothing more to say; the run is judged by what it said.
            let _ = pump::drain(pipes.stdout, &stdout_stop, |chunk| stream.push(chunk));
            stream.end();
            stream
        });
        let stderr = stderr.run(move || {
            let _ = pump::drain(pipes.stderr, &stderr_stop, |chunk| stderr_sink.stderr(chunk));
        });
        Connected { stop, stream, stderr }
    }
}

/// The threads at work.
#[derive(Debug)]
pub struct Connected {
    stop: Stop,
    stream: Receiver<Stream>,
    stderr: Receiver<()>,
}

impl Connected {
    /// Lets them take what is left in the pipes, and gives the stream back. The error is the status that the launcher
    /// ends with when the progress file's reader takes nothing and the drain_deadline with it ends.
    pub fn finish(self, drain_deadline: &DrainDeadline<'_>) -> Result<Stream, Status> {
        self.stop.call();
        let stream = drain_deadline.receive(&self.stream)?;
        // What holds this up is the stderr file alone, and that is given up by itself.
        let _ = self.stderr.recv();
        Ok(stream)
    }
}
