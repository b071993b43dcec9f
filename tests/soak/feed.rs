//! What a tool reads through the whole soak.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

/// Writes into a tool, from a thread of its own; the tool's input ends with this value.
pub(super) struct Feed {
    chunks: Sender<Arc<[u8]>>,
    /// How many chunks have not been taken yet.
    pending: Arc<AtomicUsize>,
}

impl Feed {
    /// Writes into what `open` gives, which may wait for its reader.
    pub(super) fn new<W: Write>(open: impl FnOnce() -> W + Send + 'static) -> Feed {
        let (chunks, source) = channel::<Arc<[u8]>>();
        let pending = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&pending);
        std::thread::spawn(move || {
            let mut writer = open();
            for chunk in source {
                writer.write_all(&chunk).expect("feeding a tool");
                left.fetch_sub(1, Ordering::Relaxed);
            }
        });
        Feed { chunks, pending }
    }

    /// Writes this next.
    pub(super) fn push(&self, chunk: &Arc<[u8]>) {
        self.pending.fetch_add(1, Ordering::Relaxed);
        self.chunks.send(Arc::clone(chunk)).expect("a feed that goes on");
    }

    /// Whether all of it has been taken.
    pub(super) fn is_taken(&self) -> bool {
        self.pending.load(Ordering::Relaxed) == 0
    }
}
