//! The session file: the thread's id, as soon as it is known.

use crate::files::output_path::OutputPath;
use crate::files::temp_names::TempNames;
use crate::finish::drain_deadline::DRAIN_GRACE;
use common::edge::worker::Worker;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use std::io;
use std::sync::Arc;

/// Where the id goes, and what has come of it.
#[derive(Debug)]
pub struct Session {
    path: OutputPath,
    names: Arc<TempNames>,
    /// The id that was written last.
    id: String,
    /// The failure to write it.
    error: Option<io::Error>,
    /// Who writes it to what may have to wait for a reader.
    writer: Option<Writer>,
}

impl Session {
    /// Nothing is written to `path` yet.
    pub fn new(path: OutputPath, names: Arc<TempNames>) -> Session {
        Session { path, names, id: String::new(), error: None, writer: None }
    }

    /// Writes `id`, unless it was the last one written. Nothing waits for a reader of it here.
    pub fn write(&mut self, id: &str) {
        if self.id == id {
            return;
        }
        id.clone_into(&mut self.id);
        let line = format!("{id}\n");
        if self.path.may_wait() {
            self.write_in_background(line);
        } else {
            self.error = self.path.replace(line.as_bytes(), &self.names).err();
        }
    }

    /// Writes a file again that does not hold the id any more: a command of the run may have put another one there, to
    /// be resumed in its place.
    fn write_again(&self) -> io::Result<()> {
        let line = format!("{}\n", self.id);
        if self.id.is_empty() || self.path.holds(line.as_bytes()) {
            return Ok(());
        }
        self.path.replace(line.as_bytes(), &self.names)
    }

    /// One thread for all ids: a stream may name any number of them.
    fn write_in_background(&mut self, line: String) {
        if self.writer.is_none() {
            match Writer::hire(self.path.clone(), Arc::clone(&self.names)) {
                Ok(writer) => self.writer = Some(writer),
                Err(error) => self.error = Some(error),
            }
        }
        if let Some(writer) = &self.writer {
            writer.write(line);
        }
    }

    /// The failure to write it, if any. A reader that has not come by now is not waited for much longer.
    pub fn finish(mut self) -> Option<io::Error> {
        let Some(Writer { lines, waiting, done }) = self.writer.take() else {
            return self.error.take().or_else(|| self.write_again().err());
        };
        drop((lines, waiting));
        match done.recv_timeout(DRAIN_GRACE) {
            Ok(result) => result.err(),
            Err(_) => Some(io::Error::other("its reader takes nothing")),
        }
    }
}

/// A thread that writes one id after the other, and of those that come while it waits only the last.
#[derive(Debug)]
struct Writer {
    lines: Sender<String>,
    /// What the thread has not taken yet.
    waiting: Receiver<String>,
    done: Receiver<io::Result<()>>,
}

impl Writer {
    fn hire(path: OutputPath, names: Arc<TempNames>) -> io::Result<Writer> {
        let (lines, waiting) = bounded::<String>(1);
        let incoming = waiting.clone();
        let done = Worker::spawn()?
            .run(move || incoming.iter().try_for_each(|line| path.replace(line.as_bytes(), &names)));
        Ok(Writer { lines, waiting, done })
    }

    fn write(&self, mut line: String) {
        while let Err(TrySendError::Full(again)) = self.lines.try_send(line) {
            line = again;
            let _ = self.waiting.try_recv();
        }
    }
}
