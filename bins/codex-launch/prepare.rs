//! What is done before the launch, side by side: the prompt is read, Codex is asked, the world is checked.

use crate::NAME;
use crate::args::{Config, Resume};
use crate::check::{self, Refusal, refuse};
use crate::ending::ABANDONED;
use crate::probe::{self, Probe};
use crate::{prompt, resume};
use common::edge::program::{Answer, Question};
use common::edge::signals::Notice;
use common::edge::worker::Worker;
use common::face::exit::Status;
use common::face::say;
use common::face::say::why;
use crossbeam_channel::{Receiver, Sender, after, select, unbounded};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long Codex may take to answer a question. It takes 0.1 s (0.98.0 to 0.171.0); a machine may be busy.
const ANSWER: Duration = Duration::from_secs(60);

/// What a launch needs to know.
#[derive(Debug)]
pub struct Prepared {
    /// Where Codex is.
    pub codex: PathBuf,
    /// The directory that it works in.
    pub directory: PathBuf,
    /// The thread to continue.
    pub thread: Option<String>,
    /// The whole prompt.
    pub prompt: Vec<u8>,
}

/// Prepares a launch, or says why there is none. Options that this Codex does not need are gone from the config.
///
/// What is wrong is said in the order of the checks, whatever was known first: the prompt, the directory, the
/// inputs, Codex, its sign-in, its options.
pub fn prepare(mut config: Config, notices: &Receiver<Notice>) -> Result<(Config, Prepared), Refusal> {
    let resume = config.resume.clone();
    let thread = unless_cancelled("--resume-from", notices, move || thread(&resume))??;
    let codex = check::codex(&config);
    let source = config.prompt.clone();
    let prompt = in_background(move || prompt::read(&source))?;
    let mut questions = match &codex {
        Ok(codex) => Questions::ask(codex, &config),
        Err(_) => Ok(Questions::none()),
    };
    let prompt = receive("prompt", &prompt, notices)??;
    let directory = check::directory(&config)?;
    check::inputs_can_be_read(&config)?;
    let codex = codex?;
    if let Ok(questions) = &mut questions {
        questions.heed(&mut config, notices)?;
    }
    questions?;
    Ok((config, Prepared { codex, directory, thread, prompt }))
}

/// The thread to continue.
pub fn thread(resume: &Option<Resume>) -> Result<Option<String>, Refusal> {
    match resume {
        None => Ok(None),
        Some(Resume::Id(id)) => Ok(Some(id.clone())),
        Some(Resume::From(path)) => resume::thread(path).map(Some),
    }
}

/// Asks Codex for its options alone, when one is wanted that it may not have.
pub fn heed_options(config: &mut Config) -> Result<(), Refusal> {
    if !probe::needed(config).contains(&Probe::Options) {
        return Ok(());
    }
    let codex = check::codex(config)?;
    let answer = Probe::Options.ask(&codex, config)?.answer();
    say_left_out(probe::heed(Probe::Options, answer, config)?);
    Ok(())
}

fn say_left_out(lines: Vec<String>) {
    lines.iter().for_each(|line| say::line(NAME, line));
}

/// Does `work`, which may wait long for `what`, unless the user cancels meanwhile.
pub fn unless_cancelled<T: Send + 'static>(
    what: &str,
    notices: &Receiver<Notice>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    receive(what, &in_background(work)?, notices)
}

fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Receiver<T>, Refusal> {
    let worker = Worker::hire().map_err(|error| refuse(Status::LAUNCHER, "threads", why(&error)))?;
    Ok(worker.run(work))
}

fn receive<T>(what: &str, source: &Receiver<T>, notices: &Receiver<Notice>) -> Result<T, Refusal> {
    loop {
        select! {
            recv(source) -> thing => return thing.map_err(|_| refuse(Status::LAUNCHER, what, "its thread died")),
            recv(notices) -> notice => cancelled(notice.ok())?,
        }
    }
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

/// The questions that Codex is being asked. They end with this value, answered or not.
struct Questions {
    asked: Vec<Arc<Question>>,
    probes: Vec<Probe>,
    answers: Receiver<(Probe, io::Result<Answer>)>,
}

impl Questions {
    fn none() -> Questions {
        Questions { asked: Vec::new(), probes: Vec::new(), answers: unbounded().1 }
    }

    fn ask(codex: &Path, config: &Config) -> Result<Questions, Refusal> {
        let (send, answers) = unbounded();
        let mut questions = Questions { asked: Vec::new(), probes: probe::needed(config), answers };
        for &probe in &questions.probes {
            let question = Arc::new(probe.ask(codex, config)?);
            questions.asked.push(question.clone());
            let send: Sender<_> = send.clone();
            in_background(move || send.send((probe, question.answer())))?;
        }
        Ok(questions)
    }

    /// Waits for the answers and heeds each, in the order of the questions.
    fn heed(&mut self, config: &mut Config, notices: &Receiver<Notice>) -> Result<(), Refusal> {
        let mut arrived = Vec::new();
        let deadline = after(ANSWER);
        while arrived.len() < self.probes.len() {
            select! {
                recv(self.answers) -> answer => arrived.extend(answer),
                recv(notices) -> notice => cancelled(notice.ok())?,
                recv(deadline) -> _ => {
                    let open = |probe: &&Probe| !arrived.iter().any(|(answered, _)| answered == *probe);
                    let words = self.probes.iter().find(open).map_or(String::new(), |probe| probe.words());
                    let why = format!("no answer in {}s", ANSWER.as_secs());
                    return Err(refuse(Status::UNAVAILABLE, &words, why));
                }
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
