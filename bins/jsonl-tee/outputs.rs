//! The outputs: stdout, the FILEs and the file of rejected lines; and the messages about those that fail.

use crate::NAME;
use crate::args::TeeConfig;
use crate::fanout::{ErrorPolicy, Fanout, OnError, OutputFailure};
use common::edge::output::Output;
use common::face::exit::Status;
use common::face::say::{self, why};
use common::face::terminal::{JsonLines, Target};
use std::io;
use std::path::{Path, PathBuf};

/// The outputs that have not failed.
#[derive(Debug)]
pub struct Outputs {
    stdout: Group,
    files: Group,
    reject: Group,
    /// The exit status, as far as the outputs decide it.
    status: Status,
    /// Whether a failure ends the filter.
    is_over: bool,
    /// Whether the outputs that need each line judged were closed; see [`Outputs::close_judged`].
    is_judged_closed: bool,
}

impl Outputs {
    /// Opens them. For one that cannot be opened a message is printed, and the others go on unless failures end the filter.
    pub fn open(config: &TeeConfig) -> Outputs {
        let none = || Group::new(config.error_policy);
        let (stdout, files, reject) = (none(), none(), none());
        let mut outputs =
            Outputs { stdout, files, reject, status: Status::DONE, is_over: false, is_judged_closed: false };
        let name = |path: &Path| path.display().to_string();
        let open = |path: &PathBuf| (name(path), Output::share(path, config.at));
        for (name, opened) in config.files.iter().map(open) {
            outputs.add(config, &name, opened, |outputs, name, file| outputs.files.add(name, file));
        }
        if let Some((name, opened)) = config.reject.as_ref().map(open) {
            outputs.add(config, &name, opened, |outputs, name, file| outputs.reject.add(name, file));
        }
        outputs.add(config, "standard output", Output::stdout(), |outputs, name, stdout| {
            if config.detach_stdout {
                outputs.stdout.add_detached(name, stdout);
            } else {
                outputs.stdout.add(name, stdout);
            }
        });
        outputs
    }

    fn add(
        &mut self,
        config: &TeeConfig,
        name: &str,
        opened: io::Result<Output>,
        add: impl FnOnce(&mut Outputs, String, Output),
    ) {
        match opened {
            Ok(output) => add(self, name.to_owned(), output),
            Err(error) => {
                say::line(NAME, &format!("{name}: open: {}", why(&error)));
                self.fail(Status::NO_INPUT);
                self.is_over |= config.error_policy.other == OnError::Exit;
            }
        }
    }

    /// Writes to each FILE.
    pub fn files(&mut self, lines: &[u8]) {
        let failures = self.files.write(lines);
        self.report(failures);
    }

    /// Writes to stdout.
    pub fn stdout(&mut self, lines: &[u8]) {
        let failures = self.stdout.write(lines);
        self.report(failures);
    }

    /// Writes to each FILE and then to stdout, so that a reader of stdout sees nothing that is not in the files.
    pub fn all(&mut self, lines: &[u8]) {
        self.files(lines);
        self.stdout(lines);
    }

    /// Writes to the file of rejected lines.
    pub fn reject(&mut self, lines: &[u8]) {
        let failures = self.reject.write(lines);
        self.report(failures);
    }

    /// Closes the outputs that need each line judged, after an error of the temporary file: a stream that ends is better
    /// than one with a gap.
    pub fn close_judged(&mut self, error: &io::Error, files_are_judged: bool) {
        if std::mem::replace(&mut self.is_judged_closed, true) {
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

    /// Waits until everything is written. Returns the exit status.
    pub fn finish(mut self) -> Status {
        if !self.is_over {
            let failures = [&mut self.files, &mut self.reject, &mut self.stdout]
                .into_iter()
                .flat_map(Group::finish)
                .collect();
            self.report(failures);
        }
        self.status
    }

    /// Sets the exit status; the first failure decides it.
    fn fail(&mut self, status: Status) {
        if self.status == Status::DONE {
            self.status = status;
        }
    }

    fn report(&mut self, failures: Vec<OutputFailure>) {
        for failure in failures {
            say::line(NAME, &format!("{}: write: {}", failure.name, why(&failure.error)));
            self.fail(Status::IO);
            self.is_over |= failure.on_error == OnError::Exit;
        }
    }
}

/// Outputs that get the same lines: terminals with escaped control characters, all others byte for byte.
#[derive(Debug)]
struct Group {
    exact: Fanout,
    terminals: Fanout,
    /// The lines as terminals get them.
    shown: JsonLines,
}

impl Group {
    fn new(policy: ErrorPolicy) -> Group {
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

    fn write(&mut self, lines: &[u8]) -> Vec<OutputFailure> {
        let mut failures = self.exact.write(lines);
        if !self.terminals.is_empty() {
            failures.extend(self.terminals.write(&self.shown.push(lines)));
        }
        failures
    }

    fn finish(&mut self) -> Vec<OutputFailure> {
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
