//! A filter that has ended, and what tests assert of it.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Output};
use std::time::Duration;

use assert_cmd::assert::Assert;
use predicates::prelude::*;

/// Up to which length, in bytes, a failed test shows how outputs differ; longer ones take the comparison too long.
const LONGEST_DIFF: usize = 1 << 16;

/// How a filter ended and what it printed.
#[derive(Debug)]
pub(crate) struct Ran {
    /// As the kernel tells it; [`Ran::exits`] compares as a shell sees it.
    pub(crate) status: ExitStatus,
    /// All of stdout, unless it went elsewhere.
    pub(crate) stdout: Vec<u8>,
    /// All of stderr, unless it went elsewhere.
    pub(crate) stderr: Vec<u8>,
    /// From start to end.
    pub(crate) elapsed: Duration,
    /// The peak of its own resident memory, without its children's. What it took in its last 2 ms can be missing.
    pub(crate) peak_kib: u64,
}

impl Ran {
    /// Assertions on how it ended as a shell sees it, 128+n when signal n ended it, and on what it printed.
    fn assert(&self) -> Assert {
        let by_signal = self.status.signal().map(|signal| ExitStatus::from_raw((128 + signal) << 8));
        let output = Output {
            status: by_signal.unwrap_or(self.status),
            stdout: self.stdout.clone(),
            stderr: self.stderr.clone(),
        };
        Assert::new(output).append_context("took", format!("{:?}, peak {} KiB", self.elapsed, self.peak_kib))
    }

    /// It exited with `status`; 128+n also when signal n ended it, as a shell reports it.
    #[track_caller]
    pub(crate) fn exits(&self, status: i32) -> &Ran {
        self.assert().code(status);
        self
    }

    /// Its stdout is this, byte for byte.
    #[track_caller]
    pub(crate) fn stdout_is(&self, expected: impl AsRef<[u8]>) -> &Ran {
        let expected = expected.as_ref();
        let is_short = expected.len().max(self.stdout.len()) <= LONGEST_DIFF;
        match str::from_utf8(expected) {
            Ok(text) if is_short => self.assert().stdout(text.to_owned()),
            _ => self.assert().stdout(expected.to_vec()),
        };
        self
    }

    /// Its stdout, as text.
    pub(crate) fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Its stderr, as text.
    pub(crate) fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// The lines of its stderr.
    pub(crate) fn stderr_lines(&self) -> Vec<String> {
        self.stderr_text().lines().map(str::to_owned).collect()
    }

    /// Its stderr has this text somewhere.
    #[track_caller]
    pub(crate) fn stderr_has(&self, text: &str) -> &Ran {
        self.assert().stderr(predicate::str::contains(text));
        self
    }

    /// Its stderr has this text nowhere.
    #[track_caller]
    pub(crate) fn stderr_lacks(&self, text: &str) -> &Ran {
        self.assert().stderr(predicate::str::contains(text).not());
        self
    }

    /// Its stdout has this text nowhere.
    #[track_caller]
    pub(crate) fn stdout_lacks(&self, text: &str) -> &Ran {
        self.assert().stdout(predicate::str::contains(text).not());
        self
    }

    /// It took at least `least` and less than `most`.
    #[track_caller]
    pub(crate) fn took(&self, least: Duration, most: Duration) -> &Ran {
        assert!((least..most).contains(&self.elapsed), "not between {least:?} and {most:?}\n{self}");
        self
    }

    /// Its own memory stayed under so many MiB.
    #[track_caller]
    pub(crate) fn peak_under_mib(&self, mib: u64) -> &Ran {
        assert!(self.peak_kib > 0, "no peak was measured\n{self}");
        assert!(self.peak_kib < mib * 1024, "not under {mib} MiB\n{self}");
        self
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} after {:?}, peak {} KiB", self.status, self.elapsed, self.peak_kib)?;
        writeln!(f, "stdout: {}", excerpt(&self.stdout))?;
        write!(f, "stderr: {}", excerpt(&self.stderr))
    }
}

/// Output as a message of a failed test shows it: its end, escaped where it is not text.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    const KEPT: usize = 4000;
    let cut = bytes.len().saturating_sub(KEPT);
    let text: String = bytes[cut..].utf8_chunks().fold(String::new(), |text, chunk| {
        text + chunk.valid() + &chunk.invalid().escape_ascii().to_string()
    });
    format!("{} bytes{}\n{text}", bytes.len(), if cut > 0 { ", the last of them" } else { "" })
}
