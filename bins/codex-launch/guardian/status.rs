//! The status reports that the runner writes to the guardian.

use common::edge::output::Output;
use common::sys::{descriptor, process};
use nix::time::ClockId;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Nothing has been made.
    Preparing,
    /// Its outputs are being made.
    Opening,
    /// Its outputs are there.
    Opened,
    /// Its program runs.
    Started,
    /// No process of it is alive.
    Over,
    /// Its last line is being written.
    Sealing,
    /// Its last line is written.
    Sealed,
}

const PHASES: [Phase; 7] = [
    Phase::Preparing,
    Phase::Opening,
    Phase::Opened,
    Phase::Started,
    Phase::Over,
    Phase::Sealing,
    Phase::Sealed,
];

/// The first byte of a report that the runner is about to exit.
const EXITING: u8 = u8::MAX;

/// Length of a report: the phase, the program's process number or the exit status, and the time in microseconds.
const REPORT: usize = 1 + 4 + 8;

/// Reports to the guardian how far the run has come. A guardian that is dead is no error here: it is a notice.
#[derive(Debug, Clone)]
pub struct StatusWriter {
    socket: Arc<UnixStream>,
    guardian: i32,
}

impl StatusWriter {
    /// Writes to `socket`, at whose other end is the process `guardian`.
    pub(super) fn new(socket: Arc<UnixStream>, guardian: i32) -> StatusWriter {
        StatusWriter { socket, guardian }
    }

    /// Reports that the run has come to `phase`, one that has nothing more to report.
    pub fn phase(&self, phase: Phase) {
        self.send(phase as u8, 0, None);
    }

    /// Reports that the outputs are there, and that the last line goes to `output`.
    pub fn opened(&self, output: Option<&Output>) {
        self.send(Phase::Opened as u8, 0, output.map(AsFd::as_fd));
    }

    /// Leaves the process group of the guardian, so that a KILL to that group leaves this process to finish the run. Only
    /// the foreground group of a terminal may read from it, so this comes after the prompt was read.
    pub fn part(&self) {
        process::lead_own_group();
    }

    /// Reports that the program has started as process `pid`.
    pub fn started(&self, pid: i32) {
        self.send(Phase::Started as u8, pid, None);
    }

    /// Reports that the last line is written, and that `status` goes with it.
    pub fn sealed(&self, status: u8) {
        self.send(Phase::Sealed as u8, status.into(), None);
    }

    /// Reports that the runner is about to exit with `status`, and wakes the guardian. A runner with a thread in a system
    /// call that never returns cannot exit.
    pub(super) fn exiting(&self, status: u8) {
        self.send(EXITING, status.into(), None);
        process::wake_parent(self.guardian);
    }

    fn send(&self, kind: u8, number: i32, output: Option<BorrowedFd<'_>>) {
        let mut report = [0; REPORT];
        report[0] = kind;
        report[1..5].copy_from_slice(&number.to_le_bytes());
        report[5..].copy_from_slice(&monotonic().as_micros().to_le_bytes()[..8]);
        let _ = descriptor::send(&self.socket, &report, output);
    }
}

/// Time of the clock that all processes share and that nobody sets.
fn monotonic() -> Duration {
    ClockId::CLOCK_MONOTONIC.now().map_or(Duration::ZERO, Duration::from)
}

/// What a runner has reported of its run.
#[derive(Debug)]
pub struct StatusReport {
    /// How far the run had come.
    pub phase: Phase,
    /// Where its last line goes.
    pub output: Option<OwnedFd>,
    /// Its program, and when that was started.
    program: Option<(i32, Duration)>,
    /// The exit status that goes with its last line, once that is written.
    pub status: Option<i32>,
    /// The exit status of a runner that is about to exit.
    pub exiting: Option<i32>,
}

impl StatusReport {
    /// The report of a runner that has reported nothing.
    pub(super) fn new() -> StatusReport {
        StatusReport { phase: Phase::Preparing, output: None, program: None, status: None, exiting: None }
    }

    /// Takes what has arrived at `socket`, which is non-blocking.
    pub(super) fn update(&mut self, socket: &UnixStream) {
        while self.take_one(socket).is_some() {}
    }

    fn take_one(&mut self, socket: &UnixStream) -> Option<()> {
        let mut report = [0; REPORT];
        let Ok((REPORT, output)) = descriptor::receive(socket, &mut report) else { return None };
        let [kind, a, b, c, d, micros @ ..] = report;
        let number = i32::from_le_bytes([a, b, c, d]);
        if kind == EXITING {
            self.exiting = Some(number);
            return Some(());
        }
        let phase = *PHASES.get(usize::from(kind))?;
        match phase {
            Phase::Opened => self.output = output,
            Phase::Started => {
                self.program = Some((number, Duration::from_micros(u64::from_le_bytes(micros))));
            }
            Phase::Sealed => self.status = Some(number),
            _ => {}
        }
        self.phase = phase;
        Some(())
    }

    /// The process number of the program, while nothing says that it has ended.
    pub(super) fn running_program(&self) -> Option<i32> {
        self.program.filter(|_| self.phase == Phase::Started).map(|(pid, _)| pid)
    }

    /// The time since the program was started; zero when it was not.
    pub fn elapsed(&self) -> Duration {
        self.program.map_or(Duration::ZERO, |(_, at)| monotonic().saturating_sub(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{self, Read, Write};

    #[test]
    fn reports_arrive_with_what_they_carry() {
        let (one, other) = UnixStream::pair().unwrap();
        other.set_nonblocking(true).unwrap();
        let writer = StatusWriter::new(Arc::new(one), 0);
        let (mut reader, output) = io::pipe().unwrap();
        let mut report = StatusReport::new();
        writer.phase(Phase::Opening);
        writer.opened(Some(&Output::of(output).unwrap()));
        report.update(&other);
        assert_eq!(report.phase, Phase::Opened);
        let before = monotonic();
        writer.started(4711);
        report.update(&other);
        assert_eq!(report.running_program(), Some(4711));
        writer.sealed(70);
        drop(writer);
        report.update(&other);
        assert_eq!((report.phase, report.status, report.exiting), (Phase::Sealed, Some(70), None));
        let (program, at) = report.program.unwrap();
        assert_eq!(program, 4711);
        assert!(at + Duration::from_micros(1) > before && at <= monotonic());
        File::from(report.output.unwrap()).write_all(b"x").unwrap();
        let mut got = String::new();
        reader.read_to_string(&mut got).unwrap();
        assert_eq!(got, "x");
    }
}
