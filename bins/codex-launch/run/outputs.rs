//! The outputs: where they go, that they are different files, and opening them, the last step before the launch.

use crate::files::output_path::{Existing, OutputPath, PathKind, WriteMode};
use crate::prepare;
use crate::prepare::args::{Config, Outputs, Progress, Rights, Sandbox};
use crate::prepare::check::{self, Refusal, refuse, refuse_path};
use crate::run::progress_file::ProgressFile;
use crate::run::stderr_sink::{StderrSink, Writer};
use common::edge::paths::{self, FileId};
use common::edge::signals::Notice;
use common::face::exit::Status;
use common::face::say::why;
use crossbeam_channel::Receiver;
use std::io;
use std::path::{Path, PathBuf};

/// Where each output goes. The folders are open, so that what happens to a path later leads nothing elsewhere.
#[derive(Debug, Default)]
pub struct OutputPaths {
    /// Events and sentinel.
    pub progress: Option<OutputPath>,
    /// The answer; stdout when not given.
    pub result: Option<OutputPath>,
    /// Codex's stderr.
    pub stderr: Option<OutputPath>,
    /// The thread's id.
    pub session: Option<OutputPath>,
    /// Why files cannot be taken for this launch alone.
    pub unlocked: Option<String>,
}

const PROGRESS: &str = "--progress-file";
const RESULT: &str = "--result-file";
const STDERR: &str = "--stderr-file";
const SESSION: &str = "--session-file";

impl OutputPaths {
    /// Opens the folders of all outputs, sees that each can be written and that no two are one file, and takes them for
    /// this launch. Nothing is made. Descriptors are looked at here, before the launcher opens any of its own that
    /// could have their numbers.
    pub fn resolve(config: &Config) -> Result<OutputPaths, Refusal> {
        let Outputs { progress, result, stderr, session } = &config.outputs;
        let progress = match progress {
            Some(Progress::Stdout) => Some(OutputPath::stdout()),
            Some(Progress::File(path)) => resolve(PROGRESS, Some(path))?,
            None => None,
        };
        let mut paths = OutputPaths {
            progress,
            result: resolve(RESULT, result.as_deref())?,
            stderr: resolve(STDERR, stderr.as_deref())?,
            session: resolve(SESSION, session.as_deref())?,
            unlocked: None,
        };
        paths.can_be_written(config.force)?;
        paths.differ()?;
        paths.take()?;
        Ok(paths)
    }

    /// Each output that was asked for, with its option.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, &OutputPath)> {
        let all = [
            (PROGRESS, &self.progress),
            (RESULT, &self.result),
            (STDERR, &self.stderr),
            (SESSION, &self.session),
        ];
        all.into_iter().filter_map(|(option, path)| path.as_ref().map(|path| (option, path)))
    }

    fn can_be_written(&self, force: bool) -> Result<(), Refusal> {
        for (option, path) in self.each() {
            let mode = if is_replaced(option) { WriteMode::Replaced } else { WriteMode::InPlace };
            path.can_be_written(mode).map_err(|error| refuse_path(option, path.given(), &error))?;
            if option == PROGRESS && path.kind() == Some(PathKind::File) && !force {
                return Err(check::not_empty(path.given()));
            }
        }
        Ok(())
    }

    /// That no two outputs are one file, as the caller may have made them by redirections: two of options, or one of an
    /// option and stdin, stdout or stderr. Answer and messages may go to one file, as in `> log 2>&1`. What is no
    /// file can be shared, but for the descriptor that takes the events.
    fn differ(&self) -> Result<(), Refusal> {
        let mut seen: Vec<Seen> = Vec::new();
        let stdin = Seen { name: "stdin", number: None, file: paths::regular_file_behind(0) };
        let stderr = Seen { name: "stderr", number: None, file: paths::regular_file_behind(2) };
        seen.extend([stdin, stderr]);
        let is_answer_on_stdout = self.result.is_none();
        if is_answer_on_stdout {
            seen.push(Seen {
                name: "the answer on stdout",
                number: Some(1),
                file: paths::regular_file_behind(1),
            });
        }
        for (option, path) in self.each() {
            let this = Seen { name: option, number: path.descriptor(), file: path.file_id() };
            if let Some(other) = seen.iter().find(|other| this.is_one_with(other)) {
                let what = format!("{option} {}", path.given().display());
                return Err(refuse(Status::NO_INPUT, &what, format!("the same file as {}", other.name)));
            }
            seen.push(this);
        }
        Ok(())
    }

    /// Which of the outputs lie where Codex may write, which works in `directory`: what they say can be changed there.
    pub fn in_reach(&self, config: &Config, directory: &Path) -> Option<String> {
        let within: Option<Vec<PathBuf>> = match config.rights {
            Rights::Bypass | Rights::Sandbox(Sandbox::DangerFullAccess) => None,
            Rights::Sandbox(Sandbox::ReadOnly) => Some(Vec::new()),
            Rights::Sandbox(Sandbox::WorkspaceWrite) => {
                let temporary = [PathBuf::from("/tmp"), paths::temp_dir()];
                let all =
                    config.extra.add_dirs.iter().cloned().chain(temporary).chain([directory.to_owned()]);
                Some(all.filter_map(|folder| folder.canonicalize().ok()).collect())
            }
        };
        let reached = |path: &OutputPath| match &within {
            None => path.is_replaceable(),
            Some(folders) => folders.iter().any(|folder| path.is_below(folder)),
        };
        let all = self.each().filter(|(_, path)| reached(path));
        let names: Vec<_> =
            all.map(|(option, path)| format!("{option} {}", path.given().display())).collect();
        let where_to = if within.is_some() { "; name files elsewhere" } else { "" };
        (!names.is_empty()).then(|| format!("{}: the agent may write there{where_to}", names.join(", ")))
    }

    /// Takes each file for this launch alone.
    fn take(&mut self) -> Result<(), Refusal> {
        let all = [
            (PROGRESS, &mut self.progress),
            (RESULT, &mut self.result),
            (STDERR, &mut self.stderr),
            (SESSION, &mut self.session),
        ];
        for (option, path) in all {
            let Some(path) = path else { continue };
            match path.take() {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(busy(option, path)),
                // What a platform never has is in the manual.
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(error) => {
                    let what = format!("{option} {}", path.given().display());
                    let line = format!(
                        "{what}: cannot be locked: {}; a second launch on it is not refused",
                        why(&error)
                    );
                    self.unlocked.get_or_insert(line);
                }
            }
        }
        Ok(())
    }

    /// Removes the result of a run that did not complete, whoever made it.
    pub fn remove_result(&self) -> io::Result<()> {
        self.result.as_ref().map_or(Ok(()), OutputPath::remove)
    }

    /// Removes the old answer and thread id, so that they cannot pass for those of this run.
    fn remove_old(&self) -> Result<(), Refusal> {
        for (option, path) in self.each().filter(|(option, _)| is_replaced(option)) {
            path.remove().map_err(|error| refuse_path(option, path.given(), &error))?;
        }
        Ok(())
    }
}

/// An output or a standard stream, as far as it can be the same as another one.
struct Seen {
    name: &'static str,
    /// The number of the descriptor that it is, where that must not be shared.
    number: Option<i32>,
    /// The regular file that it is.
    file: Option<FileId>,
}

impl Seen {
    fn is_one_with(&self, other: &Seen) -> bool {
        let takes_events = self.name == PROGRESS || other.name == PROGRESS;
        // Codex's stderr may be sent to the launcher's own.
        let is_passed_on = self.name == STDERR && self.number == Some(2) && other.name == "stderr";
        let same_file = self.file.is_some() && self.file == other.file && !is_passed_on;
        same_file || (takes_events && self.number.is_some() && self.number == other.number)
    }
}

fn resolve(option: &'static str, path: Option<&Path>) -> Result<Option<OutputPath>, Refusal> {
    let Some(path) = path else { return Ok(None) };
    OutputPath::resolve(path).map(Some).map_err(|error| refuse_path(option, path, &error))
}

/// Whether the output of this option is put in place whole.
fn is_replaced(option: &str) -> bool {
    option == RESULT || option == SESSION
}

fn busy(option: &str, path: &OutputPath) -> Refusal {
    let what = format!("{option} {}", path.given().display());
    refuse(Status::NO_INPUT, &what, "another launch is writing it")
}

/// What is written while the run lives.
#[derive(Debug)]
pub struct Opened {
    /// Where stderr goes.
    pub stderr_sink: StderrSink,
    /// The thread of the stderr file.
    pub writer: Option<Writer>,
    /// Where events go.
    pub progress: Option<ProgressFile>,
}

/// Opens what is written while the run lives, and removes an old answer. A refusal leaves everything as it was: the
/// progress file, which another launch may have, comes first, and goes again when it was made here and the rest fails.
pub fn open(paths: &OutputPaths, force: bool, notices: &Receiver<Notice>) -> Result<Opened, Refusal> {
    let progress = open_progress(paths, force, notices)?;
    open_rest(paths, progress, notices).inspect_err(|_| {
        if let Some(path) = paths.progress.as_ref().filter(|path| path.kind() == Some(PathKind::Absent)) {
            // One that cannot be removed is empty.
            let _ = path.remove();
        }
    })
}

fn open_progress(
    paths: &OutputPaths,
    force: bool,
    notices: &Receiver<Notice>,
) -> Result<Option<ProgressFile>, Refusal> {
    let Some(path) = &paths.progress else { return Ok(None) };
    let existing = if force { Existing::Emptied } else { Existing::Refused };
    let opened = open_one(path, existing, notices, ProgressFile::open)?;
    opened.map(Some).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => check::not_empty(path.given()),
        io::ErrorKind::WouldBlock => busy(PROGRESS, path),
        _ => refuse_path(PROGRESS, path.given(), &error),
    })
}

fn open_rest(
    paths: &OutputPaths,
    progress: Option<ProgressFile>,
    notices: &Receiver<Notice>,
) -> Result<Opened, Refusal> {
    let (stderr_sink, writer) = match &paths.stderr {
        None => (StderrSink::new(), None),
        Some(path) => {
            let file = open_one(path, Existing::Emptied, notices, OutputPath::open)?;
            let file = file.map_err(|error| match error.kind() {
                io::ErrorKind::WouldBlock => busy(STDERR, path),
                _ => refuse_path(STDERR, path.given(), &error),
            })?;
            let pair = StderrSink::with_file(file);
            let (stderr_sink, writer) =
                pair.map_err(|error| refuse(Status::LAUNCHER, "threads", why(&error)))?;
            (stderr_sink, Some(writer))
        }
    };
    paths.remove_old()?;
    Ok(Opened { stderr_sink, writer, progress })
}

/// Opens one output. A named pipe opens when its reader comes, and the user may cancel meanwhile; a file is opened
/// here and now, so that none is ever made by a launch that was cancelled before it.
fn open_one<T: Send + 'static>(
    path: &OutputPath,
    existing: Existing,
    notices: &Receiver<Notice>,
    open: fn(&OutputPath, Existing) -> io::Result<T>,
) -> Result<io::Result<T>, Refusal> {
    if !matches!(path.kind(), Some(PathKind::Special(_))) {
        return Ok(open(path, existing));
    }
    let path = path.clone();
    prepare::unless_cancelled("outputs", notices, move || open(&path, existing))
}
