//! One program as two processes, each of which sees the other one die.
//!
//! The *guardian* is the process that the caller started. It forks the *runner* before there is anything to lose, does
//! nothing from then on but pass on signals, and has the runner's exit status for its own. The runner does the work
//! and tells the guardian, in a few words, what there would be to finish in its place.
//!
//! Who finishes is decided by who is dead, and that is not a matter of timing: the guardian acts when it has buried
//! the runner, of which nothing can come any more, and the runner acts when the guardian has hung up, of which the same
//! is true. Orphans of the runner become the guardian's, so it finds what the runner started; when the guardian dies,
//! the runner keeps what it has. The road not taken is a guardian that is started beside the runner: it would be no
//! ancestor of what the runner starts, and would have to find it by luck.

use super::output::Output;
use super::signals::{self, Notice};
use super::supervise::{self, Exit, Tree};
use crate::sys::descriptor;
use crate::sys::process;
use crossbeam_channel::{Receiver, Sender, select, unbounded};
use nix::sys::signal::{SigSet, SigmaskHow};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the last words of a dead runner are waited for. They are there already; only a process that it was about
/// to start could hold their end back, and for no longer than it takes to start.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Which of the two this process is.
#[derive(Debug)]
pub enum Half {
    /// The one that the caller knows.
    Guardian(Guardian),
    /// The one that does the work.
    Runner(Link),
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Nothing has been made.
    Preparing,
    /// Its outputs are being made.
    Opening,
    /// They are there.
    Opened,
    /// Its program runs.
    Started,
    /// Nothing of it is alive.
    Over,
    /// Its last line is being written.
    Sealing,
    /// Its last line is written.
    Sealed,
}

const STAGES: [Stage; 7] = [
    Stage::Preparing,
    Stage::Opening,
    Stage::Opened,
    Stage::Started,
    Stage::Over,
    Stage::Sealing,
    Stage::Sealed,
];

/// Makes two processes of this one, which has no other thread yet.
///
/// # Errors
/// When there is no room for another process or for what connects them.
pub fn split() -> io::Result<Half> {
    let tree = Tree::new();
    let (guardian, runner) = UnixStream::pair()?;
    // A signal that comes now waits until it is listened for; `signals` lets it through.
    let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    match process::fork() {
        Ok(None) => Ok(Half::Runner(Link(runner))),
        Ok(Some(runner)) => Ok(Half::Guardian(Guardian { runner, socket: guardian, tree })),
        Err(error) => {
            mask.thread_set_mask()?;
            Err(error)
        }
    }
}

/// The runner's end of the connection.
#[derive(Debug)]
pub struct Link(UnixStream);

impl Link {
    /// Sends a notice for each signal that either half gets, and one when the guardian is dead.
    ///
    /// A terminal and a `kill` of the group reach both halves: what was heard directly and what the guardian passed on
    /// are counted apart, and each signal counts once.
    ///
    /// # Errors
    /// When the handlers cannot be installed or no thread is to be had.
    pub fn listen(self, notices: Sender<Notice>) -> io::Result<Teller> {
        let wishes = Arc::new(Mutex::new(Wishes::default()));
        let (mine, to) = (Arc::clone(&wishes), notices.clone());
        signals::each_notice(move |notice| {
            let is_news = !matches!(notice, Notice::User(_)) || is_news(&mine, Source::Direct);
            !is_news || to.send(notice).is_ok()
        })?;
        let mut passed_on = self.0.try_clone()?;
        thread::Builder::new().spawn(move || {
            let mut signal = [0];
            while passed_on.read_exact(&mut signal).is_ok() {
                if is_news(&wishes, Source::PassedOn) {
                    // A run that is over no longer listens.
                    let _ = notices.send(Notice::User(i32::from(signal[0])));
                }
            }
            let _ = notices.send(Notice::Abandoned);
        })?;
        Ok(Teller(Arc::new(self.0)))
    }
}

/// How a signal came to the runner.
#[derive(Debug, Clone, Copy)]
enum Source {
    Direct,
    PassedOn,
}

/// How many signals came from each source; the larger number is how many there were.
#[derive(Debug, Default)]
struct Wishes {
    counts: [u32; 2],
}

impl Wishes {
    /// Takes one more from `source`, and says whether it is one more in all.
    fn take(&mut self, source: Source) -> bool {
        let before = self.counts.into_iter().max();
        self.counts[source as usize] += 1;
        self.counts.into_iter().max() > before
    }
}

fn is_news(wishes: &Mutex<Wishes>, source: Source) -> bool {
    wishes.lock().unwrap_or_else(PoisonError::into_inner).take(source)
}

/// Tells the guardian how far the run has come. That the guardian is dead is no error here: it is a notice.
#[derive(Debug, Clone)]
pub struct Teller(Arc<UnixStream>);

impl Teller {
    /// The run has come to `stage`, and nothing more is to be known of that.
    pub fn stage(&self, stage: Stage) {
        self.send(stage, 0, None);
    }

    /// The outputs are there, and the last line goes to `output`.
    pub fn opened(&self, output: Option<&Output>) {
        self.send(Stage::Opened, 0, output.map(AsFd::as_fd));
    }

    /// The program runs, as `pid`.
    pub fn started(&self, pid: i32) {
        self.send(Stage::Started, pid, None);
    }

    fn send(&self, stage: Stage, pid: i32, output: Option<BorrowedFd<'_>>) {
        let [a, b, c, d] = pid.to_le_bytes();
        let _ = descriptor::send(&self.0, &[stage as u8, a, b, c, d], output);
    }
}

/// A word of the runner.
#[derive(Debug)]
struct Word {
    stage: Stage,
    pid: i32,
    output: Option<OwnedFd>,
}

fn hear(socket: &UnixStream) -> Option<Word> {
    let mut word = [0; 5];
    let (length, output) = descriptor::receive(socket, &mut word).ok()?;
    let [stage, pid @ ..] = word;
    let stage = *STAGES.get(usize::from(stage))?;
    (length == word.len()).then(|| Word { stage, pid: i32::from_le_bytes(pid), output })
}

/// The half that the caller knows, before it watches.
#[derive(Debug)]
pub struct Guardian {
    runner: i32,
    socket: UnixStream,
    tree: Tree,
}

/// A run whose runner has ended.
#[derive(Debug)]
pub struct Watched {
    /// How the runner ended.
    pub exit: Exit,
    /// How far the run had come.
    pub stage: Stage,
    /// When its program was started.
    pub started: Option<Instant>,
    /// Where its last line goes.
    pub output: Option<OwnedFd>,
    /// The first signal that the caller sent.
    pub signal: Option<i32>,
    program: Option<i32>,
    tree: Tree,
    notices: Receiver<Notice>,
}

impl Guardian {
    /// Passes on signals until the runner has ended.
    ///
    /// # Errors
    /// When the handlers cannot be installed or no thread is to be had. The runner has then ended, as it does whenever
    /// this process hangs up.
    pub fn watch(self) -> io::Result<Watched> {
        let runner = self.runner;
        self.watch_it().inspect_err(|_| {
            process::wait(runner);
        })
    }

    fn watch_it(self) -> io::Result<Watched> {
        // The prompt's writer must not take this process for its reader.
        nix::unistd::dup2_stdin(File::open("/dev/null")?)?;
        let Guardian { runner, mut socket, tree } = self;
        let (notify, notices) = unbounded();
        signals::notify(notify)?;
        let (tell, words) = unbounded();
        let heard = socket.try_clone()?;
        thread::Builder::new().spawn(move || {
            while let Some(word) = hear(&heard) {
                // Whoever no longer listens needs not be told.
                let _ = tell.send(word);
            }
        })?;
        let mut known = Known::new();
        let exit = loop {
            // The runner may have ended before the handlers were there.
            if let Some(exit) = tree.bury(runner) {
                break exit;
            }
            select! {
                recv(words) -> word => match word {
                    Ok(word) => known.note(word),
                    // It has hung up, so it is about to end.
                    Err(_) => { let _ = notices.recv(); }
                },
                recv(notices) -> notice => if let Ok(Notice::User(signal)) = notice {
                    known.signal.get_or_insert(signal);
                    // A runner that is gone is seen by burying it.
                    let _ = socket.write_all(&[u8::try_from(signal).unwrap_or(0)]);
                },
            }
        };
        while let Ok(word) = words.recv_timeout(LAST_WORDS) {
            known.note(word);
        }
        let Known { stage, started, output, signal, program } = known;
        Ok(Watched { exit, stage, started, output, signal, program, tree, notices })
    }
}

/// What the guardian knows of the run.
#[derive(Debug)]
struct Known {
    stage: Stage,
    started: Option<Instant>,
    output: Option<OwnedFd>,
    signal: Option<i32>,
    program: Option<i32>,
}

impl Known {
    fn new() -> Known {
        Known { stage: Stage::Preparing, started: None, output: None, signal: None, program: None }
    }

    fn note(&mut self, word: Word) {
        self.stage = word.stage;
        match word.stage {
            Stage::Opened => self.output = word.output,
            Stage::Started => (self.program, self.started) = (Some(word.pid), Some(Instant::now())),
            _ => {}
        }
    }
}

impl Watched {
    /// Ends what the dead runner has left alive; each of the two steps before KILL may take `grace`.
    pub fn end(&self, grace: Duration) {
        let program = self.program.filter(|_| self.stage == Stage::Started);
        supervise::take_over(&self.tree, program, grace, &self.notices);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_comes_both_ways_is_one() {
        use Source::{Direct, PassedOn};
        let news = |sources: &[Source]| {
            let mut wishes = Wishes::default();
            sources.iter().filter(|&&source| wishes.take(source)).count()
        };
        assert_eq!(news(&[Direct, PassedOn]), 1);
        assert_eq!(news(&[PassedOn, PassedOn]), 2);
        assert_eq!(news(&[Direct, Direct, PassedOn, PassedOn, PassedOn]), 3);
    }

    #[test]
    fn words_arrive_with_what_they_carry() {
        let (one, other) = UnixStream::pair().unwrap();
        let teller = Teller(Arc::new(one));
        let (mut reader, writer) = io::pipe().unwrap();
        teller.stage(Stage::Opening);
        teller.opened(Some(&Output::of(writer).unwrap()));
        teller.started(4711);
        drop(teller);
        let mut known = Known::new();
        while let Some(word) = hear(&other) {
            known.note(word);
        }
        assert_eq!((known.stage, known.program), (Stage::Started, Some(4711)));
        File::from(known.output.unwrap()).write_all(b"x").unwrap();
        let mut got = String::new();
        reader.read_to_string(&mut got).unwrap();
        assert_eq!(got, "x");
    }
}
