//! Records on their way to stdout.

use common::edge::output::Output;
use common::face::terminal::Target;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// The size in bytes from which pending records are written. Agents that share a budget end together, and a write for each
/// of ten thousand would be a fifth of the work. A larger write would not be atomic on a pipe (PIPE_BUF is 4096).
const ENOUGH: usize = 3072;

/// A record that comes at least this long after the last write is written at once. One that comes sooner waits for others,
/// but no longer than this.
const MOMENT: Duration = Duration::from_millis(1);

/// Stdout, and the records that are still to be written.
#[derive(Debug)]
pub struct Outbox {
    stdout: Output,
    target: Target,
    /// The pending records.
    pub records: String,
    /// When the last records were written.
    written: Duration,
    lost: Option<io::Error>,
}

impl AsFd for Outbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stdout.as_fd()
    }
}

impl Outbox {
    /// An outbox for stdout, without records.
    ///
    /// # Errors
    /// When its descriptor cannot be duplicated.
    pub fn stdout() -> io::Result<Outbox> {
        Ok(Outbox::to(Output::stdout()?))
    }

    fn to(stdout: Output) -> Outbox {
        let target = Target::of(&stdout);
        Outbox { stdout, target, records: String::new(), written: Duration::ZERO, lost: None }
    }

    /// Whether the records are to be written `now`: not where so few come so soon after others that more may be written
    /// with them.
    pub fn is_due(&self, now: Duration) -> bool {
        self.records.len() >= ENOUGH || now.saturating_sub(self.written) >= MOMENT
    }

    /// Writes the records, `now`.
    pub fn flush(&mut self, now: Duration) {
        if self.records.is_empty() {
            return;
        }
        if self.lost.is_none() {
            self.lost = self.stdout.lines(self.target.records(&self.records).as_bytes()).err();
        }
        self.records.clear();
        self.written = now;
    }

    /// The write error after which nothing more is written.
    pub fn lost(&self) -> Option<&io::Error> {
        self.lost.as_ref()
    }

    /// Whether a pipe's reader has left.
    pub fn reader_left(&self) -> bool {
        self.stdout.reader_left()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_record_goes_out_at_once_and_those_of_the_same_moment_together() {
        let (mut reader, writer) = io::pipe().unwrap();
        let stdout = Output::of(writer).unwrap();
        let mut out = Outbox::to(stdout);
        let at = |millis| Duration::from_millis(millis);
        let adds = |out: &mut Outbox, record: &str, now| {
            out.records.push_str(record);
            if out.is_due(now) {
                out.flush(now);
            }
            out.records.is_empty()
        };
        assert!(adds(&mut out, "a\n", at(5)));
        assert!(!adds(&mut out, "b\n", at(5)));
        assert!(adds(&mut out, "", at(6)));
        let many = "c\n".repeat(ENOUGH / 2);
        assert!(adds(&mut out, &many, at(6)));
        assert!(!adds(&mut out, "d\n", at(6)));
        out.flush(at(6));
        drop(out);
        let mut all = String::new();
        reader.read_to_string(&mut all).unwrap();
        assert_eq!(all, format!("a\nb\n{many}d\n"));
    }

    #[test]
    fn what_nobody_reads_is_lost_and_said_once() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let stdout = Output::of(writer).unwrap();
        let mut out = Outbox::to(stdout);
        out.records.push_str("a\n");
        assert!(out.reader_left());
        out.flush(Duration::ZERO);
        assert_eq!(out.lost().map(io::Error::kind), Some(io::ErrorKind::BrokenPipe));
        assert!(out.records.is_empty());
    }
}
