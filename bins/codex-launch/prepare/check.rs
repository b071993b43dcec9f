//! Checks before anything is started. Nothing here makes a file.

use crate::prepare::args::{Config, Outputs, Progress, Prompt, Resume, Rights};
use crate::prepare::program::{self, Missing};
use common::edge::paths;
use common::face::exit::Status;
use common::face::say::{self, why};
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no launch: one line and a status.
#[derive(Debug)]
pub enum Refusal {
    /// The message is printed.
    Said(Status),
    /// The message is still to be printed.
    Because(Status, String),
}

impl Refusal {
    /// The exit status.
    pub fn status(&self) -> Status {
        match self {
            Refusal::Said(status) | Refusal::Because(status, _) => *status,
        }
    }

    /// Prints the message unless that was done, and returns the status.
    pub fn say(self, name: &str) -> Status {
        match self {
            Refusal::Said(status) => status,
            Refusal::Because(status, message) => {
                say::line(name, &message);
                status
            }
        }
    }
}

/// A refusal with `status` for `what`, as `what: why`.
pub fn refuse(status: Status, what: &str, why: impl std::fmt::Display) -> Refusal {
    Refusal::Because(status, format!("{what}: {why}"))
}

/// A refusal because the input or output at `path` is not to be had.
pub fn refuse_path(option: &str, path: &Path, error: &io::Error) -> Refusal {
    refuse(Status::NO_INPUT, &format!("{option} {}", path.display()), why(error))
}

/// Checks that the files which Codex reads can be read. Codex itself reports a missing schema only after it has started, and
/// takes the name of a missing image for words to the model (0.98.0 to 0.171.0).
pub fn inputs_can_be_read(config: &Config) -> Result<(), Refusal> {
    let schema = config.extra.output_schema.iter().map(|path| ("--output-schema", path));
    let images = config.extra.images.iter().map(|path| ("--image", path));
    for (option, path) in schema.chain(images) {
        paths::can_be_read(path).map_err(|error| refuse_path(option, path, &error))?;
    }
    Ok(())
}

/// The images for Codex, each as one argument. Codex takes a comma for the end of a name (0.98.0 to 0.171.0), so
/// `a.png,b.png` is two images, and an image whose path has a comma is refused.
pub fn images(images: &[PathBuf]) -> Result<Vec<PathBuf>, Refusal> {
    let has_comma = |path: &Path| path.as_os_str().as_encoded_bytes().contains(&b',');
    let mut all = Vec::new();
    for image in images {
        let parts: Vec<PathBuf> = match image.to_str() {
            Some(text) if has_comma(image) && !image.exists() => text.split(',').map(PathBuf::from).collect(),
            _ => vec![image.clone()],
        };
        for part in parts {
            if std::path::absolute(&part).is_ok_and(|full| has_comma(&full)) {
                let what = format!("--image {}", part.display());
                let why =
                    "codex takes the comma in its path for the end of a name; copy it to a path without one";
                return Err(refuse(Status::USAGE, &what, why));
            }
            all.push(part);
        }
    }
    Ok(all)
}

/// Checks that no two paths are the same file, where one of them would be written.
pub fn paths_differ(config: &Config) -> Result<(), Refusal> {
    let mut seen = Vec::new();
    for (option, path) in inputs(config) {
        seen.push((option, paths::identity(path)));
    }
    for (option, path) in outputs(&config.outputs) {
        let identity = paths::identity(path);
        let same = |(_, other): &&(&str, Option<paths::Identity>)| identity.is_some() && *other == identity;
        if let Some((other, _)) = seen.iter().find(same) {
            let what = format!("usage: {option} {}", path.display());
            return Err(refuse(Status::USAGE, &what, format!("the same file as {other}")));
        }
        seen.push((option, identity));
    }
    Ok(())
}

/// The files that a launch reads, each with its option.
pub fn inputs(config: &Config) -> impl Iterator<Item = (&'static str, &Path)> {
    let (file, system, transcript) = match &config.prompt {
        Prompt::Given(_) => (None, None, None),
        Prompt::Read { file, system, transcript } => (file.as_ref(), system.as_ref(), transcript.as_ref()),
    };
    let images = config.extra.images.iter().map(|path| ("--image", path.as_path()));
    let all = [
        ("--prompt-file", file),
        ("--system-file", system),
        ("--transcript", transcript),
        ("--output-schema", config.extra.output_schema.as_ref()),
        ("--resume-from", earlier(&config.resume)),
        ("--fork", earlier(&config.fork)),
    ];
    images.chain(all.into_iter().filter_map(|(option, path)| path.map(|path| (option, path.as_path()))))
}

/// The earlier progress file that names a thread.
fn earlier(thread: &Option<Resume>) -> Option<&PathBuf> {
    match thread {
        Some(Resume::From(path)) => Some(path),
        _ => None,
    }
}

/// The files that a launch writes, each with its option.
pub fn outputs(outputs: &Outputs) -> impl Iterator<Item = (&'static str, &Path)> {
    let progress = match &outputs.progress {
        Some(Progress::File(path)) => Some(path),
        _ => None,
    };
    let all = [
        ("--progress-file", progress),
        ("--result-file", outputs.result.as_ref()),
        ("--stderr-file", outputs.stderr.as_ref()),
        ("--session-file", outputs.session.as_ref()),
    ];
    all.into_iter().filter_map(|(option, path)| path.map(|path| (option, path.as_path())))
}

/// The refusal of a progress file that has content.
pub fn not_empty(path: &Path) -> Refusal {
    let what = format!("--progress-file {}", path.display());
    refuse(Status::NO_INPUT, &what, "is not empty; name another, or start it anew with --force")
}

/// The directory that Codex works in, as an absolute path without links.
pub fn existing_directory(config: &Config) -> Result<PathBuf, Refusal> {
    let given = config.directory.as_deref().unwrap_or(Path::new("."));
    let full = given.canonicalize().map_err(|error| refuse_path("--cd", given, &error))?;
    if !full.is_dir() {
        return Err(refuse_path("--cd", given, &io::ErrorKind::NotADirectory.into()));
    }
    Ok(full)
}

/// The directory that Codex works in, checked to be in a git worktree where that is needed.
pub fn directory(config: &Config) -> Result<PathBuf, Refusal> {
    let full = existing_directory(config)?;
    if !config.skip_git_repo_check && !paths::is_in_git_worktree(&full) {
        let why = match config.rights {
            Rights::Bypass => "not in a git worktree, where --bypass could not be undone",
            Rights::Sandbox(_) => "not in a git worktree",
        };
        let what = full.display().to_string();
        return Err(refuse(
            Status::NO_INPUT,
            &what,
            format!("{why}; --skip-git-repo-check runs there all the same"),
        ));
    }
    Ok(full)
}

/// Finds the Codex program.
pub fn codex(config: &Config) -> Result<PathBuf, Refusal> {
    let name = config.codex.display().to_string();
    program::find(&config.codex).map_err(|missing| match missing {
        Missing::NotFound => refuse(
            Status::UNAVAILABLE,
            &name,
            "not found; install it with `npm install -g @openai/codex`, or name it with --codex",
        ),
        Missing::NotExecutable => refuse(Status::CANNOT_EXECUTE, &name, "cannot be executed"),
    })
}
