//! A wave of agents: which are at work, which have settled and how, and the records of that. Pure: time is an argument.
//!
//! All times are counted from the watcher's start.

mod agent;

use crate::args::Rules;
use crate::manifest::Agent;
use crate::record::{self, Digest, Fault, Settled};
use crate::sentinel::WatchedSentinel;
use crate::tally::Tally;
use agent::AgentStep;
use std::cmp::Reverse;
use std::time::Duration;

pub use agent::{FileEvent, State, WatchedAgent};

/// What stat and the lock of a progress file say.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Whether the file exists.
    pub file_exists: bool,
    /// Whether a writer holds the lock; `None` where that cannot be asked.
    pub is_taken: Option<bool>,
}

/// How a wave ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All agents settled, and all completed.
    Completed,
    /// All agents settled, and some failed.
    Failed,
    /// A file was faulty.
    Fault(Fault),
}

/// The agents of a wave.
#[derive(Debug)]
pub struct Wave {
    rules: Rules,
    agents: Vec<WatchedAgent>,
    /// The agents by when they settle without a sentinel, the next one last. Some may have settled since.
    deadlines: Vec<(Duration, usize)>,
    next_digest: Duration,
    /// When agents without a file settle; `None` once they have, or when never.
    start: Option<Duration>,
    tally: Tally,
    any_failed: bool,
    /// The worst of the faults so far.
    fault: Option<Fault>,
}

impl Wave {
    /// A wave of `agents`, none of which has settled.
    pub fn new(agents: &[Agent], rules: Rules) -> Wave {
        let due = |agent: &Agent| agent.budget.saturating_add(rules.grace);
        let mut deadlines: Vec<(Duration, usize)> = agents.iter().map(due).zip(0..).collect();
        // Stable, and popped from the end: of two that are due at once the one named first comes first.
        deadlines.sort_by_key(|&deadline| Reverse(deadline));
        Wave {
            agents: agents.iter().map(WatchedAgent::new).collect(),
            deadlines,
            next_digest: rules.digest,
            start: rules.start,
            tally: Tally { settled: 0, total: agents.len() },
            any_failed: false,
            fault: None,
            rules,
        }
    }

    /// Takes an event of the file of `agent` at `now`, and adds the records of what follows to `out`.
    pub fn observe(&mut self, agent: usize, event: FileEvent, now: Duration, out: &mut String) {
        let fault = match self.agents[agent].observe(event, now) {
            AgentStep::None => return,
            AgentStep::Settle(sentinel) => return self.settle(agent, &sentinel, now, out),
            AgentStep::Fail(fault, line) => {
                out.push_str(&record::failed(&self.agents[agent].id, fault, now, line));
                fault
            }
        };
        self.agents[agent].state = State::Faulty(fault, now);
        self.tally.total -= 1;
        // An unreadable file decides the exit status over a malformed one.
        if self.fault.is_none() || fault == Fault::Unreadable {
            self.fault = Some(fault);
        }
    }

    fn settle(&mut self, agent: usize, sentinel: &WatchedSentinel, now: Duration, out: &mut String) {
        let member = &mut self.agents[agent];
        member.state = State::of(sentinel, now);
        self.tally.settled += 1;
        self.any_failed |= !sentinel.is_completed();
        out.push_str(&record::sentinel(&Settled {
            agent: &member.id,
            elapsed: now,
            budget: member.budget,
            events: member.events,
            sentinel,
        }));
        out.push_str(&record::settlement(now, self.tally));
    }

    /// An agent whose budget and grace have passed by `now`. The caller looks at its file once more before it calls
    /// [`Wave::expire`], because its sentinel may have come since the last look.
    pub fn overdue(&mut self, now: Duration) -> Option<usize> {
        self.forget_old_deadlines();
        self.deadlines.last().filter(|(due, _)| *due <= now).map(|(_, agent)| *agent)
    }

    /// Settles `agent` without a sentinel, unless it has one.
    pub fn expire(&mut self, agent: usize, now: Duration, out: &mut String) {
        if self.is_watched(agent) {
            self.settle(agent, &WatchedSentinel::missing(), now, out);
        }
    }

    /// Whether agents without a file are to settle now; true only once. The caller looks at all files, and calls
    /// [`Wave::never_started`] for each that does not exist.
    pub fn is_start_due(&mut self, now: Duration) -> bool {
        self.start.take_if(|start| *start <= now).is_some()
    }

    /// Settles `agent` as one that was not started.
    pub fn never_started(&mut self, agent: usize, now: Duration, out: &mut String) {
        if self.is_watched(agent) {
            self.settle(agent, &WatchedSentinel::not_started(), now, out);
        }
    }

    /// Whether digests are due.
    pub fn is_digest_due(&self, now: Duration) -> bool {
        self.next_digest <= now
    }

    /// Adds a digest of each agent that has not settled. Intervals that passed while the machine slept have one digest
    /// together. `look` says what stat and the lock of an agent's file say.
    pub fn digest(&mut self, now: Duration, look: impl Fn(usize) -> Look, out: &mut String) {
        for (index, member) in self.agents.iter_mut().enumerate() {
            let State::Working(work) = &mut member.state else { continue };
            let Look { file_exists, is_taken } = look(index);
            work.had_writer |= is_taken == Some(true);
            out.push_str(&record::digest(&Digest {
                agent: &member.id,
                elapsed: now,
                budget: member.budget,
                events: member.events,
                last_activity: member.last_activity.as_ref(),
                no_recent_activity: !work.was_active,
                file_exists,
                writer_alive: is_taken.filter(|_| work.had_writer),
                quiet: now.saturating_sub(work.alive),
            }));
            work.was_active = false;
        }
        let passed = now.as_nanos() / self.rules.digest.as_nanos();
        let next = (passed + 1).saturating_mul(self.rules.digest.as_nanos());
        self.next_digest = Duration::from_nanos_u128(next.min(Duration::MAX.as_nanos()));
    }

    /// Adds the record of a watch that a signal ends.
    pub fn cancel(&self, now: Duration, out: &mut String) {
        out.push_str(&record::cancelled(now, self.tally));
    }

    /// When the next deadline, start or digest is due.
    pub fn next(&mut self) -> Duration {
        self.forget_old_deadlines();
        let deadline = self.deadlines.last().map(|(due, _)| *due);
        [deadline, self.start].into_iter().flatten().fold(self.next_digest, Duration::min)
    }

    fn forget_old_deadlines(&mut self) {
        while self.deadlines.last().is_some_and(|(_, agent)| !self.is_watched(*agent)) {
            self.deadlines.pop();
        }
    }

    /// Whether `agent` has not settled.
    pub fn is_watched(&self, agent: usize) -> bool {
        matches!(self.agents[agent].state, State::Working(_))
    }

    /// Whether the caller should look for a writer: not once one was seen, nor when the agent is about to settle.
    pub fn wants_writer(&self, agent: usize) -> bool {
        matches!(&self.agents[agent].state, State::Working(work) if !work.had_writer && work.sentinel.is_none())
    }

    /// Whether the current line of its file is the first.
    pub fn is_at_start(&self, agent: usize) -> bool {
        matches!(&self.agents[agent].state, State::Working(work) if work.lines == 0)
    }

    /// How the wave ended, if it has.
    pub fn end(&self) -> Option<End> {
        let is_over = self.tally.settled == self.tally.total;
        match self.fault {
            Some(fault) if is_over || !self.rules.keep_going => Some(End::Fault(fault)),
            None if is_over => Some(if self.any_failed { End::Failed } else { End::Completed }),
            _ => None,
        }
    }

    /// The number of agents that have settled, and of all.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// All agents, in the order in which they were named.
    pub fn agents(&self) -> &[WatchedAgent] {
        &self.agents
    }
}

#[cfg(test)]
mod tests;
