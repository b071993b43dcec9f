//! Finding a program before it is run, and asking it short questions.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{AccessFlags, Pid, access};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

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
    child: Mutex<Child>,
}

impl Question {
    /// Starts `program` with `args`, without the `removed_variables`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn ask(program: &Path, args: &[&str], removed_variables: &[OsString]) -> io::Result<Arc<Question>> {
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
        Ok(Arc::new(Question { child: Mutex::new(command.spawn()?) }))
    }

    /// Waits for the answer.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn answer(&self) -> io::Result<Answer> {
        let (out, err) = {
            let mut child = self.lock();
            (child.stdout.take(), child.stderr.take())
        };
        let reader = std::thread::spawn(move || read(err));
        let mut bytes = read(out)?;
        bytes.extend(reader.join().unwrap_or_else(|_| Err(io::Error::other("the reader died")))?);
        let well = self.lock().wait()?.success();
        Ok(Answer { well, text: String::from_utf8_lossy(&bytes).into_owned() })
    }

    /// Ends the program and its group; it is not buried, so the group's number is still its own.
    pub fn end(&self) {
        if let Ok(mut child) = self.child.try_lock()
            && matches!(child.try_wait(), Ok(None))
        {
            let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads to the end, keeping the first part: who writes more is not held up.
fn read(pipe: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.by_ref().take(ANSWER).read_to_end(&mut kept)?;
        io::copy(&mut pipe, &mut io::sink())?;
    }
    Ok(kept)
}
