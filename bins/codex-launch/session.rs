//! The session file: the thread's id, as soon as it is known.

use crate::patience::LAST_CALL;
use common::edge::place::{self, Making, Standing};
use common::edge::replace;
use common::edge::worker::Worker;
use crossbeam_channel::Receiver;
use std::io;
use std::path::PathBuf;

/// Where the id goes, and what has come of it.
#[derive(Debug)]
pub struct Session {
    path: PathBuf,
    /// The name it is written under before it is moved there.
    beside: String,
    /// The id that was written last.
    id: String,
    state: State,
}

#[derive(Debug)]
enum State {
    /// It is written as far as it is known, or could not be.
    Done(Option<io::Error>),
    /// Somebody writes it to what may have to wait for a reader.
    Waiting(Receiver<io::Result<()>>),
}

impl Session {
    /// Nothing is written to `path` yet; it will be under the name `beside` first.
    pub fn new(path: PathBuf, beside: String) -> Session {
        Session { path, beside, id: String::new(), state: State::Done(None) }
    }

    /// Writes `id`, unless it was the last one written. Nothing waits for a reader of it here.
    pub fn write(&mut self, id: &str) {
        if self.id == id {
            return;
        }
        id.clone_into(&mut self.id);
        let (path, beside, line) = (self.path.clone(), self.beside.clone(), format!("{id}\n"));
        let write = move || replace::file(&path, line.as_bytes(), &beside);
        let may_wait = matches!(place::look(&self.path, Making::Moved), Ok(Standing::Special));
        self.state = match may_wait.then(Worker::hire) {
            Some(Ok(worker)) => State::Waiting(worker.run(write)),
            Some(Err(error)) => State::Done(Some(error)),
            None => State::Done(write().err()),
        };
    }

    /// The failure to write it, if any. A reader that has not come by now is not waited for much longer.
    pub fn finish(self) -> Option<io::Error> {
        match self.state {
            State::Done(error) => error,
            State::Waiting(result) => match result.recv_timeout(LAST_CALL) {
                Ok(result) => result.err(),
                Err(_) => Some(io::Error::other("its reader takes nothing")),
            },
        }
    }
}
