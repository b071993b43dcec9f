//! Prepares a launch: reads the prompt, asks Codex for its sign-in and options, and checks paths, all at the same time.

pub mod args;
pub mod check;
pub mod command;
pub mod environment;
pub mod probe;
pub mod program;
pub mod prompt;
pub mod resume;
pub mod thread_id;
pub mod transcript;

use self::check::{Refusal, refuse};
use self::probe::Probe;
use crate::NAME;
use crate::finish::ending::ABANDONED;
use crate::prepare::args::{Config, Prompt, Resume};
use crate::prepare::program::{Answer, Question};
use common::edge::signals::Notice;
use common::edge::worker::Worker;
use common::face::exit::Status;
use common::face::say;
use common::face::say::why;
use crossbeam_channel::{Receiver, Sender, after, never, select, unbounded};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Most time that Codex, or a path, may take to answer. Codex takes 0.1 s (0.98.0 to 0.171.0); a machine may be busy.
const ANSWER: Duration = Duration::from_secs(60);

/// Time after which a line says what is waited for.
const SILENCE: Duration = Duration::from_secs(5);

/// What a launch needs to know.
#[derive(Debug)]
pub struct Prepared {
    /// Where Codex is.
    pub codex: PathBuf,
    /// The directory that it works in.
    pub directory: PathBuf,
    /// The thread to continue.
    pub thread: Option<String>,
    /// The thread to fork.
    pub fork: Option<String>,
    /// The whole prompt.
    pub prompt: Vec<u8>,
}

/// Prepares a launch, or says why there is none. Options that this Codex does not need are gone from the config.
///
/// What is wrong is said in the order of the checks, whatever was known first: the prompt, the directory, the
/// inputs, Codex, its sign-in, its options. A path that does not answer, as on a mount whose server is gone,
/// holds up a thread of its own: the launch is refused after a while, or when the user cancels. Temporary files of the
/// questions to Codex go to `folder`.
pub fn prepare(
    mut config: Config,
    folder: &Path,
    notices: &Receiver<Notice>,
) -> Result<(Config, Prepared), Refusal> {
    config.extra.images = check::images(&config.extra.images)?;
    let (thread, fork) = threads(&config, notices)?;
    let codex = find(&config, notices)?;
    if !config.has_prompt() {
        config.prompt = Prompt::Given("");
    }
    let mut questions = match &codex {
        // What is wrong with them is said in its turn; a user who cancels meanwhile does not wait for that.
        Ok(codex) => Questions::ask(codex, &config, folder, notices)?,
        Err(_) => Ok(Questions::none()),
    };
    // After the questions: a process that is forked while a file is open closes it before it executes, and a file system
    // that does not answer holds it there.
    let source = config.prompt.clone();
    let prompt = in_background(move || prompt::read(&source))?;
    let prompt = receive(&prompt::source(&config.prompt), None, &prompt, notices)??;
    say_if_long(&prompt);
    let checked = config.clone();
    let directory = bounded("--cd: its git worktree", notices, move || check::directory(&checked))??;
    check::inputs_can_be_read(&config)?;
    let codex = codex?;
    if let Ok(questions) = &mut questions {
        questions.heed(&mut config, notices)?;
    }
    questions?;
    Ok((config, Prepared { codex, directory, thread, fork, prompt }))
}

/// Where Codex is, as far as it is anywhere.
fn find(config: &Config, notices: &Receiver<Notice>) -> Result<Result<PathBuf, Refusal>, Refusal> {
    let what = format!("--codex {}", config.codex.display());
    let config = config.clone();
    bounded(&what, notices, move || check::codex(&config))
}

/// The thread to continue and the one to fork.
pub fn threads(
    config: &Config,
    notices: &Receiver<Notice>,
) -> Result<(Option<String>, Option<String>), Refusal> {
    let thread = |option: &'static str, resume: &Option<Resume>| match resume.clone() {
        None => Ok(None),
        Some(Resume::Id(id)) => Ok(Some(thread_id::canonical(&id).unwrap_or(id))),
        Some(Resume::From(path)) => {
            let what = format!("{option} {}", path.display());
            unless_cancelled(&what, notices, move || resume::thread(option, &path))?.map(Some)
        }
    };
    Ok((thread("--resume-from", &config.resume)?, thread("--fork", &config.fork)?))
}

/// Asks Codex for its options alone, when one is wanted that it may not have.
pub fn heed_options(config: &mut Config, folder: &Path, notices: &Receiver<Notice>) -> Result<(), Refusal> {
    config.skip_auth_check = true;
    if probe::needed(config).is_empty() {
        return Ok(());
    }
    let codex = find(config, notices)??;
    Questions::ask(&codex, config, folder, notices)??.heed(config, notices)
}

fn say_if_long(prompt: &[u8]) {
    if prompt.len() > prompt::MOST_CHARACTERS {
        let (count, most) = (prompt::characters(prompt), prompt::MOST_CHARACTERS);
        if count > most {
            let words =
                format!("prompt: has {count} characters; newer versions of codex take at most {most}");
            say::line(NAME, &words);
        }
    }
}

fn say_left_out(lines: Vec<String>) {
    lines.iter().for_each(|line| say::line(NAME, line));
}

/// Does `work` in another thread and waits for it, for any time, unless the user cancels. A long wait for `what` is reported
/// once.
pub fn unless_cancelled<T: Send + 'static>(
    what: &str,
    notices: &Receiver<Notice>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    receive(what, None, &in_background(work)?, notices)
}

/// Does `work` in another thread and waits for it, for at most [`ANSWER`], unless the user cancels. A long wait for `what` is
/// reported once.
pub fn bounded<T: Send + 'static>(
    what: &str,
    notices: &Receiver<Notice>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    receive(what, Some(ANSWER), &in_background(work)?, notices)
}

fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Receiver<T>, Refusal> {
    let worker = Worker::spawn().map_err(|error| refuse(Status::LAUNCHER, "threads", why(&error)))?;
    Ok(worker.run(work))
}

/// Receives `what` from `source`, for at most `limit`. A long wait is reported once.
fn receive<T>(
    what: &str,
    limit: Option<Duration>,
    source: &Receiver<T>,
    notices: &Receiver<Notice>,
) -> Result<T, Refusal> {
    let (silence, over) = (after(SILENCE), limit.map_or_else(never, after));
    loop {
        select! {
            recv(source) -> thing => return thing.map_err(|_| refuse(Status::LAUNCHER, what, "its thread died")),
            recv(notices) -> notice => cancelled(notice.ok())?,
            recv(silence) -> _ => say::line(NAME, &format!("waiting for {what}")),
            recv(over) -> _ => return Err(no_answer(Status::NO_INPUT, what)),
        }
    }
}

fn no_answer(status: Status, what: &str) -> Refusal {
    refuse(status, what, format!("no answer in {}s", ANSWER.as_secs()))
}

fn cancelled(notice: Option<Notice>) -> Result<(), Refusal> {
    match notice {
        Some(Notice::User(signal)) => {
            Err(Refusal::Because(Status::signal(signal), "cancelled before the launch".to_owned()))
        }
        Some(Notice::Abandoned) => {
            Err(Refusal::Because(ABANDONED, "the launcher was killed before the launch".to_owned()))
        }
        _ => Ok(()),
    }
}

/// The questions that Codex is being asked. Their processes end with this value, whether they have answered or not.
struct Questions {
    asked: Vec<Arc<Question>>,
    probes: Vec<Probe>,
    answers: Receiver<(Probe, io::Result<Answer>)>,
}

impl Questions {
    fn none() -> Questions {
        Questions { asked: Vec::new(), probes: Vec::new(), answers: unbounded().1 }
    }

    fn ask(
        codex: &Path,
        config: &Config,
        folder: &Path,
        notices: &Receiver<Notice>,
    ) -> Result<Result<Questions, Refusal>, Refusal> {
        let (send, answers) = unbounded();
        let mut questions = Questions { asked: Vec::new(), probes: probe::needed(config), answers };
        for &probe in &questions.probes {
            // Executing a program can wait for its file system as well.
            let (codex, config, folder) = (codex.to_owned(), config.clone(), folder.to_owned());
            let ask = move || probe.ask(&codex, &config, &folder);
            let question = match bounded(&probe.words(), notices, ask)? {
                Ok(question) => Arc::new(question),
                Err(refusal) => return Ok(Err(refusal)),
            };
            questions.asked.push(question.clone());
            let send: Sender<_> = send.clone();
            in_background(move || send.send((probe, question.answer())))?;
        }
        Ok(Ok(questions))
    }

    /// Waits for the answers and heeds each, in the order of the questions.
    fn heed(&mut self, config: &mut Config, notices: &Receiver<Notice>) -> Result<(), Refusal> {
        let mut arrived = Vec::new();
        let (silence, deadline) = (after(SILENCE), after(ANSWER));
        while arrived.len() < self.probes.len() {
            let open = |probe: &&Probe| !arrived.iter().any(|(answered, _)| answered == *probe);
            let words = self.probes.iter().find(open).map_or(String::new(), |probe| probe.words());
            select! {
                recv(self.answers) -> answer => arrived.extend(answer),
                recv(notices) -> notice => cancelled(notice.ok())?,
                recv(silence) -> _ => say::line(NAME, &format!("waiting for {words}")),
                recv(deadline) -> _ => return Err(no_answer(Status::UNAVAILABLE, &words)),
            }
        }
        arrived.sort_by_key(|(probe, _)| self.probes.iter().position(|asked| asked == probe));
        for (probe, answer) in arrived {
            say_left_out(probe::heed(probe, answer, config)?);
        }
        Ok(())
    }
}

impl Drop for Questions {
    fn drop(&mut self) {
        self.asked.iter().for_each(|question| question.end());
    }
}
