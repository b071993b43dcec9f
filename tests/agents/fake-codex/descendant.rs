//! Processes that a run leaves behind.
//!
//! They are this program again, called with a word and the step that asked for them. What has to happen between
//! fork and exec elsewhere (a session of its own, signals) happens here at the start of the new program, so
//! that no unsafe code is needed; the run goes on only when it has happened.

use std::fs;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::{Pid, dup2_stdin, setsid};

use crate::step::Step;

/// A process that outlives its parent, unless somebody ends it.
pub(crate) struct Descendant {
    /// `"session":"own"`: it is the leader of a session, as after `setsid`; else in the session of the run.
    pub(crate) own_session: bool,
    /// `"orphan":true`: its parent has ended; else the run is its parent.
    pub(crate) orphan: bool,
    /// `"ignore":["TERM"]`: signals that do nothing to it.
    pub(crate) ignores: Vec<Signal>,
    /// `"pipes":"hold"`: it has stdout and stderr of the run; else both are /dev/null.
    pub(crate) holds_pipes: bool,
    /// `"env":"none"`: its environment is empty; else it is that of the run.
    pub(crate) no_environment: bool,
    /// What it does,
    pub(crate) life: Life,
    /// and for how long.
    pub(crate) lasts: Duration,
    /// Where it writes its process id.
    pub(crate) pid_file: Option<PathBuf>,
    /// The line of the script.
    pub(crate) step: String,
}

/// What a descendant does.
#[derive(PartialEq, Eq)]
pub(crate) enum Life {
    /// It sleeps.
    Sleep,
    /// It prints valid lines to its stdout, as fast as they are read.
    Chatter,
}

/// Which part a process has that was not called as Codex.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    /// The descendant.
    Descendant,
    /// The parent of an orphan: it starts the descendant and ends.
    Parent,
    /// It ends at once.
    Zombie,
}

impl Part {
    /// Reads the first word of the command line.
    pub(crate) fn from_word(word: &str) -> Option<Part> {
        [Part::Descendant, Part::Parent, Part::Zombie].into_iter().find(|part| part.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Part::Descendant => "a-descendant",
            Part::Parent => "a-parent",
            Part::Zombie => "a-zombie",
        }
    }

    fn command(self, step: &str) -> Command {
        let this = std::env::current_exe().expect("the path of this program");
        let mut command = Command::new(this);
        command.args([self.word(), step]);
        command
    }
}

/// Starts a descendant and waits until it is what it should be.
pub(crate) fn spawn(descendant: &Descendant) {
    let (mut ours, theirs) = UnixStream::pair().expect("a pair of sockets");
    let part = if descendant.orphan { Part::Parent } else { Part::Descendant };
    let mut command = part.command(&descendant.step);
    command.stdin(Stdio::from(OwnedFd::from(theirs)));
    if !descendant.holds_pipes {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    if descendant.no_environment {
        command.env_clear();
    }
    let child = start(command);
    ours.read_exact(&mut [0]).expect("a word from the descendant");
    if descendant.orphan {
        wait_for_end(child, WaitPidFlag::empty());
    }
}

/// Starts a child that ends at once, and waits until it has, but not for it.
pub(crate) fn spawn_zombie() {
    wait_for_end(start(Part::Zombie.command("")), WaitPidFlag::WNOWAIT);
}

#[expect(clippy::zombie_processes, reason = "to leave processes behind is what this is for")]
fn start(mut command: Command) -> Id<'static> {
    let child = command.spawn().expect("starting this program once more");
    Id::Pid(Pid::from_raw(i32::try_from(child.id()).expect("a process id")))
}

fn wait_for_end(child: Id<'_>, how: WaitPidFlag) {
    waitid(child, WaitPidFlag::WEXITED | how).expect("the end of a child");
}

/// Plays a part to its end.
pub(crate) fn live(part: Part, step: &str) {
    match (part, Step::parse(step.as_bytes())) {
        (Part::Descendant, Step::Spawn(descendant)) => lead_life(&descendant),
        (Part::Parent, _) => {
            start(Part::Descendant.command(step));
        }
        _ => {}
    }
}

fn lead_life(descendant: &Descendant) {
    if descendant.own_session {
        setsid().expect("a session of its own");
    }
    ignore(&descendant.ignores);
    if let Some(file) = &descendant.pid_file {
        fs::write(file, std::process::id().to_string()).expect("writing the process id");
    }
    let mut run =
        UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned().expect("a second descriptor"));
    dup2_stdin(fs::File::open("/dev/null").expect("/dev/null")).expect("letting go of the run");
    run.write_all(b".").expect("telling the run");
    drop(run);

    let end = Instant::now() + descendant.lasts;
    if descendant.life == Life::Chatter {
        let mut stdout = std::io::stdout();
        let line =
            b"{\"type\":\"item.updated\",\"item\":{\"id\":\"item_9\",\"type\":\"todo_list\",\"items\":[]}}\n";
        while Instant::now() < end && stdout.write_all(line).is_ok() {}
    }
    std::thread::sleep(end.saturating_duration_since(Instant::now()));
}

/// Makes signals do nothing to this process and to what it becomes. They are blocked, not ignored: both survive
/// an exec, and changing a disposition is unsafe in Rust.
pub(crate) fn ignore(signals: &[Signal]) {
    signals.iter().copied().collect::<SigSet>().thread_block().expect("blocking signals");
}
