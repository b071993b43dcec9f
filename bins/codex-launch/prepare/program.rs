//! Finding a program before it is run, and asking it short questions.

use common::edge::pump::{self, Stop};
use common::edge::worker::Worker;
use common::sys::process;
use nix::sys::signal::Signal;
use nix::unistd::{AccessFlags, access};
use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much of an answer is kept.
const ANSWER: usize = 256 * 1024;

/// Where programs are looked for when PATH is not set, as the C library does.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// Why a program cannot be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// There is none.
    NotFound,
    /// There is one, and it may not be executed.
    NotExecutable,
}

/// Finds `program` as execvp(3) would: a name with a slash is a path, any other is looked for in PATH.
///
/// The crate `which` finds nothing where PATH is not set, and does not tell a file that may not be executed from one that
/// is not there: those have statuses of their own here.
///
/// # Errors
/// When there is none that can be executed.
pub fn find(program: &OsStr) -> Result<PathBuf, Missing> {
    if Path::new(program).components().count() > 1 || program.as_encoded_bytes().contains(&b'/') {
        return check(PathBuf::from(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    let mut missing = Missing::NotFound;
    for folder in std::env::split_paths(&path) {
        match check(folder.join(program)) {
            Ok(found) => return Ok(found),
            Err(Missing::NotExecutable) => missing = Missing::NotExecutable,
            Err(Missing::NotFound) => {}
        }
    }
    Err(missing)
}

fn check(path: PathBuf) -> Result<PathBuf, Missing> {
    match path.metadata() {
        Err(_) => Err(Missing::NotFound),
        Ok(about) if about.is_file() && access(&path, AccessFlags::X_OK).is_ok() => Ok(path),
        Ok(_) => Err(Missing::NotExecutable),
    }
}

/// What a program answered.
#[derive(Debug)]
pub struct Answer {
    /// Whether its exit status was 0.
    pub well: bool,
    /// What it printed, stdout then stderr, as text.
    pub text: String,
}

/// A program that runs to answer a question: with no input, in a session of its own.
#[derive(Debug)]
pub struct Question {
    pid: i32,
    /// The program, until it is reaped: from then on its number may be that of another process.
    child: Mutex<Option<Child>>,
    output: Mutex<Option<[OwnedFd; 2]>>,
}

impl Question {
    /// Starts `program` with `args`, in this environment but for `variables`: those with a value are set, the others are
    /// removed.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn ask(
        program: &Path,
        args: &[&str],
        variables: &[(OsString, Option<OsString>)],
    ) -> io::Result<Question> {
        // Nothing that can be missing, as /dev/null can.
        let (nothing, _) = io::pipe()?;
        let mut command = Command::new(program);
        command.args(args).stdin(nothing).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, value) in variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        process::in_own_session(&mut command);
        let mut child = command.spawn()?;
        let output = child.stdout.take().zip(child.stderr.take());
        let output = output.map(|(out, err)| [out.into(), err.into()]);
        let pid = child.id().cast_signed();
        Ok(Question { pid, child: Mutex::new(Some(child)), output: Mutex::new(output) })
    }

    /// Waits for the answer: until the program has ended, even when another process still holds its pipes open. It is called
    /// once.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn answer(&self) -> io::Result<Answer> {
        let Some(pipes) = lock(&self.output).take() else { return Err(io::ErrorKind::NotFound.into()) };
        let stop = Stop::new()?;
        let mut parts = Vec::new();
        for pipe in pipes {
            let listener = stop.listener()?;
            parts.push(Worker::spawn()?.run(move || read(pipe, &listener)));
        }
        // Waited for without the lock, so that `end` is never held up.
        let exit = process::wait(self.pid);
        stop.call();
        if let Some(mut child) = lock(&self.child).take() {
            // Where this process was started with CHLD ignored, the kernel has reaped the child.
            let _ = child.wait();
        }
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend(part.recv().unwrap_or_else(|_| Err(io::Error::other("the reader died")))?);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Answer { well: exit == Some(process::Exit::Code(0)), text })
    }

    /// Ends the program and its group, unless it has ended and was reaped, and waits until it is gone.
    pub fn end(&self) {
        if lock(&self.child).is_some() {
            process::signal_group(self.pid, Signal::SIGKILL);
        }
        process::wait(self.pid);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads until the stop and keeps the first part, so that a program that writes more is not blocked.
fn read(pipe: OwnedFd, stop: &PipeReader) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    pump::drain(pipe, stop, |chunk| {
        let room = ANSWER - kept.len();
        kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
    })?;
    Ok(kept)
}
