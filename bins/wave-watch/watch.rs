//! The watch: connects the followed files, the signals and the clock to the wave.

use crate::args::Config;
use crate::listing;
use crate::manifest::Agent;
use crate::outbox::Outbox;
use crate::reader::{FileReader, SpareReader};
use crate::record::Fault;
use crate::table::Table;
use crate::wave::{End, FileEvent, Look, Wave};
use crate::{NAME, args::Ui};
use common::edge::follow::{FileChange, Pace, Set};
use common::edge::signals::Interrupt;
use common::face::exit::Status;
use common::face::printed::Printed;
use common::face::say::{self, why};
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// How much more rarely than others a file is polled whose changes give notices. Polling ten thousand files costs 20 ms, so
/// at the default of a second this is a five-hundredth of a core.
const NET: u32 = 10;

/// How long the looks at the files before a digest, or before agents settle by time, may take together beyond a chunk of
/// each file. Agents settle in time, however much there is to read.
const LOOKS: Duration = Duration::from_millis(50);

/// Watches as `config` says.
pub fn run(mut config: Config) -> Status {
    let started = Instant::now();
    let agents = match listing::agents(&mut config) {
        Ok(agents) => agents,
        Err(status) => return status,
    };
    match Watch::new(started, &config, &agents) {
        Ok(watch) => watch.run(agents, config.poll),
        Err(error) => no_start(&error),
    }
}

/// Prints why the watch cannot start, and returns the status.
fn no_start(error: &io::Error) -> Status {
    say::line(NAME, &format!("start: {}", why(error)));
    Status::IO
}

/// Everything but the files.
struct Watch {
    started: Instant,
    wave: Wave,
    readers: Vec<FileReader>,
    spare: SpareReader,
    interrupt: Interrupt,
    out: Outbox,
    table: Option<Table>,
}

impl Watch {
    fn new(started: Instant, config: &Config, agents: &[Agent]) -> io::Result<Watch> {
        let are_terminals = (io::stderr().is_terminal(), io::stdout().is_terminal());
        if config.ui == Ui::Auto && are_terminals == (true, true) {
            let how = "write the records to a file (> wave.jsonl), or give --ui always";
            say::line(NAME, &format!("no live table between records: {how}"));
        }
        let shows = config.ui == Ui::Always || config.ui == Ui::Auto && are_terminals == (true, false);
        Ok(Watch {
            started,
            wave: Wave::new(agents, config.rules),
            readers: agents.iter().map(|_| FileReader::default()).collect(),
            spare: SpareReader::default(),
            interrupt: Interrupt::with_int()?,
            out: Outbox::stdout()?,
            table: shows.then(|| Table::new(are_terminals.1)),
        })
    }

    fn run(mut self, agents: Vec<Agent>, poll: Duration) -> Status {
        let bells = self.interrupt.as_fd().try_clone_to_owned();
        let bells = bells.and_then(|wish| Ok((wish, self.out.as_fd().try_clone_to_owned()?)));
        let (wish, output) = match bells {
            Ok(bells) => bells,
            Err(error) => return no_start(&error),
        };
        let pace = Pace { poll, net: poll.saturating_mul(NET) };
        let mut set = Set::new(agents.into_iter().map(|agent| agent.file), pace).woken_by(wish, output);
        loop {
            let until = self.until();
            set.round(until, |agent, told| self.take(agent, told));
            self.flush();
            self.settle_overdue(&mut set);
            self.settle_unstarted(&mut set);
            self.digest(&mut set);
            self.flush();
            if let Some(status) = self.status() {
                return status;
            }
            if let Some(table) = &mut self.table {
                table.draw_if_due(&self.wave, self.started.elapsed());
            }
        }
    }

    /// Writes the pending records. On the terminal of the table they stand above it.
    fn flush(&mut self) {
        if let Some(table) = &mut self.table
            && !self.out.records.is_empty()
        {
            table.make_way();
        }
        self.out.flush(self.started.elapsed());
    }

    /// Writes the pending records unless more may soon be written with them, see [`Outbox::is_due`].
    fn flush_if_due(&mut self, now: Duration) {
        if self.out.is_due(now) {
            self.flush();
        }
    }

    /// When the next deadline, digest or picture of the table is due.
    fn until(&mut self) -> Option<Instant> {
        let next = self.wave.next();
        let next = self.table.as_ref().map_or(next, |table| next.min(table.next()));
        self.started.checked_add(next)
    }

    /// Takes what is told of the file of `agent`; breaks off when there is nothing more to hear.
    fn take(&mut self, agent: usize, told: FileChange<'_>) -> ControlFlow<()> {
        if self.is_over() {
            return ControlFlow::Break(());
        }
        let now = self.started.elapsed();
        let (wave, out) = (&mut self.wave, &mut self.out.records);
        match told {
            FileChange::Bytes(bytes) => {
                wave.observe(agent, FileEvent::Bytes, now, out);
                self.readers[agent].push(&mut self.spare, bytes, |line| {
                    wave.observe(agent, FileEvent::Line(line), now, out);
                });
            }
            FileChange::Pause(file) => {
                if wave.wants_writer(agent) && file.is_taken() == Some(true) {
                    wave.observe(agent, FileEvent::Writer, now, out);
                }
                wave.observe(agent, FileEvent::Pause, now, out);
            }
            FileChange::Rewind => self.readers[agent].rewind(&mut self.spare, wave.is_at_start(agent)),
            FileChange::Restart(_) => wave.observe(agent, FileEvent::Fault(Fault::Truncated), now, out),
            FileChange::Unreadable(_) | FileChange::Irregular => {
                wave.observe(agent, FileEvent::Fault(Fault::Unreadable), now, out);
            }
        }
        self.flush_if_due(now);
        if self.wave.is_watched(agent) && !self.is_over() {
            return ControlFlow::Continue(());
        }
        self.readers[agent] = FileReader::default();
        ControlFlow::Break(())
    }

    /// Settles the agents whose budget and grace have passed, after a last look at their files.
    fn settle_overdue(&mut self, set: &mut Set) {
        let until = Instant::now() + LOOKS;
        while !self.is_over()
            && let Some(agent) = self.wave.overdue(self.started.elapsed())
        {
            set.look(agent, until, |agent, told| self.take(agent, told));
            if self.is_over() {
                return;
            }
            let now = self.started.elapsed();
            self.wave.expire(agent, now, &mut self.out.records);
            self.forget(set, agent, now);
        }
    }

    /// Settles the agents without a file when it is time, after a last look at all files.
    fn settle_unstarted(&mut self, set: &mut Set) {
        if self.is_over() || !self.wave.is_start_due(self.started.elapsed()) {
            return;
        }
        self.look_at_all(set);
        for agent in 0..self.readers.len() {
            if !self.is_over() && self.wave.is_watched(agent) && !set.was_there(agent) {
                let now = self.started.elapsed();
                self.wave.never_started(agent, now, &mut self.out.records);
                self.forget(set, agent, now);
            }
        }
    }

    /// Writes digests when it is time, after a look at all files: a notice may be late or lost.
    fn digest(&mut self, set: &mut Set) {
        if self.is_over() || !self.wave.is_digest_due(self.started.elapsed()) {
            return;
        }
        self.look_at_all(set);
        if !self.is_over() {
            let look = |agent| Look { file_exists: set.is_there(agent), is_taken: set.is_taken(agent) };
            self.wave.digest(self.started.elapsed(), look, &mut self.out.records);
        }
    }

    fn look_at_all(&mut self, set: &mut Set) {
        let until = Instant::now() + LOOKS;
        for agent in 0..self.readers.len() {
            set.look(agent, until, |agent, told| self.take(agent, told));
        }
    }

    /// Stops following the file of `agent`, which has settled without a sentinel.
    fn forget(&mut self, set: &mut Set, agent: usize, now: Duration) {
        set.forget(agent);
        self.readers[agent] = FileReader::default();
        self.flush_if_due(now);
    }

    /// Whether the watch is over, so that no change of a file matters.
    fn is_over(&self) -> bool {
        self.out.lost().is_some() || self.wave.end().is_some() || self.interrupt.signal().is_some()
    }

    /// The exit status, once the watch is over.
    fn status(&mut self) -> Option<Status> {
        let status = match (self.wave.end(), self.interrupt.signal()) {
            (Some(End::Completed), _) => Status::DONE,
            (Some(End::Failed), _) => Status::NO,
            (Some(End::Fault(Fault::Unreadable)), _) => Status::NO_INPUT,
            (Some(End::Fault(_)), _) => Status::DATA,
            (None, Some(signal)) => {
                self.wave.cancel(self.started.elapsed(), &mut self.out.records);
                self.flush();
                Status::signal(signal)
            }
            (None, None) if self.out.lost().is_none() && !self.out.reader_left() => return None,
            (None, None) => Printed::stdout_failure(NAME, &io::ErrorKind::BrokenPipe.into()).status(),
        };
        if let Some(table) = &mut self.table {
            table.draw_last(&self.wave, self.started.elapsed());
        }
        Some(self.out.lost().map_or(status, |error| Printed::stdout_failure(NAME, error).status()))
    }
}
