//! What goes to stdout, and what becomes of it when that fails.

use crate::NAME;
use common::edge::output::Output;
use common::face::exit::Status;
use common::face::safe;
use common::face::say::{self, why};
use nix::libc::SIGPIPE;
use std::io;
use std::path::Path;

/// Standard output; the error is the status, and has been said.
pub fn stdout() -> Result<Output, Status> {
    Output::stdout().map_err(|error| failed(&error))
}

/// The status of a failure to write to stdout, which is said. A reader that left is no failure to speak of: it ends
/// the filter as the signal would, and quietly.
pub fn failed(error: &io::Error) -> Status {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Status::signal(SIGPIPE);
    }
    say::line(NAME, &format!("standard output: write: {}", why(error)));
    Status::IO
}

/// A path within a line.
pub fn path(path: &Path) -> String {
    safe::line(&path.to_string_lossy()).into_owned()
}
