//! The one place that prints to stderr.
//!
//! A message is one line, `name: what: why`. What is printed is made harmless for a terminal here, so that no
//! caller can forget it. A stderr that is closed or gone costs nothing: there is nobody to tell. One that is full, and
//! whose reader takes nothing, costs a second once: no filter hangs because nobody listens to it.

use super::exit::Status;
use super::safe;
use std::io::{self, Write};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};
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

/// Hands `text` to the writer, a thread: a full pipe or terminal cannot be left in any other way.
fn print(text: String) {
    let mut writer = WRITER.lock().unwrap_or_else(PoisonError::into_inner);
    if DEAF.load(Ordering::Relaxed) {
        return;
    }
    let rest = match writer.as_ref().filter(|writer| writer.is_of_this_process()) {
        Some(writer) => writer.print(text),
        None => Err(text),
    };
    let Err(text) = rest else { return };
    match Writer::start() {
        Some(new) => {
            // It has just begun to wait for its first message.
            let _ = writer.insert(new).print(text);
        }
        None => write(text.as_bytes()),
    }
}

/// The thread that writes messages. Ten thousand of them do not cost ten thousand threads.
#[derive(Debug)]
struct Writer {
    process: u32,
    messages: SyncSender<String>,
    written: Receiver<()>,
}

static WRITER: Mutex<Option<Writer>> = Mutex::new(None);

impl Writer {
    /// Starts one; `None` where there is no thread to be had. It ends when no message comes for a while.
    fn start() -> Option<Writer> {
        // A message is taken by a thread that waits for it, or not at all.
        let (messages, queue) = mpsc::sync_channel::<String>(0);
        let (done, written) = mpsc::channel();
        let work = move || {
            while let Ok(text) = queue.recv_timeout(PATIENCE) {
                write(text.as_bytes());
                // Nobody waits any more when it took too long.
                let _ = done.send(());
            }
        };
        thread::Builder::new().spawn(work).ok()?;
        Some(Writer { process: process::id(), messages, written })
    }

    /// A process that was forked from the one that started it does not have its thread.
    fn is_of_this_process(&self) -> bool {
        self.process == process::id()
    }

    /// Prints `text`, and waits for that as long as its reader may take. The error is the text when the thread has
    /// ended.
    fn print(&self, text: String) -> Result<(), String> {
        self.messages.send(text).map_err(|unsent| unsent.0)?;
        DEAF.store(self.written.recv_timeout(PATIENCE).is_err(), Ordering::Relaxed);
        Ok(())
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
