//! What feeds and drains Codex while it is supervised. Nothing here can hold the supervision up.

use crate::check::Refusal;
use crate::patience::Patience;
use crate::stream::{Aside, Stream, lock};
use common::edge::pump::{self, Stop};
use common::edge::supervise;
use common::edge::worker::Worker;
use crossbeam_channel::Receiver;
use std::fs::File;
use std::io::{self, PipeReader, Write};
use std::sync::{Arc, Mutex};

/// The threads for the three pipes of a child that is not there yet.
#[derive(Debug)]
pub struct Pipes {
    stop: Stop,
    listeners: [PipeReader; 2],
    workers: [Worker; 3],
}

impl Pipes {
    /// Makes everything that can fail, so that nothing can once Codex runs.
    pub fn hire() -> io::Result<Pipes> {
        let stop = Stop::new()?;
        let listeners = [stop.listener()?, stop.listener()?];
        Ok(Pipes { stop, listeners, workers: [Worker::hire()?, Worker::hire()?, Worker::hire()?] })
    }

    /// Feeds `prompt` to the child, its stdout to `stream` and its stderr to `aside`.
    pub fn connect(
        self,
        pipes: supervise::Pipes,
        prompt: Vec<u8>,
        mut stream: Stream,
        aside: Arc<Mutex<Aside>>,
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
            let _ = pump::drain(pipes.stderr, &stderr_stop, |chunk| lock(&aside).stderr(chunk));
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
    /// Lets them take what is left in the pipes, and gives the stream back.
    pub fn finish(self, patience: &Patience<'_>) -> Result<Stream, Refusal> {
        self.stop.call();
        let stream = patience.receive("progress file", &self.stream)?;
        patience.receive("stderr file", &self.stderr)?;
        Ok(stream)
    }
}
