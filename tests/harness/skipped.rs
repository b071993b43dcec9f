//! What a test says that cannot do its work here.

use std::io::Write;

/// Says on stderr that this test is skipped, and why. A test that passes has its `eprintln!` swallowed, so the line is
/// written by itself.
pub(crate) fn skipped(why: &str) {
    let thread = std::thread::current();
    let line = format!("skipped: {}: {why}\n", thread.name().unwrap_or("a test"));
    std::io::stderr().write_all(line.as_bytes()).expect("stderr");
}
