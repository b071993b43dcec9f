//! System calls that the standard library lacks: the only unsafe code and the only `cfg(target_os)`.
//!
//! The functions are the same on every platform. Where a platform cannot do something, the result says so, and the caller
//! goes on without it.
#![allow(unsafe_code)]

pub mod descriptor;
pub mod disposition;
pub mod environment;
pub mod folder;
pub mod fs_watch;
pub mod lock;
pub mod process;
pub mod process_table;
pub mod reserve;

/// Whether this platform stands for one that has nothing of its own, so that the portable code can be tested on any:
/// the variable CODEX_FILTERS_PORTABLE is set, to anything. Only builds for tests and benches know that variable.
#[cfg(target_os = "linux")]
fn is_forced_portable() -> bool {
    cfg!(feature = "portable-switch") && std::env::var_os("CODEX_FILTERS_PORTABLE").is_some()
}
