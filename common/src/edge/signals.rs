//! The signals that this process takes: as messages on a channel for a launch, as a descriptor to poll for a filter.

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

/// Something that a supervised run is told of from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// The user asks for the end with this signal: one of those that would end this process.
    User(i32),
    /// A child process changed its state.
    Child,
    /// What the run has printed shows that it must end.
    Halt,
    /// What the run has printed says that its work is done.
    Done,
    /// The process that would finish the run in this one's place is dead.
    Abandoned,
}

/// Signals that would end this process too, and stay ignored where they are: `nohup` asked for that with HUP. The last
/// three are nobody's usual way to end a program, but a run must not be left alone by them either.
const UNLESS_IGNORED: [i32; 4] = [SIGHUP, SIGUSR1, SIGUSR2, SIGALRM];

/// Sends a notice for each INT, TERM, QUIT, CHLD, and each of `UNLESS_IGNORED`, from now on; returns when they are being
/// listened for.
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

/// The same, for whoever has more to do with a notice than to send it on; `take` says whether to go on.
pub fn each_notice(take: impl FnMut(Notice) -> bool + Send + 'static) -> io::Result<()> {
    listen(take, &[SIGTTOU])
}

/// Like [`notify`], for a process that has to outlive what nobody means: the other signals that would end it wait.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn notify_and_outlive(notices: Sender<Notice>) -> io::Result<()> {
    let mut held = disposition::fatal();
    held.push(SIGTTOU);
    listen(move |notice| notices.send(notice).is_ok(), &held)
}

/// Listens for signals, with those in `held` held back and no others: a parent may have left some of them so. TTOU
/// always is: outside the foreground group of a terminal that has `stty tostop` it would stop this process at each word.
/// A child starts with none held back, as the standard library sees to it.
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

/// Tells wishes that were made a moment ago and are heard again.
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

/// The same notices for a process that has nothing else to do: no handler and no thread, which might not be to be had.
/// Each signal but KILL that would end this process is a wish for the end here: what the caller sees of it then is the
/// status of the run.
#[derive(Debug)]
pub struct Awaited {
    signals: Held,
    echo: Echo,
}

impl Awaited {
    /// Holds the signals back from now on, in this process and in those that it forks, until they are awaited here or
    /// listened for.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn new() -> io::Result<Awaited> {
        let ignored = Ignored::now();
        let fatal = disposition::fatal().into_iter().filter(|signal| !ignored.has(*signal));
        let signals: Vec<i32> = wanted(ignored).into_iter().chain(fatal).collect();
        // Where ends of children are ignored they are not told of.
        disposition::reset(SIGCHLD)?;
        Ok(Awaited { signals: Held::new(&signals)?, echo: Echo::default() })
    }

    /// Waits for the next one.
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

    /// Waits for the next one until `deadline`, where there is one. `None` when none came.
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

/// The user's wish that a filter ends: INT, TERM or HUP. It can be read from, or rather polled, once it was made.
#[derive(Debug)]
pub struct Interrupt {
    wish: PipeReader,
    /// The signal that made the wish; 0 before that.
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Takes INT, TERM and HUP from now on. The first one of them makes the wish, and lets the filter finish; the
    /// second one ends it at once, with status 128+n. XFSZ is caught, so that a file size limit shows as a failed
    /// write and not as a death. A signal that is ignored, as `nohup` and a script's `&` set them, stays ignored.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub fn new() -> io::Result<Interrupt> {
        Interrupt::of(|signal| !disposition::is_ignored(signal))
    }

    /// The same, and INT is taken also where it is ignored: a shell without job control starts a background job so, and
    /// a filter that stands at the end of no pipeline could not be interrupted there.
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

    /// The signal that made the wish.
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

/// Catches `signal` and does nothing about it: unlike an ignored one it is at its default in a child after exec.
fn take_without_effect(signal: i32) -> io::Result<()> {
    flag::register(signal, Arc::new(AtomicBool::new(false))).map(drop)
}
