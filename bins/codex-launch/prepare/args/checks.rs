//! What is wrong with the options beyond what the parser finds. No file is opened.

use super::config::{REMOVED_VARIABLES, is_review};
use super::options::Options;
use crate::prepare::thread_id::wrong_id;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

impl Options {
    /// The first thing that is wrong with the options, in words.
    pub(super) fn wrong(&self) -> Option<String> {
        self.wrong_thread()
            .or_else(|| self.wrong_review())
            .or_else(|| self.two_on_stdout())
            .or_else(|| self.kept_anyway())
            .or_else(|| self.empty_path())
    }

    fn wrong_thread(&self) -> Option<String> {
        self.resume.as_deref().and_then(wrong_id).map(|wrong| format!("--resume: {wrong}"))
    }

    fn wrong_review(&self) -> Option<String> {
        if !is_review(&self.arguments) {
            return None;
        }
        let has_prompt =
            self.prompt_file.is_some() || self.system_file.is_some() || self.transcript.is_some();
        if has_prompt && !self.arguments.iter().any(|word| word == "-") {
            return Some("-- review: takes a prompt only as -- review -".to_owned());
        }
        let has_thread = self.resume.is_some() || self.resume_from.is_some() || self.fork.is_some();
        (has_thread || self.verify_sign_in)
            .then(|| "-- review: begins a thread of its own, and is a run of its own".to_owned())
    }

    fn two_on_stdout(&self) -> Option<String> {
        let path = self.progress_file.as_deref().filter(|path| is_stdout(path))?;
        let message = "stdout takes the events, so --result-file is needed";
        self.result_file.is_none().then(|| format!("--progress-file {}: {message}", path.display()))
    }

    fn kept_anyway(&self) -> Option<String> {
        let name = self.keep_env.iter().find(|name| !is_removed(name))?;
        Some(format!("--keep-env {}: is kept anyway", name.display()))
    }

    fn empty_path(&self) -> Option<String> {
        let paths = [
            ("--progress-file", &self.progress_file),
            ("--result-file", &self.result_file),
            ("--stderr-file", &self.stderr_file),
            ("--session-file", &self.session_file),
            ("--fork", &self.fork),
        ];
        let is_empty = |path: &Option<PathBuf>| path.as_ref().is_some_and(|path| path.as_os_str().is_empty());
        let (option, _) = paths.iter().find(|(_, path)| is_empty(path))?;
        Some(format!("{option}: the path is empty"))
    }
}

/// Whether `path` is one of the names of stdout.
fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

fn is_removed(name: &OsStr) -> bool {
    REMOVED_VARIABLES.iter().any(|removed| name == *removed)
}
