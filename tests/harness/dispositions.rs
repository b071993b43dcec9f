//! Signals that the test runner was started with ignored, as `nohup` and `&` in a script do it.

use std::sync::{Arc, Once};

use nix::sys::signal::Signal;

/// Those that filters do something about.
const SIGNALS: [Signal; 8] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGALRM,
    Signal::SIGXFSZ,
];

/// Whatever is started from now on starts with these signals at their default. To the test runner they still do
/// nothing.
///
/// A signal that is ignored stays so across exec, one that is caught does not: so those that are ignored are caught.
pub(crate) fn default_in_children() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
        let mask = u64::from_str_radix(mask.trim(), 16).expect("a mask in hexadecimal");
        for signal in SIGNALS.map(|signal| signal as i32) {
            if mask >> (signal - 1) & 1 == 1 {
                signal_hook::flag::register(signal, Arc::default()).expect("a handler");
            }
        }
    });
}
