//! The one place that prints to stderr.
//!
//! A message is one line, `name: what: why`. What is printed is made harmless for a terminal here, so that no
//! caller can forget it. A stderr that is closed or gone costs nothing: there is nobody to tell.

use super::safe;
use std::io::Write;

/// Prints `name: message` as one line.
pub fn line(name: &str, message: &str) {
    write(&format!("{name}: {}\n", safe::line(message)));
}

/// Prints `text`, which may have several lines, ending in LF.
pub fn block(text: &str) {
    let text = text.strip_suffix('\n').unwrap_or(text);
    write(&format!("{}\n", safe::block(text)));
}

fn write(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// An error of the system in words, lower case and without its number.
pub fn why(error: &std::io::Error) -> String {
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or_default();
    let mut chars = words.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}
