//! One agent of a wave: what happens to its file, and what follows from that.

use crate::activity::Activity;
use crate::manifest::Agent;
use crate::reader::WatchedLine;
use crate::record::Fault;
use crate::sentinel::WatchedSentinel;
use std::time::Duration;

/// Something that happened to a progress file.
#[derive(Debug)]
pub enum FileEvent {
    /// Bytes were read of it, whatever they are.
    Bytes,
    /// A writer holds the lock on the file.
    Writer,
    /// A line ended.
    Line(WatchedLine),
    /// All that was there has been read.
    Pause,
    /// The file as a whole is faulty.
    Fault(Fault),
}

/// An agent that is watched.
#[derive(Debug)]
pub struct WatchedAgent {
    pub(super) id: String,
    pub(super) budget: Duration,
    pub(super) state: State,
    pub(super) events: u64,
    pub(super) last_activity: Option<Activity>,
}

/// The state of an agent.
#[derive(Debug)]
pub enum State {
    /// It has not settled.
    Working(Progress),
    /// It completed, at this time.
    Completed(Duration),
    /// It failed.
    Failed {
        /// The reason, and the cause behind a colon if there is one.
        why: Box<str>,
        /// When.
        at: Duration,
    },
    /// Its file was faulty, at this time.
    Faulty(Fault, Duration),
}

/// What is known of an agent that has not settled.
#[derive(Debug)]
pub struct Progress {
    pub(super) lines: u64,
    /// When something was last read of the file; the start of the watch when nothing was.
    pub(super) alive: Duration,
    /// Whether there was an activity since the last digest.
    pub(super) was_active: bool,
    /// Whether a writer was ever seen to hold the lock. A file without a lock may well have a writer.
    pub(super) had_writer: bool,
    /// Its sentinel, until all that the file has now was read.
    pub(super) sentinel: Option<WatchedSentinel>,
}

impl State {
    /// The state of an agent that settles with `sentinel` at this time.
    pub(super) fn of(sentinel: &WatchedSentinel, at: Duration) -> State {
        if sentinel.is_completed() {
            return State::Completed(at);
        }
        let cause = sentinel.cause().map_or(String::new(), |cause| format!(": {cause}"));
        let why = format!("{}{cause}", sentinel.reason().unwrap_or("unknown"));
        State::Failed { why: why.into(), at }
    }
}

/// What follows for an agent from an event of its file.
pub(super) enum AgentStep {
    /// Nothing.
    None,
    /// It settles.
    Settle(WatchedSentinel),
    /// Its file is faulty; the number is that of the faulty line, if there is one.
    Fail(Fault, Option<u64>),
}

impl WatchedAgent {
    pub(super) fn new(agent: &Agent) -> WatchedAgent {
        let work = Progress {
            lines: 0,
            alive: Duration::ZERO,
            was_active: false,
            had_writer: false,
            sentinel: None,
        };
        WatchedAgent {
            id: agent.id.clone(),
            budget: agent.budget,
            state: State::Working(work),
            events: 0,
            last_activity: None,
        }
    }

    pub(super) fn observe(&mut self, event: FileEvent, now: Duration) -> AgentStep {
        let State::Working(work) = &mut self.state else { return AgentStep::None };
        match event {
            FileEvent::Bytes => work.alive = now,
            FileEvent::Writer => work.had_writer = true,
            FileEvent::Pause => return work.sentinel.take().map_or(AgentStep::None, AgentStep::Settle),
            FileEvent::Fault(fault) => return AgentStep::Fail(fault, None),
            FileEvent::Line(line) => return self.observe_line(line),
        }
        AgentStep::None
    }

    fn observe_line(&mut self, line: WatchedLine) -> AgentStep {
        let State::Working(work) = &mut self.state else { return AgentStep::None };
        work.lines += 1;
        match line {
            WatchedLine::Sentinel(_) if work.sentinel.is_some() => {
                return AgentStep::Fail(Fault::DuplicateSentinel, Some(work.lines));
            }
            WatchedLine::Sentinel(sentinel) => work.sentinel = Some(sentinel),
            // Other lines after the sentinel do not count: had they come a moment later, they would not be read.
            _ if work.sentinel.is_some() => {}
            WatchedLine::Malformed => return AgentStep::Fail(Fault::Malformed, Some(work.lines)),
            WatchedLine::NotObject => return AgentStep::Fail(Fault::NonObject, Some(work.lines)),
            WatchedLine::Event(activity) => {
                self.events += 1;
                if activity.is_some() {
                    work.was_active = true;
                    self.last_activity = activity;
                }
            }
            WatchedLine::Blank => {}
        }
        AgentStep::None
    }

    /// The id that the user gave it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How long it may take.
    pub fn budget(&self) -> Duration {
        self.budget
    }

    /// Its state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The number of its events.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Its last activity.
    pub fn last_activity(&self) -> Option<&Activity> {
        self.last_activity.as_ref()
    }
}
