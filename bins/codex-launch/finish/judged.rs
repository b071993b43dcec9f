//! A run whose ending is known, and the delivery of its outputs.

use crate::finish::answer::{self, Answer, Destination};
use crate::finish::delivered::Delivered;
use crate::finish::drain_deadline::DrainDeadline;
use crate::finish::ending::Ending;
use crate::finish::output_errors::OutputErrors;
use crate::finish::report::Report;
use crate::launcher::Launcher;
use crate::run::session::Session;
use crate::run::stderr_sink::Closing;
use crate::run::stream::Heard;
use crate::run::supervise::{Leftovers, Over};
use common::face::exit::Status;
use std::io;
use std::time::Instant;

/// A run whose ending and answer are known. Only the events are delivered yet.
#[derive(Debug)]
pub struct Judged<'a> {
    /// What every step uses.
    pub launcher: &'a Launcher<'a>,
    /// What was asked for of the processes that Codex left.
    pub leftovers: Leftovers,
    /// When Codex was started.
    pub started: Instant,
    /// How the processes ended.
    pub over: Over,
    /// The processes that are or may be alive, a line each.
    pub left: Vec<String>,
    /// What Codex printed.
    pub heard: Heard,
    /// The end of stderr and noise.
    pub stderr_and_noise: String,
    /// The stderr file, which may not have taken everything.
    pub stderr_file: Option<Closing>,
    /// How long blocked readers are waited for.
    pub drain_deadline: DrainDeadline<'a>,
    /// The answer.
    pub answer: Answer,
    /// How the run ended, as far as Codex is concerned.
    pub ending: Ending,
}

impl<'a> Judged<'a> {
    /// Finishes the session file and the stderr file, puts the answer of a completed run in place, and repairs the
    /// progress file. What could not be written makes a completed run a failed one.
    pub fn deliver(mut self, destination: Destination) -> Delivered<'a> {
        let mut output_errors = OutputErrors::new();
        output_errors.note("progress file", self.heard.progress_error.take());
        output_errors.note("session file", self.heard.session.take().and_then(Session::finish));
        output_errors.note("stderr file", self.stderr_file.take().and_then(Closing::finish));
        if !self.deliver_answer(destination, &mut output_errors) {
            let removed = self.launcher.temp_files.outputs.remove_result();
            output_errors.note("result file", removed.err());
        }
        self.drain_deadline.renew();
        let names = self.launcher.temp_files.names();
        let mut progress = self.heard.progress.take();
        let settled = progress.as_mut().map(|progress| progress.settle(&names));
        let is_in_place = settled.is_none_or(|settled| output_errors.settled(settled));
        Delivered {
            ending: self.ending.unless_lost(&output_errors),
            launcher: self.launcher,
            started: self.started,
            progress,
            is_in_place,
            output_errors,
            drain_deadline: self.drain_deadline,
            answer: self.answer,
            report: Report {
                verdict: self.heard.verdict,
                noise: self.heard.noise,
                stderr_and_noise: self.stderr_and_noise,
                over: Some((self.over, self.leftovers)),
                left: self.left,
            },
        }
    }

    /// Delivers the answer of a completed run. Returns whether it was delivered.
    fn deliver_answer(&mut self, destination: Destination, output_errors: &mut OutputErrors) -> bool {
        let (Ending::Completed { .. }, Answer::Text(text)) = (&self.ending, &self.answer) else {
            return false;
        };
        let text = text.clone();
        match self.drain_deadline.wait(move || answer::deliver(&text, &destination)) {
            Ok(delivered) => {
                let is_delivered = delivered.is_ok();
                output_errors.note("answer", delivered.err());
                return is_delivered;
            }
            Err(Status::IO) => {
                output_errors.note("answer", Some(io::Error::other("its reader takes nothing")));
            }
            Err(status) => self.ending = Ending::given_up(status),
        }
        false
    }
}
