//! Signal dispositions of this process, and blocked signals that it waits for.

use nix::errno::Errno;
use nix::libc;
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::time::{Duration, Instant};

/// Whether `signal` is ignored, as `nohup` sets HUP.
pub fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: with a null new action, sigaction only writes the old one, which is read only when it says it did.
    unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// The signals that this process ignores.
#[derive(Debug, Clone, Copy)]
pub struct Ignored {
    /// One bit for each signal, from 1 on; `None` where the kernel answers only for one signal at a time.
    mask: Option<u64>,
}

impl Ignored {
    /// Asks the kernel once.
    pub fn now() -> Ignored {
        #[cfg(target_os = "linux")]
        if !super::is_forced_portable() {
            return Ignored { mask: mask_in_proc() };
        }
        Ignored { mask: None }
    }

    /// Whether `signal` is among them.
    pub fn has(self, signal: i32) -> bool {
        match self.mask {
            Some(mask) => (1..=64).contains(&signal) && mask >> (signal - 1) & 1 == 1,
            None => is_ignored(signal),
        }
    }
}

/// The line SigIgn of /proc/self/status, where /proc is that of this process.
#[cfg(target_os = "linux")]
fn mask_in_proc() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// The signals that end a process by default and that are no usual way to end one. KILL is none of them: it cannot be
/// blocked.
pub fn fatal() -> Vec<i32> {
    let mut fatal =
        vec![libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGPIPE, libc::SIGPROF];
    fatal.extend([libc::SIGSEGV, libc::SIGSYS, libc::SIGTRAP, libc::SIGVTALRM, libc::SIGXCPU, libc::SIGXFSZ]);
    #[cfg(target_os = "linux")]
    {
        fatal.extend([libc::SIGIO, libc::SIGPWR, libc::SIGSTKFLT]);
        fatal.extend(libc::SIGRTMIN()..=libc::SIGRTMAX());
    }
    fatal
}

/// Signals that this thread blocks. The signal sets of nix do not take the real-time signals.
pub struct Held(libc::sigset_t);

impl Held {
    /// Blocks `signals` and no others, in this thread and in the threads and processes that it starts, until they are waited
    /// for.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn new(signals: &[i32]) -> io::Result<Held> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: sigemptyset writes the whole set, which the others read or change.
        let (set, error) = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            let mut set = set.assume_init();
            for &signal in signals {
                libc::sigaddset(&mut set, signal);
            }
            (set, libc::pthread_sigmask(libc::SIG_SETMASK, &set, ptr::null_mut()))
        };
        if error == 0 { Ok(Held(set)) } else { Err(io::Error::from_raw_os_error(error)) }
    }

    /// Waits for the next signal until `deadline`. Returns `None` when none came.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn wait_until(&self, deadline: Instant) -> io::Result<Option<i32>> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.wait_for(left) {
                Ok(signal) => return Ok(Some(signal)),
                Err(Errno::EAGAIN) if left.is_zero() => return Ok(None),
                // Another signal interrupted the wait, or it was shorter than asked for.
                Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Waits for the next signal for at most `time`.
    #[cfg(target_os = "linux")]
    fn wait_for(&self, time: Duration) -> Result<i32, Errno> {
        let time = nix::sys::time::TimeSpec::from_duration(time);
        // SAFETY: sigtimedwait reads the set and the time, and writes nothing where the information is not asked for.
        Errno::result(unsafe { libc::sigtimedwait(&self.0, ptr::null_mut(), time.as_ref()) })
    }

    /// Waits for the next signal for at most `time`, by polling: not every platform has sigtimedwait.
    #[cfg(not(target_os = "linux"))]
    fn wait_for(&self, time: Duration) -> Result<i32, Errno> {
        let mut pending = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: sigpending writes the whole set, which sigismember reads.
        let is_pending = unsafe {
            libc::sigpending(pending.as_mut_ptr()) == 0
                && (1..32).any(|n| {
                    libc::sigismember(&self.0, n) == 1 && libc::sigismember(pending.as_ptr(), n) == 1
                })
        };
        if is_pending {
            return self.wait().map_err(|_| Errno::EINVAL);
        }
        std::thread::sleep(time.min(Duration::from_millis(10)));
        Err(Errno::EAGAIN)
    }

    /// Waits for the next signal.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn wait(&self) -> io::Result<i32> {
        let mut signal = 0;
        // SAFETY: sigwait reads the set and writes one int.
        match unsafe { libc::sigwait(&self.0, &mut signal) } {
            0 => Ok(signal),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Held").finish_non_exhaustive()
    }
}

/// Ignores `signal` from now on.
pub fn ignore(signal: i32) -> io::Result<()> {
    set(signal, libc::SIG_IGN)
}

/// Sets `signal` to its default disposition.
pub fn reset(signal: i32) -> io::Result<()> {
    set(signal, libc::SIG_DFL)
}

fn set(signal: i32, disposition: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: no handler is installed, and none of ours is replaced: this is called before there are any.
    match unsafe { libc::signal(signal, disposition) } {
        libc::SIG_ERR => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
