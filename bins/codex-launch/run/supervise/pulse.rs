//! Whether the output of a program says that its work is done, shared between its reader and its supervisor.

use common::edge::signals::Notice;
use crossbeam_channel::Sender;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Written by the reader of the output, read by the supervisor. Copies share their state.
#[derive(Debug, Clone)]
pub struct Pulse {
    shared: Arc<Shared>,
    notices: Sender<Notice>,
}

#[derive(Debug)]
struct Shared {
    base: Instant,
    /// When the last output came of a program whose work is done, in microseconds since `base` and one more; 0 while
    /// its work goes on.
    done: AtomicU64,
    /// Whether a notice is under way. There is never more than one, however much output comes.
    told: AtomicBool,
}

impl Pulse {
    /// The pulse of a program whose work goes on. A notice is sent when it is done.
    pub fn new(notices: Sender<Notice>) -> Pulse {
        let shared = Shared { base: Instant::now(), done: AtomicU64::new(0), told: AtomicBool::new(false) };
        Pulse { shared: Arc::new(shared), notices }
    }

    /// Output has come, and what it says is not known yet.
    pub fn busy(&self) {
        self.shared.done.store(0, Ordering::SeqCst);
    }

    /// The output that has come says whether the work is done.
    pub fn beat(&self, is_done: bool) {
        if !is_done {
            return self.busy();
        }
        let now = u64::try_from(self.shared.base.elapsed().as_micros()).unwrap_or(u64::MAX - 1);
        self.shared.done.store(now + 1, Ordering::SeqCst);
        if !self.shared.told.swap(true, Ordering::SeqCst) {
            // A run that is over no longer listens.
            let _ = self.notices.send(Notice::Done);
        }
    }

    /// Since when nothing has come of a program whose work is done, as a time since `started`.
    pub(super) fn done_since(&self, started: Instant) -> Option<Duration> {
        self.shared.told.store(false, Ordering::SeqCst);
        let micros = self.shared.done.load(Ordering::SeqCst).checked_sub(1)?;
        Some((self.shared.base + Duration::from_micros(micros)).saturating_duration_since(started))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::unbounded;

    #[test]
    fn work_is_done_until_more_comes_and_one_notice_is_under_way() {
        let (notify, notices) = unbounded();
        let pulse = Pulse::new(notify);
        let started = Instant::now();
        assert_eq!(pulse.done_since(started), None);
        pulse.beat(false);
        assert_eq!((pulse.done_since(started), notices.len()), (None, 0));
        (0..5).for_each(|_| pulse.beat(true));
        assert_eq!(notices.len(), 1);
        assert!(pulse.done_since(started).is_some_and(|since| since <= started.elapsed()));
        pulse.busy();
        assert_eq!(pulse.done_since(started), None);
        pulse.beat(true);
        assert_eq!(notices.len(), 2);
    }
}
