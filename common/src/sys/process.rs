//! Starting, ending and reaping child processes.

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{ForkResult, Pid};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

/// The result of a look for dead children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaped {
    /// This child was dead, and is reaped now.
    Child(i32, Exit),
    /// There are children, all alive.
    NoneDead,
    /// There are no children.
    NoChildren,
}

/// Makes `command` start in a session of its own, without a controlling terminal, as the leader of a process group.
pub fn in_own_session(command: &mut Command) {
    // SAFETY: between fork and exec only setsid runs, which is async-signal-safe (POSIX.1-2017, 2.4.3).
    unsafe { command.pre_exec(|| nix::unistd::setsid().map(drop).map_err(io::Error::from)) };
}

/// Forks this process. Returns `None` in the child and the child's number in the parent. This process has one thread, so the
/// child may go on as any process does.
pub fn fork() -> io::Result<Option<i32>> {
    // SAFETY: with one thread there is no lock that another one could have held (fork(2), POSIX.1-2017).
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Child => Ok(None),
        ForkResult::Parent { child } => Ok(Some(child.as_raw())),
    }
}

/// Forks this process, which has one thread, to do `work` in the child, and returns the child's number. The child ends with
/// status 0 after that, without destructors and exit handlers.
///
/// # Errors
/// When there is no process to be had.
pub fn fork_for(work: impl FnOnce()) -> io::Result<i32> {
    if let Some(child) = fork()? {
        return Ok(child);
    }
    work();
    // SAFETY: _exit touches no memory and does not return.
    unsafe { libc::_exit(0) }
}

/// Names this process for `ps`, on Linux.
pub fn set_name(name: &std::ffi::CStr) {
    #[cfg(target_os = "linux")]
    {
        let _ = nix::sys::prctl::set_name(name);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = name;
}

/// Sends `signal` to the group that `leader` leads. The caller has not reaped `leader`, so the number is its own.
pub fn signal_group(leader: i32, signal: Signal) {
    // It fails when no process is left or none may be signalled. The caller finds out by looking again.
    let _ = killpg(Pid::from_raw(leader), signal);
}

/// Sends KILL to `child`, which is a child of this process and not reaped, so the number is its own.
pub fn kill_child(child: i32) {
    let _ = nix::sys::signal::kill(Pid::from_raw(child), Signal::SIGKILL);
}

/// Sends CONT to `child`, which is a child of this process and not reaped: a stopped process acts on no signal but KILL.
pub fn continue_child(child: i32) {
    send_continue(child);
}

fn send_continue(process: i32) {
    let _ = nix::sys::signal::kill(Pid::from_raw(process), Signal::SIGCONT);
}

/// Sends CONT to the parent of this process, if it is still `parent`: a stopped one does not see that this process ends.
pub fn continue_parent(parent: i32) {
    if nix::unistd::getppid().as_raw() == parent {
        send_continue(parent);
    }
}

/// Whether this process has children, dead or alive.
pub fn has_children() -> bool {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
    // SAFETY: waitid writes one siginfo_t.
    unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), flags) == 0 }
}

/// Makes the kernel kill this process when its parent, process `parent`, ends. Returns false when the parent has ended
/// already, or where the kernel does not do that.
#[cfg(target_os = "linux")]
pub fn end_with_parent(parent: i32) -> bool {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).is_ok() && nix::unistd::getppid().as_raw() == parent
}

/// Not available here.
#[cfg(not(target_os = "linux"))]
pub fn end_with_parent(_parent: i32) -> bool {
    false
}

/// Forbids other processes of the same user to trace this one, and to read its memory, environment and descriptors in /proc
/// (PR_SET_DUMPABLE, prctl(2)). Processes that it forks inherit that, a program that it executes does not. There are no core
/// dumps either.
pub fn refuse_tracers() {
    #[cfg(target_os = "linux")]
    {
        // It cannot fail for this value.
        let _ = nix::sys::prctl::set_dumpable(false);
    }
}

/// Sends CHLD to the parent of this process, as long as that is `parent`. A parent that waits for CHLD looks up from that.
pub fn wake_parent(parent: i32) {
    if nix::unistd::getppid().as_raw() == parent {
        let _ = nix::sys::signal::kill(Pid::from_raw(parent), Signal::SIGCHLD);
    }
}

/// Sends signal `number` to `child`, which is a child of this process and not reaped, so its number is its own.
pub fn pass_on(child: i32, number: i32) {
    // SAFETY: kill touches no memory. nix's does not know the real-time signals.
    unsafe { libc::kill(child, number) };
}

/// Reaps one dead child, whichever it is.
pub fn reap_any() -> Reaped {
    reap(-1)
}

/// Reaps `child` if it is dead. Returns whether it is gone.
pub fn reap_child(child: i32) -> bool {
    reap(child) != Reaped::NoneDead
}

fn reap(child: i32) -> Reaped {
    let mut status = 0;
    loop {
        // SAFETY: waitpid writes one int.
        // nix's waitpid is not used: it gives an error for a child killed by a real-time signal.
        match unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } {
            0 => return Reaped::NoneDead,
            -1 if Errno::last() == Errno::EINTR => {}
            -1 => return Reaped::NoChildren,
            pid => return Reaped::Child(pid, exit_of(status)),
        }
    }
}

/// Ignores SIGCHLD: the kernel reaps every child that ends from now on. No notice comes, and exit statuses are lost.
pub fn ignore_sigchld() {
    // SAFETY: no handler is installed, and the one that was is no longer called.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// How `child` ended, if it did. It is not reaped, so its number and that of its group stay its own.
pub fn peek(child: i32) -> Option<Exit> {
    look(child, libc::WNOHANG)
}

/// Whether `process` is a child of this process, dead or alive.
pub fn is_child(process: i32) -> bool {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
    // SAFETY: waitid writes one siginfo_t.
    unsafe { libc::waitid(libc::P_PID, process.cast_unsigned(), info.as_mut_ptr(), flags) == 0 }
}

/// Makes this process the leader of a group of its own.
pub fn lead_own_group() {
    // It fails only for the leader of a session, which leads a group already.
    let _ = nix::unistd::setpgid(Pid::from_raw(0), Pid::from_raw(0));
}

/// Whether a process is left in the group that `leader` led.
pub fn has_group(leader: i32) -> bool {
    killpg(Pid::from_raw(leader), None) != Err(Errno::ESRCH)
}

/// Waits until `child` has ended; it is not reaped. `None` when it is no child of this process.
pub fn wait(child: i32) -> Option<Exit> {
    look(child, 0)
}

fn look(child: i32, flags: i32) -> Option<Exit> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOWAIT | flags;
    loop {
        // SAFETY: waitid writes one siginfo_t, zeroed before so that "nothing yet" reads as pid 0; si_pid and
        // si_status are the members that waitid fills.
        unsafe {
            if libc::waitid(libc::P_PID, child.cast_unsigned(), info.as_mut_ptr(), flags) == 0 {
                let info = info.assume_init();
                return match (info.si_pid(), info.si_code) {
                    (0, _) => None,
                    (_, libc::CLD_EXITED) => Some(Exit::Code(info.si_status())),
                    _ => Some(Exit::Signal(info.si_status())),
                };
            }
        }
        if Errno::last() != Errno::EINTR {
            return None;
        }
    }
}

fn exit_of(status: i32) -> Exit {
    if libc::WIFSIGNALED(status) {
        Exit::Signal(libc::WTERMSIG(status))
    } else {
        Exit::Code(libc::WEXITSTATUS(status))
    }
}
