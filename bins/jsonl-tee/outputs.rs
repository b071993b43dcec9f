//! Where lines go, and what is said when one of those places fails.

use crate::NAME;
use crate::args::Config;
use crate::fanout::{Failure, Fanout, OnError, Policy};
use common::edge::output::Output;
use common::face::exit::Status;
use common::face::say::{self, why};
use common::face::terminal::{JsonLines, Target};
use std::io;
use std::path::{Path, PathBuf};

/// All outputs that have not failed.
#[derive(Debug)]
pub struct Outputs {
    stdout: Group,
    files: Group,
    reject: Group,
    /// How the filter ends, as far as its outputs are concerned.
    status: Status,
    /// Whether a failure ends the filter.
    is_over: bool,
    /// Whether what lines are judged for was given up.
    gave_up: bool,
}

impl Outputs {
    /// Opens them. What cannot be opened is said, and the others go on, unless a failure is to end the filter.
    pub fn open(config: &Config) -> Outputs {
        let none = || Group::new(config.policy);
        let (stdout, files, reject) = (none(), none(), none());
        let mut outputs =
            Outputs { stdout, files, reject, status: Status::DONE, is_over: false, gave_up: false };
        let name = |path: &Path| path.display().to_string();
        let open = |path: &PathBuf| (name(path), Output::share(path, config.at));
        for (name, opened) in config.files.iter().map(open) {
            outputs.take(config, &name, opened, |outputs, name, file| outputs.files.add(name, file));
        }
        if let Some((name, opened)) = config.reject.as_ref().map(open) {
            outputs.take(config, &name, opened, |outputs, name, file| outputs.reject.add(name, file));
        }
        outputs.take(config, "standard output", Output::stdout(), |outputs, name, stdout| {
            if config.detach_stdout {
                outputs.stdout.add_detached(name, stdout);
            } else {
                outputs.stdout.add(name, stdout);
            }
        });
        outputs
    }

    fn take(
        &mut self,
        config: &Config,
        name: &str,
        opened: io::Result<Output>,
        add: impl FnOnce(&mut Outputs, String, Output),
    ) {
        match opened {
            Ok(output) => add(self, name.to_owned(), output),
            Err(error) => {
                say::line(NAME, &format!("{name}: open: {}", why(&error)));
                self.fail(Status::NO_INPUT);
                self.is_over |= config.policy.other == OnError::End;
            }
        }
    }

    /// Writes to each FILE.
    pub fn files(&mut self, lines: &[u8]) {
        let failures = self.files.write(lines);
        self.tell(failures);
    }

    /// Writes to stdout.
    pub fn stdout(&mut self, lines: &[u8]) {
        let failures = self.stdout.write(lines);
        self.tell(failures);
    }

    /// Writes to each FILE and to stdout. The files come first: a reader that is stuck then has seen nothing that
    /// is not in them.
    pub fn all(&mut self, lines: &[u8]) {
        self.files(lines);
        self.stdout(lines);
    }

    /// Writes to where rejected lines go.
    pub fn reject(&mut self, lines: &[u8]) {
        let failures = self.reject.write(lines);
        self.tell(failures);
    }

    /// Gives up what lines are judged for, because one cannot wait for its judgement: a stream with a gap would be
    /// worse than one that ends.
    pub fn cannot_wait(&mut self, error: &io::Error, files_are_judged: bool) {
        if std::mem::replace(&mut self.gave_up, true) {
            return;
        }
        say::line(NAME, &format!("temporary file: {}", why(error)));
        self.fail(Status::IO);
        self.stdout.clear();
        self.reject.clear();
        if files_are_judged {
            self.files.clear();
        }
    }

    /// Whether a failure ends the filter.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether no output is left.
    pub fn is_empty(&self) -> bool {
        self.stdout.is_empty() && self.files.is_empty() && self.reject.is_empty()
    }

    /// Waits until everything is written, and gives the status.
    pub fn finish(mut self) -> Status {
        if !self.is_over {
            let failures = [&mut self.files, &mut self.reject, &mut self.stdout]
                .into_iter()
                .flat_map(Group::finish)
                .collect();
            self.tell(failures);
        }
        self.status
    }

    /// The first failure counts: an output that could not be opened has nothing at all.
    fn fail(&mut self, status: Status) {
        if self.status == Status::DONE {
            self.status = status;
        }
    }

    fn tell(&mut self, failures: Vec<Failure>) {
        for failure in failures {
            say::line(NAME, &format!("{}: write: {}", failure.name, why(&failure.error)));
            self.fail(Status::IO);
            self.is_over |= failure.on_error == OnError::End;
        }
    }
}

/// Outputs that get the same lines: terminals in a form that cannot drive them, all others byte for byte.
#[derive(Debug)]
struct Group {
    exact: Fanout,
    terminals: Fanout,
    /// The lines as terminals get them.
    shown: JsonLines,
}

impl Group {
    fn new(policy: Policy) -> Group {
        let none = || Fanout::new(policy);
        Group { exact: none(), terminals: none(), shown: JsonLines::new(Target::Terminal) }
    }

    fn add(&mut self, name: String, output: Output) {
        self.of(&output).add(name, output);
    }

    fn add_detached(&mut self, name: String, output: Output) {
        self.of(&output).add_detached(name, output);
    }

    fn of(&mut self, output: &Output) -> &mut Fanout {
        match Target::of(output) {
            Target::Terminal => &mut self.terminals,
            Target::Other => &mut self.exact,
        }
    }

    fn write(&mut self, lines: &[u8]) -> Vec<Failure> {
        let mut failures = self.exact.write(lines);
        if !self.terminals.is_empty() {
            failures.extend(self.terminals.write(&self.shown.push(lines)));
        }
        failures
    }

    fn finish(&mut self) -> Vec<Failure> {
        let mut failures = self.exact.finish();
        let rest = self.shown.end();
        if !rest.is_empty() {
            failures.extend(self.terminals.write(rest));
        }
        failures.extend(self.terminals.finish());
        failures
    }

    fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.terminals.is_empty()
    }

    fn clear(&mut self) {
        self.exact.clear();
        self.terminals.clear();
    }
}
