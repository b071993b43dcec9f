//! Starts the program of a run.

use common::sys::process;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::Instant;

/// What to start, and with which arguments and environment.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The program, as a path or as a name to be found in PATH.
    pub program: OsString,
    /// Its arguments, without its name.
    pub args: Vec<OsString>,
    /// The variables that it does not see.
    pub removed_variables: Vec<OsString>,
}

/// A program that was started, in a session of its own, with a pipe on each of its standard descriptors.
#[derive(Debug)]
pub struct Child {
    /// Its process number, which is its group's and its session's too.
    pub pid: i32,
    /// When it was started.
    pub started: Instant,
    /// Its pipes.
    pub pipes: Pipes,
}

/// This side's ends of the pipes of a program.
#[derive(Debug)]
pub struct Pipes {
    /// To its standard input.
    pub stdin: OwnedFd,
    /// From its standard output.
    pub stdout: OwnedFd,
    /// From its standard error.
    pub stderr: OwnedFd,
}

impl Child {
    /// Starts it. The pipes never land on 0, 1 or 2: the standard library has seen to it that those are open.
    ///
    /// # Errors
    /// When it cannot be found or executed, or no process or pipe is to be had.
    pub fn start(spec: &Spec) -> io::Result<Child> {
        let mut command = Command::new(&spec.program);
        command.args(&spec.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in &spec.removed_variables {
            command.env_remove(name);
        }
        process::in_own_session(&mut command);
        let mut child = command.spawn()?;
        let started = Instant::now();
        let missing = || io::Error::other("a pipe is missing");
        let pipes = Pipes {
            stdin: child.stdin.take().ok_or_else(missing)?.into(),
            stdout: child.stdout.take().ok_or_else(missing)?.into(),
            stderr: child.stderr.take().ok_or_else(missing)?.into(),
        };
        Ok(Child { pid: child.id().cast_signed(), started, pipes })
    }
}
