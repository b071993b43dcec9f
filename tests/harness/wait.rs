//! Waiting for a condition. No test sleeps and hopes.

use std::time::{Duration, Instant};

/// Far longer than anything takes that is waited for.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// Returns when `condition` holds. Panics when it does not within `deadline`.
#[track_caller]
pub(crate) fn wait_until(what: &str, deadline: Duration, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < deadline, "still not so after {deadline:?}: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// So many seconds.
pub(crate) const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
