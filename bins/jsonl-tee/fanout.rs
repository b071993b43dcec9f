//! Several outputs that take the same lines, each until it fails.

use crate::backlog::Backlog;
use common::edge::output::Output;
use std::io;

/// What is to be done about an output that fails. It gets nothing more in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// Nothing: nobody is missing it.
    Drop,
    /// The user is to be told; the other outputs go on.
    Tell,
    /// The user is to be told, and the filter ends.
    End,
}

/// What is to be done about failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// When the reader of a pipe or socket has left.
    pub broken_pipe: OnError,
    /// When anything else is wrong.
    pub other: OnError,
}

/// The failure of one output.
#[derive(Debug)]
pub struct Failure {
    /// The name that the output was given.
    pub name: String,
    /// What went wrong.
    pub error: io::Error,
    /// What is to be done about it; never [`OnError::Drop`].
    pub on_error: OnError,
}

/// The outputs that have not failed.
#[derive(Debug)]
pub struct Fanout {
    branches: Vec<Branch>,
    policy: Policy,
}

#[derive(Debug)]
struct Branch {
    name: String,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// A slow one slows everything.
    Straight(Output),
    /// A slow one falls behind.
    Behind(Backlog),
}

impl Fanout {
    /// No output yet.
    pub fn new(policy: Policy) -> Fanout {
        Fanout { branches: Vec::new(), policy }
    }

    /// Adds `output`, called `name` where it fails.
    pub fn add(&mut self, name: String, output: Output) {
        self.branches.push(Branch { name, way: Way::Straight(output) });
    }

    /// Adds `output` in such a way that it may fall behind the others; see [`Backlog`].
    pub fn add_detached(&mut self, name: String, output: Output) {
        self.branches.push(Branch { name, way: Way::Behind(Backlog::new(output)) });
    }

    /// Whether there is no output that has not failed.
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Writes `lines` to each output: whole lines, or the next piece of one. Gives the outputs that failed, as far
    /// as anything is to be done about them.
    pub fn write(&mut self, lines: &[u8]) -> Vec<Failure> {
        let (mut failures, policy) = (Vec::new(), self.policy);
        self.branches.retain_mut(|branch| {
            let result = match &mut branch.way {
                Way::Straight(output) => output.lines(lines),
                Way::Behind(backlog) => backlog.push(lines),
            };
            result.map_err(|error| failures.extend(policy.failure(&branch.name, error))).is_ok()
        });
        failures
    }

    /// Waits until those that fell behind have taken everything. Gives the outputs that failed, as
    /// [`Fanout::write`] does; no output is left.
    pub fn finish(&mut self) -> Vec<Failure> {
        let policy = self.policy;
        let finish = |branch: Branch| match branch.way {
            Way::Straight(_) => None,
            Way::Behind(backlog) => {
                backlog.finish().err().and_then(|error| policy.failure(&branch.name, error))
            }
        };
        self.branches.drain(..).filter_map(finish).collect()
    }

    /// Gives all outputs up.
    pub fn clear(&mut self) {
        self.branches.clear();
    }
}

impl Policy {
    fn failure(self, name: &str, error: io::Error) -> Option<Failure> {
        let broken_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        let on_error = if broken_pipe { self.broken_pipe } else { self.other };
        (on_error != OnError::Drop).then(|| Failure { name: name.to_owned(), error, on_error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::edge::output::At;
    use std::path::Path;

    #[test]
    fn an_output_that_fails_is_told_once_and_the_others_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let policy = Policy { broken_pipe: OnError::Drop, other: OnError::Tell };
        let mut fanout = Fanout::new(policy);
        fanout.add("full".into(), Output::share(Path::new("/dev/full"), At::Start).unwrap());
        fanout.add("f".into(), Output::share(&path, At::Start).unwrap());
        let failures = fanout.write(b"one\n");
        assert_eq!(failures.len(), 1);
        assert_eq!((failures[0].name.as_str(), failures[0].on_error), ("full", OnError::Tell));
        assert!(fanout.write(b"two\n").is_empty());
        assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");
        assert!(!fanout.is_empty());
    }

    #[test]
    fn a_policy_tells_broken_pipes_from_all_else() {
        let policy = Policy { broken_pipe: OnError::Drop, other: OnError::End };
        assert!(policy.failure("p", io::ErrorKind::BrokenPipe.into()).is_none());
        let failure = policy.failure("p", io::ErrorKind::StorageFull.into());
        assert_eq!(failure.map(|failure| failure.on_error), Some(OnError::End));
    }
}
