//! A run whose processes have ended, and its judgement.

use crate::NAME;
use crate::finish::answer::Answer;
use crate::finish::drain_deadline::DrainDeadline;
use crate::finish::ending::{Ending, Facts};
use crate::finish::judged::Judged;
use crate::finish::temp_folder::{LAST_MESSAGE, PrivateFolder};
use crate::launcher::Launcher;
use crate::prepare::args::Config;
use crate::run::stderr_sink::{Closing, StderrSink};
use crate::run::stream::Heard;
use crate::run::supervise::{Cut, Over};
use common::face::say;
use std::time::Instant;

/// A run whose processes have ended, and whose output is read.
#[derive(Debug)]
pub struct Ended<'a> {
    /// What every step uses.
    pub launcher: &'a Launcher<'a>,
    /// What was asked for.
    pub config: Config,
    /// The private folder.
    pub folder: PrivateFolder<'a>,
    /// When Codex was started.
    pub started: Instant,
    /// How the processes ended.
    pub over: Over,
    /// The processes that are or may be alive, a line each.
    pub left: Vec<String>,
    /// What Codex printed.
    pub heard: Heard,
    /// The end of stderr and noise.
    pub stderr_sink: StderrSink,
    /// The stderr file, which may not have taken everything.
    pub stderr_file: Option<Closing>,
    /// How long blocked readers are waited for.
    pub drain_deadline: DrainDeadline<'a>,
}

impl<'a> Ended<'a> {
    /// Reads the answer, decides how the run ended, and removes the private folder.
    pub fn judge(mut self) -> Judged<'a> {
        // A Codex that ends at once can be gone before it is ended for the wrong thread.
        self.over.ended.cut = self.over.ended.cut.or(self.heard.is_wrong_thread.then_some(Cut::Halted));
        let (stderr_and_noise, stderr) = self.stderr_sink.ends();
        let must_be_json = self.config.extra.output_schema.is_some();
        let answer = Answer::of(self.folder.open_file(LAST_MESSAGE), &self.heard.verdict, must_be_json);
        let ending = Ending::of(&Facts {
            ended: self.over.ended,
            verdict: &self.heard.verdict,
            answer: &answer,
            stderr: &stderr,
            decide: self.config.decide,
            limit: self.config.limit(),
        });
        if let Some(line) = self.launcher.temp_files.remove_folder() {
            say::line(NAME, &line);
        }
        Judged {
            launcher: self.launcher,
            leftovers: self.config.leftovers,
            started: self.started,
            over: self.over,
            left: self.left,
            heard: self.heard,
            stderr_and_noise,
            stderr_file: self.stderr_file,
            drain_deadline: self.drain_deadline,
            answer,
            ending,
        }
    }
}
