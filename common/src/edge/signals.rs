//! Signal handling: signals as messages on a channel for a launch, and as a descriptor to poll for a filter.

use crate::sys::disposition::{self, Held, Ignored};
use crossbeam_channel::Sender;
use nix::sys::signal::SigSet;
use signal_hook::consts::{
    SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTTOU, SIGUSR1, SIGUSR2, SIGXFSZ,
};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// An event outside the loop of a supervised run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// A signal that would end this process: the user asks for the end of the run.
    User(i32),
    /// A child process changed its state.
    Child,
    /// The output of the run shows that it must end.
    Halt,
    /// The output of the run says that its work is done.
    Done,
    /// The guardian is dead: the process that would finish the run in place of this one.
    Abandoned,
}

/// Signals that would end this process too, and that stay ignored where they are: `nohup` ignores HUP. The last three are
/// no usual way to end a program, but they must not leave a run without its launcher.
const UNLESS_IGNORED: [i32; 4] = [SIGHUP, SIGUSR1, SIGUSR2, SIGALRM];

/// Sends a notice for each INT, TERM, QUIT, CHLD and each of `UNLESS_IGNORED` from now on. The handlers are installed when
/// it returns.
///
/// A shell starts a background job with INT and QUIT ignored; they are taken all the same, or such a run could not
/// be cancelled. Caught signals are at their default in a
/// child after exec; ignored ones would stay ignored there, and Codex would not hear the INT it is stopped with.
/// XFSZ is caught for the same reason, so that a file size limit shows as a failed write and not as a death.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn notify(notices: Sender<Notice>) -> io::Result<()> {
    each_notice(move |notice| notices.send(notice).is_ok())
}

/// Calls `take` for each notice of [`notify`], in a thread of its own, until it returns false.
pub fn each_notice(take: impl FnMut(Notice) -> bool + Send + 'static) -> io::Result<()> {
    listen(take, &[SIGTTOU])
}

/// Sends the notices of [`notify`], and blocks the other signals that would end this process.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn notify_and_outlive(notices: Sender<Notice>) -> io::Result<()> {
    let mut held = disposition::fatal();
    held.push(SIGTTOU);
    listen(move |notice| notices.send(notice).is_ok(), &held)
}

/// Listens for signals, and blocks those in `held` and no others: a parent may have left some blocked. TTOU always is:
/// outside the foreground group of a terminal with `stty tostop` it would stop this process at each line of stderr.
/// The standard library starts a child with no signal blocked.
fn listen(mut take: impl FnMut(Notice) -> bool + Send + 'static, held: &[i32]) -> io::Result<()> {
    take_without_effect(SIGXFSZ)?;
    let mut signals = Signals::new(wanted(Ignored::now()))?;
    Held::new(held)?;
    thread::Builder::new().spawn(move || {
        let mut echo = Echo::default();
        for signal in signals.forever() {
            let notice = if signal == SIGCHLD { Notice::Child } else { Notice::User(signal) };
            if !echo.has(notice) && !take(notice) {
                return;
            }
        }
    })?;
    Ok(())
}

fn wanted(ignored: Ignored) -> Vec<i32> {
    let mut wanted = vec![SIGINT, SIGTERM, SIGQUIT, SIGCHLD];
    wanted.extend(UNLESS_IGNORED.into_iter().filter(|signal| !ignored.has(*signal)));
    wanted
}

/// How soon after a signal the same one is its echo: timeout(1) sends it to the process and then to its group.
const ECHO: Duration = Duration::from_millis(5);

/// Recognizes a signal that arrives twice within [`ECHO`].
#[derive(Debug, Default)]
struct Echo(Option<(Notice, Instant)>);

impl Echo {
    fn has(&mut self, notice: Notice) -> bool {
        if !matches!(notice, Notice::User(_)) {
            return false;
        }
        let is_echo = self.0.is_some_and(|(same, at)| same == notice && at.elapsed() < ECHO);
        if !is_echo {
            self.0 = Some((notice, Instant::now()));
        }
        is_echo
    }
}

/// Blocked signals that a process waits for when it has nothing else to do. It needs no handler and no thread, which might
/// not be to be had. Each signal but KILL that would end this process becomes a notice, so the caller sees the status of
/// the run.
#[derive(Debug)]
pub struct Awaited {
    signals: Held,
    echo: Echo,
}

impl Awaited {
    /// Blocks the signals from now on, in this process and in those that it forks, until they are awaited here or listened
    /// for.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn new() -> io::Result<Awaited> {
        let ignored = Ignored::now();
        let fatal = disposition::fatal().into_iter().filter(|signal| !ignored.has(*signal));
        let signals: Vec<i32> = wanted(ignored).into_iter().chain(fatal).collect();
        // Where CHLD is ignored, no notice of a child comes.
        disposition::reset(SIGCHLD)?;
        Ok(Awaited { signals: Held::new(&signals)?, echo: Echo::default() })
    }

    /// Waits for the next notice.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn wait(&mut self) -> io::Result<Notice> {
        loop {
            let signal = self.signals.wait()?;
            if let Some(notice) = self.new_notice(signal) {
                return Ok(notice);
            }
        }
    }

    /// Waits for the next notice, until `deadline` where there is one. Returns `None` when none came.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn wait_until(&mut self, deadline: Option<Instant>) -> io::Result<Option<Notice>> {
        let Some(deadline) = deadline else { return self.wait().map(Some) };
        loop {
            let Some(signal) = self.signals.wait_until(deadline)? else { return Ok(None) };
            if let Some(notice) = self.new_notice(signal) {
                return Ok(Some(notice));
            }
        }
    }

    fn new_notice(&mut self, signal: i32) -> Option<Notice> {
        let notice = if signal == SIGCHLD { Notice::Child } else { Notice::User(signal) };
        (!self.echo.has(notice)).then_some(notice)
    }
}

/// The user's request that a filter ends, by INT, TERM or HUP. Its descriptor is readable once the request was made.
#[derive(Debug)]
pub struct Interrupt {
    wish: PipeReader,
    /// The signal that made the request; 0 before that.
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Catches INT, TERM and HUP from now on. The first one makes the request, and the filter finishes; the second one ends
    /// it at once, with status 128+n. XFSZ is caught, so that a file size limit shows as a failed
    /// write and not as a death. A signal that is ignored, as `nohup` and a script's `&` set them, stays ignored.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub fn new() -> io::Result<Interrupt> {
        Interrupt::of(|signal| !disposition::is_ignored(signal))
    }

    /// Does what [`Interrupt::new`] does, and catches INT also where it is ignored. A shell without job control ignores it
    /// for a background job, and a filter that no end of its input ends could not be interrupted there.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub fn with_int() -> io::Result<Interrupt> {
        Interrupt::of(|signal| signal == SIGINT || !disposition::is_ignored(signal))
    }

    fn of(is_taken: impl Fn(i32) -> bool) -> io::Result<Interrupt> {
        take_without_effect(SIGXFSZ)?;
        let (wish, made) = io::pipe()?;
        let signal = Arc::new(AtomicUsize::new(0));
        let again = Arc::new(AtomicBool::new(false));
        for wanted in [SIGINT, SIGTERM, SIGHUP] {
            if is_taken(wanted) {
                // Handlers run in the order of their registration, so the first signal only sets the flag.
                flag::register_conditional_shutdown(wanted, 128 + wanted, again.clone())?;
                flag::register(wanted, again.clone())?;
                flag::register_usize(wanted, signal.clone(), wanted.unsigned_abs() as usize)?;
                low_level::pipe::register(wanted, made.try_clone()?)?;
            }
        }
        SigSet::empty().thread_set_mask()?;
        Ok(Interrupt { wish, signal })
    }

    /// The signal that made the request.
    pub fn signal(&self) -> Option<i32> {
        i32::try_from(self.signal.load(Ordering::SeqCst)).ok().filter(|&signal| signal != 0)
    }
}

impl AsFd for Interrupt {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wish.as_fd()
    }
}

/// Ignores INT from now on.
///
/// # Errors
/// When the kernel refuses.
pub fn ignore_int() -> io::Result<()> {
    disposition::ignore(SIGINT)
}

/// Catches `signal` with a handler that does nothing. A caught signal is at its default in a child after exec, and an
/// ignored one stays ignored.
fn take_without_effect(signal: i32) -> io::Result<()> {
    flag::register(signal, Arc::new(AtomicBool::new(false))).map(drop)
}
