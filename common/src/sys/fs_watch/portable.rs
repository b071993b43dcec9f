//! The source of notices where the kernel has none: it only waits.

use super::{Notice, Notices, Waker, Wanted, Watch};
use std::path::Path;
use std::time::Duration;

/// Gives no notices.
#[derive(Debug)]
pub(super) struct NoNotices;

impl Notices for NoNotices {
    fn watch(&mut self, _folder: &Path, _wanted: Wanted) -> Option<Watch> {
        None
    }

    fn forget(&mut self, _watch: Watch) {}

    fn wait(&mut self, most: Duration, wakers: &[Waker]) -> Vec<Notice> {
        super::poll(None, most, wakers);
        Vec::new()
    }
}
