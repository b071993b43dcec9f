//! Finding a program before it is run, and asking it short questions.

use crate::edge::worker::Worker;
use crate::sys::process;
use nix::sys::signal::Signal;
use nix::unistd::{AccessFlags, access};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much of an answer is kept.
const ANSWER: u64 = 256 * 1024;

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
/// # Errors
/// When there is none that can be executed.
pub fn find(program: &OsStr) -> Result<PathBuf, Missing> {
    if Path::new(program).components().count() > 1 || program.as_encoded_bytes().contains(&b'/') {
        return check(PathBuf::from(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
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

/// A question that is being asked: a program running with no input, in a process group of its own.
#[derive(Debug)]
pub struct Question {
    pid: i32,
    /// The program until it is buried; from then on its number may be another's.
    child: Mutex<Option<Child>>,
    output: Mutex<Option<(ChildStdout, ChildStderr)>>,
}

impl Question {
    /// Starts `program` with `args`, without the `removed_variables`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn ask(program: &Path, args: &[&str], removed_variables: &[OsString]) -> io::Result<Question> {
        let mut command = Command::new(program);
        command
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        for name in removed_variables {
            command.env_remove(name);
        }
        let mut child = command.spawn()?;
        let output = child.stdout.take().zip(child.stderr.take());
        let pid = child.id().cast_signed();
        Ok(Question { pid, child: Mutex::new(Some(child)), output: Mutex::new(output) })
    }

    /// Waits for the answer; to be called once.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn answer(&self) -> io::Result<Answer> {
        let Some((out, err)) = lock(&self.output).take() else { return Err(io::ErrorKind::NotFound.into()) };
        let rest = Worker::hire()?.run(move || read(err));
        let mut bytes = read(out)?;
        bytes.extend(rest.recv().unwrap_or_else(|_| Err(io::Error::other("the reader died")))?);
        // Waited for without the lock, so that `end` is never held up.
        let exit = process::wait(self.pid);
        if let Some(mut child) = lock(&self.child).take() {
            child.wait()?;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Answer { well: exit == Some(process::Exit::Code(0)), text })
    }

    /// Ends the program and its group, unless it has ended and was buried, and waits until it is gone.
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

/// Reads to the end, keeping the first part: who writes more is not held up.
fn read(mut pipe: impl Read) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    pipe.by_ref().take(ANSWER).read_to_end(&mut kept)?;
    io::copy(&mut pipe, &mut io::sink())?;
    Ok(kept)
}
