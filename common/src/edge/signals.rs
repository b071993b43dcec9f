//! The signals that this process takes, as messages on a channel.

use crate::sys::disposition;
use crossbeam_channel::Sender;
use nix::sys::signal::SigSet;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

/// Something that a supervised run is told of from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// The user asks for the end with this signal: INT, TERM, HUP or QUIT.
    User(i32),
    /// A child process changed its state.
    Child,
    /// What the run has printed shows that it must end.
    Halt,
}

/// Sends a notice for each INT, TERM, QUIT, CHLD, and HUP, from now on; returns when they are being listened for.
///
/// A shell starts a background job with INT and QUIT ignored; they are taken all the same, or such a run could not
/// be cancelled. An ignored HUP stays ignored: `nohup` asked for that. Caught signals are at their default in a
/// child after exec; ignored ones would stay ignored there, and Codex would not hear the INT it is stopped with.
/// XFSZ is caught for the same reason, so that a file size limit shows as a failed write and not as a death.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn notify(notices: Sender<Notice>) -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    let mut wanted = vec![SIGINT, SIGTERM, SIGQUIT, SIGCHLD];
    if !disposition::is_ignored(SIGHUP) {
        wanted.push(SIGHUP);
    }
    let mut signals = Signals::new(wanted)?;
    // A parent may have left some of them blocked.
    SigSet::empty().thread_set_mask()?;
    thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            let notice = if signal == SIGCHLD { Notice::Child } else { Notice::User(signal) };
            if notices.send(notice).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}
