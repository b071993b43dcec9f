//! Writes the same lines to several outputs. An output that fails gets nothing more; the others go on.

use crate::backlog::Backlog;
use common::edge::output::Output;
use std::io;

/// What to do when an output fails. It gets nothing more in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// Nothing.
    Ignore,
    /// Print a message; the other outputs go on.
    Warn,
    /// Print a message and exit.
    Exit,
}

/// What to do about each kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorPolicy {
    /// When the reader of a pipe or socket has left.
    pub broken_pipe: OnError,
    /// When any other error occurs.
    pub other: OnError,
}

/// The failure of one output.
#[derive(Debug)]
pub struct OutputFailure {
    /// The name of the output in messages.
    pub name: String,
    /// The error.
    pub error: io::Error,
    /// What to do about it; never [`OnError::Ignore`].
    pub on_error: OnError,
}

/// The outputs that have not failed.
#[derive(Debug)]
pub struct Fanout {
    branches: Vec<Branch>,
    policy: ErrorPolicy,
}

#[derive(Debug)]
struct Branch {
    name: String,
    writer: BranchWriter,
}

#[derive(Debug)]
enum BranchWriter {
    /// A slow reader slows all outputs.
    Direct(Output),
    /// A slow reader falls behind.
    Detached(Backlog),
}

impl Fanout {
    /// No output yet.
    pub fn new(policy: ErrorPolicy) -> Fanout {
        Fanout { branches: Vec::new(), policy }
    }

    /// Adds `output`, which messages call `name`.
    pub fn add(&mut self, name: String, output: Output) {
        self.branches.push(Branch { name, writer: BranchWriter::Direct(output) });
    }

    /// Adds `output`, which may fall behind the others; see [`Backlog`].
    pub fn add_detached(&mut self, name: String, output: Output) {
        self.branches.push(Branch { name, writer: BranchWriter::Detached(Backlog::new(output)) });
    }

    /// Whether every output has failed, or there was none.
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Writes `lines` to each output: whole lines, or the next piece of one. Returns the failures that are not to be
    /// ignored.
    pub fn write(&mut self, lines: &[u8]) -> Vec<OutputFailure> {
        let (mut failures, policy) = (Vec::new(), self.policy);
        self.branches.retain_mut(|branch| {
            let result = match &mut branch.writer {
                BranchWriter::Direct(output) => output.lines(lines),
                BranchWriter::Detached(backlog) => backlog.push(lines),
            };
            result.map_err(|error| failures.extend(policy.failure(&branch.name, error))).is_ok()
        });
        failures
    }

    /// Waits until the detached outputs have taken everything, and closes all. Returns the failures that are not to be
    /// ignored.
    pub fn finish(&mut self) -> Vec<OutputFailure> {
        let policy = self.policy;
        let finish = |branch: Branch| match branch.writer {
            BranchWriter::Direct(_) => None,
            BranchWriter::Detached(backlog) => {
                backlog.finish().err().and_then(|error| policy.failure(&branch.name, error))
            }
        };
        self.branches.drain(..).filter_map(finish).collect()
    }

    /// Closes all outputs, without waiting.
    pub fn clear(&mut self) {
        self.branches.clear();
    }
}

impl ErrorPolicy {
    fn failure(self, name: &str, error: io::Error) -> Option<OutputFailure> {
        let broken_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        let on_error = if broken_pipe { self.broken_pipe } else { self.other };
        (on_error != OnError::Ignore).then(|| OutputFailure { name: name.to_owned(), error, on_error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::edge::output::At;
    use std::path::Path;

    #[test]
    fn an_output_that_fails_is_reported_once_and_the_others_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let policy = ErrorPolicy { broken_pipe: OnError::Ignore, other: OnError::Warn };
        let mut fanout = Fanout::new(policy);
        fanout.add("full".into(), Output::share(Path::new("/dev/full"), At::Start).unwrap());
        fanout.add("f".into(), Output::share(&path, At::Start).unwrap());
        let failures = fanout.write(b"one\n");
        assert_eq!(failures.len(), 1);
        assert_eq!((failures[0].name.as_str(), failures[0].on_error), ("full", OnError::Warn));
        assert!(fanout.write(b"two\n").is_empty());
        assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");
        assert!(!fanout.is_empty());
    }

    #[test]
    fn a_policy_distinguishes_broken_pipes_from_other_errors() {
        let policy = ErrorPolicy { broken_pipe: OnError::Ignore, other: OnError::Exit };
        assert!(policy.failure("p", io::ErrorKind::BrokenPipe.into()).is_none());
        let failure = policy.failure("p", io::ErrorKind::StorageFull.into());
        assert_eq!(failure.map(|failure| failure.on_error), Some(OnError::Exit));
    }
}
