//! Erases variables that nothing started here may see, also from the memory of this process.

use common::sys::environment;
use std::sync::OnceLock;

/// The names of the erased variables that were set.
static ERASED: OnceLock<Vec<String>> = OnceLock::new();

/// Removes variables from the environment of this process and overwrites their values in its memory. A descendant of the
/// same user can read the environment that its ancestors were started with (/proc/PID/environ).
///
/// It is called once, while this process has one thread.
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
