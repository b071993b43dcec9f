//! The one place that prints to stderr.
//!
//! A message is one line, `name: what: why`. What is printed is made harmless for a terminal here, so that no
//! caller can forget it. A stderr that is closed or gone costs nothing: there is nobody to tell. One that is full, and
//! whose reader takes nothing, costs a second once: no filter hangs because nobody listens to it.

use super::exit::Status;
use super::safe;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// How long a reader of stderr has to take a message.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a stderr that somebody made non-blocking is tried again.
const AGAIN: Duration = Duration::from_millis(5);

/// Whether a message was not taken in time; no other is tried then.
static DEAF: AtomicBool = AtomicBool::new(false);

/// Prints `name: message` as one line.
pub fn line(name: &str, message: &str) {
    print(format!("{name}: {}\n", safe::line(message)));
}

/// Prints `text`, which may have several lines, ending in LF.
pub fn block(text: &str) {
    let text = text.strip_suffix('\n').unwrap_or(text);
    print(format!("{}\n", safe::block(text)));
}

/// Writes in a thread: a full pipe or terminal cannot be left in any other way.
fn print(text: String) {
    if DEAF.load(Ordering::Relaxed) {
        return;
    }
    let (done, wait) = mpsc::channel();
    let text = Arc::new(text);
    let shared = Arc::clone(&text);
    let writer = move || {
        write(shared.as_bytes());
        // Nobody waits any more when it took too long.
        let _ = done.send(());
    };
    match thread::Builder::new().spawn(writer) {
        Ok(_) => DEAF.store(wait.recv_timeout(PATIENCE).is_err(), Ordering::Relaxed),
        Err(_) => write(text.as_bytes()),
    }
}

fn write(mut text: &[u8]) {
    let start = Instant::now();
    while !text.is_empty() {
        match io::stderr().write(text) {
            Ok(count) => text = &text[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && start.elapsed() < PATIENCE => {
                thread::sleep(AGAIN);
            }
            Err(_) => return,
        }
    }
}

/// An error of the system in words, lower case and without its number.
pub fn why(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or_default();
    let mut chars = words.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}

/// SIGPIPE; the same number on every platform that there is.
const PIPE: i32 = 13;

/// Says that standard output could not be written, and gives the status. A reader that left is no failure to speak of:
/// it ends a filter as the signal would, and quietly.
pub fn lost_stdout(name: &str, error: &io::Error) -> Status {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Status::signal(PIPE);
    }
    line(name, &format!("standard output: write: {}", why(error)));
    Status::IO
}
