//! Variables that are kept from everything that this process starts, and from whoever looks into this process.

use common::sys::environment;
use std::sync::OnceLock;

/// The variables that were there and are erased.
static ERASED: OnceLock<Vec<String>> = OnceLock::new();

/// Removes variables from the environment of this process and overwrites their values in its memory. A descendant of the
/// same user can read the environment that its ancestors were started with (/proc/PID/environ).
///
/// It is called once, before there is a second thread.
pub fn erase(names: &[&str]) {
    let set = names.iter().filter(|name| std::env::var_os(name).is_some()).map(|name| (*name).to_owned());
    if ERASED.set(set.collect()).is_ok() {
        environment::erase(names);
    }
}

/// Whether a variable was set when this process started.
pub fn was_set(name: &str) -> bool {
    let is_erased = ERASED.get().is_some_and(|erased| erased.iter().any(|one| one == name));
    is_erased || std::env::var_os(name).is_some()
}
