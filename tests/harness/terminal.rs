//! A terminal that shows what a filter prints.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;

use nix::pty::openpty;

use super::filter::Filter;
use super::ran::Ran;

/// A terminal: what is written to the descriptor is shown.
pub(crate) struct Terminal {
    shown: JoinHandle<Vec<u8>>,
}

impl Terminal {
    /// A terminal, and the descriptor that a program has of it.
    pub(crate) fn open() -> (Terminal, OwnedFd) {
        let pty = openpty(None, None).expect("a terminal");
        let mut master = File::from(pty.master);
        let shown = std::thread::spawn(move || {
            let mut all = Vec::new();
            // On Linux reading fails with EIO once nobody has the other end any more.
            let _ = master.read_to_end(&mut all);
            all
        });
        (Terminal { shown }, pty.slave)
    }

    /// What was shown when all programs have closed it. Its line ends are those of the program.
    pub(crate) fn text(self) -> String {
        let all = self.shown.join().expect("reading a terminal");
        String::from_utf8(all).expect("UTF-8 on the terminal").replace("\r\n", "\n")
    }
}

/// Runs `filter` with a terminal as its stdout; gives how it ended and what was shown.
#[track_caller]
pub(crate) fn on_a_terminal(filter: Filter) -> (Ran, String) {
    let (terminal, stdout) = Terminal::open();
    let ran = filter.stdout_to(stdout).run();
    (ran, terminal.text())
}
