//! Notices where no facility is used to get them: there are none, and waiting is letting time pass.

use super::{Bell, Notice, Notices, Wanted, Watch};
use std::path::Path;
use std::time::Duration;

/// Tells nothing.
#[derive(Debug)]
pub(super) struct Clock;

impl Notices for Clock {
    fn watch(&mut self, _folder: &Path, _wanted: Wanted) -> Option<Watch> {
        None
    }

    fn forget(&mut self, _watch: Watch) {}

    fn wait(&mut self, most: Duration, bells: &[Bell]) -> Vec<Notice> {
        super::poll(None, most, bells);
        Vec::new()
    }
}
