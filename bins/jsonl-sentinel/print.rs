//! What goes to stdout, and what becomes of it when that fails.

use crate::NAME;
use common::edge::output::Output;
use common::face::exit::Status;
use common::face::printed::Printed;
use common::face::safe;
use std::io;
use std::path::Path;

/// Standard output; the error is the status, and has been said.
pub fn stdout() -> Result<Output, Status> {
    Output::stdout().map_err(|error| failed(&error))
}

/// The status of a failure to write to stdout, which is said.
pub fn failed(error: &io::Error) -> Status {
    Printed::stdout_failure(NAME, error).status()
}

/// A path within a line.
pub fn path(path: &Path) -> String {
    safe::line(&path.to_string_lossy()).into_owned()
}
