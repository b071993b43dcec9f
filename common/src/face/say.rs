//! Printing to stderr; nothing else in the project prints there, but the live table of `wave-watch`.
//!
//! A message is one line, `name: what: why`. Control characters are escaped here, so that no caller can forget it. A
//! stderr that is closed is ignored. One that is full, and whose reader takes nothing, is given up after a second, so that
//! no filter hangs because of it.

use super::safe;
use std::io::{self, Write};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum time that a reader of stderr has to take a message.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// Time between two attempts to write to a stderr that another process made non-blocking.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Whether stderr is given up: a message was not taken in time, and no other is tried.
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Prints `name: message` as one line.
pub fn line(name: &str, message: &str) {
    print(format!("{name}: {}\n", safe::line(message)));
}

/// Prints `text`, which may have several lines, ending in LF.
pub fn block(text: &str) {
    let text = text.strip_suffix('\n').unwrap_or(text);
    print(format!("{}\n", safe::block(text)));
}

/// Hands `text` to the writer thread: a blocked write to a full pipe or terminal cannot be abandoned in any other way.
fn print(text: String) {
    let mut writer = WRITER.lock().unwrap_or_else(PoisonError::into_inner);
    if GIVEN_UP.load(Ordering::Relaxed) {
        return;
    }
    let rest = match writer.as_ref().filter(|writer| writer.is_of_this_process()) {
        Some(writer) => writer.print(text),
        None => Err(text),
    };
    let Err(text) = rest else { return };
    match Writer::start() {
        Some(new) => {
            // A new writer waits for its first message.
            let _ = writer.insert(new).print(text);
        }
        None => write(text.as_bytes()),
    }
}

/// The thread that writes messages. One thread writes many, so ten thousand messages do not cost ten thousand threads.
#[derive(Debug)]
struct Writer {
    process: u32,
    messages: SyncSender<String>,
    written: Receiver<()>,
}

static WRITER: Mutex<Option<Writer>> = Mutex::new(None);

impl Writer {
    /// Starts a writer; `None` where no thread can be started. It ends when no message comes for [`WRITE_TIMEOUT`].
    fn start() -> Option<Writer> {
        // Without a buffer, sending succeeds only when the thread waits for a message.
        let (messages, queue) = mpsc::sync_channel::<String>(0);
        let (done, written) = mpsc::channel();
        let work = move || {
            while let Ok(text) = queue.recv_timeout(WRITE_TIMEOUT) {
                write(text.as_bytes());
                // The receiver is gone when writing took too long.
                let _ = done.send(());
            }
        };
        thread::Builder::new().spawn(work).ok()?;
        Some(Writer { process: process::id(), messages, written })
    }

    /// Whether this process started the writer. A forked child does not have its parent's threads.
    fn is_of_this_process(&self) -> bool {
        self.process == process::id()
    }

    /// Prints `text`, and waits for that for at most [`WRITE_TIMEOUT`]. The error is `text`, when the thread has ended.
    fn print(&self, text: String) -> Result<(), String> {
        self.messages.send(text).map_err(|unsent| unsent.0)?;
        GIVEN_UP.store(self.written.recv_timeout(WRITE_TIMEOUT).is_err(), Ordering::Relaxed);
        Ok(())
    }
}

fn write(mut text: &[u8]) {
    let start = Instant::now();
    while !text.is_empty() {
        match io::stderr().write(text) {
            Ok(count) => text = &text[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && start.elapsed() < WRITE_TIMEOUT => {
                thread::sleep(RETRY_INTERVAL);
            }
            Err(_) => return,
        }
    }
}

/// The message of a system error, in lower case and without its number.
pub fn why(error: &io::Error) -> String {
    let text = error.to_string();
    let message = text.split(" (os error").next().unwrap_or_default();
    let mut chars = message.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}
