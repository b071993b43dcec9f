//! The error of what has been printed already.

use super::exit::Status;
use super::say;
use std::io;
use std::process::ExitCode;

/// SIGPIPE; the number is the same on every platform.
const SIGPIPE: i32 = 13;

/// An error that has been printed on stderr, or needs no message. Its exit status is what remains to be done.
///
/// Only this module and [`super::args`] make one, each where it prints. So no error is printed twice, or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Printed(Status);

impl Printed {
    /// Prints `name: message` as one line on stderr.
    pub fn message(name: &str, status: Status, message: &str) -> Printed {
        say::line(name, message);
        Printed(status)
    }

    /// Prints that standard output cannot be written. Prints nothing when its reader has left: the filter then ends with
    /// the status of SIGPIPE, as other programs of a pipeline do.
    pub fn stdout_failure(name: &str, error: &io::Error) -> Printed {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Printed(Status::signal(SIGPIPE));
        }
        Printed::message(name, Status::IO, &format!("standard output: write: {}", say::why(error)))
    }

    /// What the command line parser has printed: the help, or the version.
    pub(super) fn help() -> Printed {
        Printed(Status::DONE)
    }

    /// The exit status that remains.
    pub fn status(self) -> Status {
        self.0
    }
}

/// The exit code of a filter whose `main` came to `result`.
pub fn exit_code(result: Result<Status, Printed>) -> ExitCode {
    result.unwrap_or_else(Printed::status).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_left_is_no_input_output_error() {
        let status = |kind: io::ErrorKind| Printed::stdout_failure("test", &kind.into()).status();
        assert_eq!(status(io::ErrorKind::BrokenPipe), Status::signal(SIGPIPE));
        assert_eq!(status(io::ErrorKind::StorageFull), Status::IO);
    }
}
