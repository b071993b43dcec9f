//! A wave of agents: who is at work, who has settled and how, and what there is to tell. Pure: time is an argument.
//!
//! All times are counted from the watcher's start.

use crate::activity::Activity;
use crate::args::Rules;
use crate::manifest::Agent;
use crate::reader::WatchedLine;
use crate::record::{self, Digest, Fault, Settled};
use crate::sentinel::WatchedSentinel;
use crate::tally::Tally;
use std::cmp::Reverse;
use std::time::Duration;

/// Something that came about in a progress file.
#[derive(Debug)]
pub enum Happening {
    /// Bytes were read of it: a sign of life, whatever they are.
    Life,
    /// A writer has the file for itself.
    Writer,
    /// A line ended.
    Line(WatchedLine),
    /// All that was there has been read.
    Pause,
    /// The file as a whole breaks the rules.
    Fault(Fault),
}

/// What a look at a progress file itself shows.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Whether there is one.
    pub file_exists: bool,
    /// Whether a writer has it for itself; `None` where that cannot be asked.
    pub is_taken: Option<bool>,
}

/// How a wave ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All agents settled, and all completed.
    Completed,
    /// All agents settled, and some failed.
    Failed,
    /// A file broke the rules.
    Fault(Fault),
}

/// The agents of a wave and what has come of them.
#[derive(Debug)]
pub struct Wave {
    rules: Rules,
    agents: Vec<Member>,
    /// The agents by when they settle without a sentinel, the next one last. Some may have settled since.
    deadlines: Vec<(Duration, usize)>,
    next_digest: Duration,
    /// When those that have not started settle; none once they have.
    start: Option<Duration>,
    tally: Tally,
    any_failed: bool,
    /// The worst of the faults so far.
    fault: Option<Fault>,
}

/// One agent.
#[derive(Debug)]
pub struct Member {
    id: String,
    budget: Duration,
    state: State,
    events: u64,
    last_activity: Option<Activity>,
}

/// How an agent stands.
#[derive(Debug)]
pub enum State {
    /// It has not settled.
    Working(Work),
    /// It completed, then.
    Completed(Duration),
    /// It failed.
    Failed {
        /// The reason, and the cause behind a colon if there is one.
        why: Box<str>,
        /// When.
        at: Duration,
    },
    /// Its file broke the rules.
    Out(Fault, Duration),
}

/// What is known of an agent that has not settled.
#[derive(Debug)]
pub struct Work {
    lines: u64,
    /// When something was last read of it; its start when nothing was.
    alive: Duration,
    /// Whether it has done something since the last digest.
    was_active: bool,
    /// Whether a writer has ever been seen to have the file for itself. A file that nobody takes so may well be
    /// written.
    had_writer: bool,
    /// Its sentinel, until all that is there with it has been read.
    sentinel: Option<WatchedSentinel>,
}

impl Wave {
    /// A wave of `agents`, none of which has settled.
    pub fn new(agents: &[Agent], rules: Rules) -> Wave {
        let due = |agent: &Agent| agent.budget.saturating_add(rules.grace);
        let mut deadlines: Vec<(Duration, usize)> = agents.iter().map(due).zip(0..).collect();
        // Stable, and popped from the end: of two that are due at once the one named first comes first.
        deadlines.sort_by_key(|&deadline| Reverse(deadline));
        Wave {
            agents: agents.iter().map(Member::new).collect(),
            deadlines,
            next_digest: rules.digest,
            start: rules.start,
            tally: Tally { settled: 0, total: agents.len() },
            any_failed: false,
            fault: None,
            rules,
        }
    }

    /// Takes what happened to the file of `agent` at `now`, and adds to `out` what there is to tell.
    pub fn observe(&mut self, agent: usize, happening: Happening, now: Duration, out: &mut String) {
        let fault = match self.agents[agent].take(happening, now) {
            Step::On => return,
            Step::Settle(sentinel) => return self.settle(agent, &sentinel, now, out),
            Step::Fail(fault, line) => {
                out.push_str(&record::failed(&self.agents[agent].id, fault, now, line));
                fault
            }
        };
        self.agents[agent].state = State::Out(fault, now);
        self.tally.total -= 1;
        // What cannot be read weighs more than what can and is wrong.
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

    /// An agent whose budget and grace have passed by `now`. Whoever looks at its file once more, and then expires it,
    /// does it justice: its sentinel may have come while nobody looked.
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

    /// Whether those that have not started are to settle. Once only: who asks looks at the files of all, and then calls
    /// [`Wave::never_started`] for each that has none.
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

    /// Tells how each agent is that has not settled. Of intervals that nobody was awake for there is one digest, not
    /// many. `look` says how the progress file of an agent stands.
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

    /// Tells that the user wants no more.
    pub fn cancel(&self, now: Duration, out: &mut String) {
        out.push_str(&record::cancelled(now, self.tally));
    }

    /// When time alone makes something happen next.
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

    /// Whether what comes of `agent` still matters.
    pub fn is_watched(&self, agent: usize) -> bool {
        matches!(self.agents[agent].state, State::Working(_))
    }

    /// Whether it matters if a writer has the file for itself: not once one was seen, nor when the agent is about to
    /// settle.
    pub fn wants_writer(&self, agent: usize) -> bool {
        matches!(&self.agents[agent].state, State::Working(work) if !work.had_writer && work.sentinel.is_none())
    }

    /// Whether the line that has begun in its file is the first.
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

    /// How far it has come.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// All agents, in the order in which they were named.
    pub fn agents(&self) -> &[Member] {
        &self.agents
    }
}

impl State {
    /// What `sentinel` says of an agent that settles `at` this time.
    fn of(sentinel: &WatchedSentinel, at: Duration) -> State {
        if sentinel.is_completed() {
            return State::Completed(at);
        }
        let cause = sentinel.cause().map_or(String::new(), |cause| format!(": {cause}"));
        let why = format!("{}{cause}", sentinel.reason().unwrap_or("unknown"));
        State::Failed { why: why.into(), at }
    }
}

/// What a happening makes of an agent.
enum Step {
    /// It works on.
    On,
    /// It settles.
    Settle(WatchedSentinel),
    /// Its file breaks the rules, on this line if it is one.
    Fail(Fault, Option<u64>),
}

impl Member {
    fn new(agent: &Agent) -> Member {
        let work =
            Work { lines: 0, alive: Duration::ZERO, was_active: false, had_writer: false, sentinel: None };
        Member {
            id: agent.id.clone(),
            budget: agent.budget,
            state: State::Working(work),
            events: 0,
            last_activity: None,
        }
    }

    fn take(&mut self, happening: Happening, now: Duration) -> Step {
        let State::Working(work) = &mut self.state else { return Step::On };
        match happening {
            Happening::Life => work.alive = now,
            Happening::Writer => work.had_writer = true,
            Happening::Pause => return work.sentinel.take().map_or(Step::On, Step::Settle),
            Happening::Fault(fault) => return Step::Fail(fault, None),
            Happening::Line(line) => {
                work.lines += 1;
                match line {
                    WatchedLine::Sentinel(_) if work.sentinel.is_some() => {
                        return Step::Fail(Fault::DuplicateSentinel, Some(work.lines));
                    }
                    WatchedLine::Sentinel(sentinel) => work.sentinel = Some(sentinel),
                    // Anything else behind the sentinel is not the agent's any more: a moment later nobody would
                    // read it.
                    _ if work.sentinel.is_some() => {}
                    WatchedLine::Malformed => return Step::Fail(Fault::Malformed, Some(work.lines)),
                    WatchedLine::NotObject => return Step::Fail(Fault::NonObject, Some(work.lines)),
                    WatchedLine::Event(activity) => {
                        self.events += 1;
                        if activity.is_some() {
                            work.was_active = true;
                            self.last_activity = activity;
                        }
                    }
                    WatchedLine::Blank => {}
                }
            }
        }
        Step::On
    }

    /// What the user calls it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How long it may take.
    pub fn budget(&self) -> Duration {
        self.budget
    }

    /// How it stands.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// How many events it has told of.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// What it did last.
    pub fn last_activity(&self) -> Option<&Activity> {
        self.last_activity.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{FileReader, SpareReader};

    const DONE: &str = r#"{"type":"handoff.completed","elapsed_seconds":1}"#;
    const FAILED: &str = r#"{"type":"handoff.failed","reason":"timeout","elapsed_seconds":1}"#;

    /// A wave whose time is what the test says, and what it has told.
    struct Fake {
        wave: Wave,
        now: Duration,
        out: String,
        is_taken: Option<bool>,
    }

    /// A wave of agents A0, A1, ... with these budgets in seconds; digests every 300 s, grace 120 s.
    fn fake(budgets: &[u64], keep_going: bool) -> Fake {
        let rules = Rules {
            digest: Duration::from_secs(300),
            grace: Duration::from_secs(120),
            start: None,
            keep_going,
        };
        let agent = |(index, &budget): (usize, &u64)| {
            Agent::new(&format!("A{index}"), Duration::from_secs(budget), index.to_string().into()).unwrap()
        };
        let agents: Vec<Agent> = budgets.iter().enumerate().map(agent).collect();
        Fake { wave: Wave::new(&agents, rules), now: Duration::ZERO, out: String::new(), is_taken: None }
    }

    impl Fake {
        /// These whole lines appear in the file of `agent` at once, and are read.
        fn appear(&mut self, agent: usize, lines: &[&str]) {
            self.wave.observe(agent, Happening::Life, self.now, &mut self.out);
            let text = lines.join("\n") + "\n";
            FileReader::default().push(&mut SpareReader::default(), text.as_bytes(), |line| {
                self.wave.observe(agent, Happening::Line(line), self.now, &mut self.out);
            });
            self.wave.observe(agent, Happening::Pause, self.now, &mut self.out);
        }

        /// What time does when it has come to `seconds`.
        fn pass(&mut self, seconds: u64) {
            self.now = Duration::from_secs(seconds);
            while let Some(agent) = self.wave.overdue(self.now) {
                self.wave.expire(agent, self.now, &mut self.out);
            }
            if self.wave.is_digest_due(self.now) {
                let look = Look { file_exists: true, is_taken: self.is_taken };
                self.wave.digest(self.now, |_| look, &mut self.out);
            }
        }

        /// The records since the last call, each as `type agent`, or as `type settled/total` for a settlement.
        fn told(&mut self) -> Vec<String> {
            let out = std::mem::take(&mut self.out);
            let told = out.lines().map(|line| {
                let record: serde_json::Value = serde_json::from_str(line).unwrap();
                let kind = record["type"].as_str().unwrap().strip_prefix("watcher.").unwrap().to_owned();
                match record["agentId"].as_str() {
                    Some(agent) => format!("{kind} {agent}"),
                    None => format!("{kind} {}/{}", record["settled"], record["total"]),
                }
            });
            told.collect()
        }
    }

    #[test]
    fn a_day_passes() {
        let hours = |hours: u64| hours * 3600;
        let mut fake = fake(&[hours(8), hours(12), hours(30)], false);
        let mut digests = [0; 3];
        for second in 1..=hours(24) {
            if second == hours(2) {
                fake.appear(0, &[r#"{"type":"turn.started"}"#, r#"{"type":"error","message":"x"}"#]);
            }
            if second == hours(6) {
                fake.appear(1, &["{}", DONE]);
                assert_eq!(fake.told(), ["sentinel A1", "settlement 1/3"]);
            }
            fake.pass(second);
            let settles = second == hours(8) + 120;
            assert_eq!(fake.wave.is_watched(0), second < hours(8) + 120);
            for told in fake.told() {
                match told.as_str() {
                    "digest A0" => digests[0] += 1,
                    "digest A1" => digests[1] += 1,
                    "digest A2" => digests[2] += 1,
                    "sentinel A0" | "settlement 2/3" => assert!(settles),
                    other => panic!("{other} after {second} s"),
                }
            }
        }
        assert_eq!(digests, [8 * 12, 6 * 12 - 1, 24 * 12]);
        assert_eq!(fake.wave.end(), None);
        fake.appear(0, &[DONE]);
        fake.appear(2, &[DONE]);
        assert_eq!(fake.told(), ["sentinel A2", "settlement 3/3"]);
        assert_eq!(fake.wave.end(), Some(End::Failed));
    }

    #[test]
    fn a_digest_tells_of_its_interval() {
        let mut fake = fake(&[1200], false);
        let quiet = |fake: &mut Fake| {
            let record: serde_json::Value = serde_json::from_str(&std::mem::take(&mut fake.out)).unwrap();
            (record["noRecentActivity"].as_bool().unwrap(), record["quietSeconds"].as_u64().unwrap())
        };
        fake.pass(299);
        assert_eq!(fake.out, "");
        fake.appear(0, &[r#"{"type":"turn.started"}"#]);
        fake.pass(300);
        assert_eq!(quiet(&mut fake), (true, 1));
        fake.appear(0, &[r#"{"type":"item.completed","item":{"type":"reasoning","text":"x"}}"#]);
        fake.pass(650);
        assert_eq!(quiet(&mut fake), (false, 350));
        // Half a line is life and no activity.
        fake.wave.observe(0, Happening::Life, fake.now, &mut fake.out);
        fake.pass(900);
        assert_eq!(quiet(&mut fake), (true, 250));
    }

    #[test]
    fn a_writer_is_dead_when_it_was_seen_alive() {
        let mut fake = fake(&[1200], false);
        let mut told = |time: u64, is_taken| {
            fake.is_taken = is_taken;
            fake.pass(300 * time);
            let record: serde_json::Value = serde_json::from_str(&std::mem::take(&mut fake.out)).unwrap();
            record["writerAlive"].as_bool()
        };
        assert_eq!(told(1, None), None);
        assert_eq!(told(2, Some(false)), None);
        assert_eq!(told(3, Some(true)), Some(true));
        assert_eq!(told(4, Some(false)), Some(false));
    }

    #[test]
    fn intervals_that_nobody_was_awake_for_have_one_digest() {
        let mut fake = fake(&[100_000], false);
        fake.pass(3000);
        assert_eq!(fake.told(), ["digest A0"]);
        fake.pass(3299);
        assert_eq!(fake.told(), [""; 0]);
        fake.pass(3300);
        assert_eq!(fake.told(), ["digest A0"]);
    }

    #[test]
    fn those_that_are_due_at_once_settle_in_their_order() {
        let mut fake = fake(&[10, 5, 10, 5], false);
        assert_eq!(fake.wave.next(), Duration::from_secs(125));
        fake.pass(130);
        assert_eq!(
            fake.told(),
            [
                "sentinel A1",
                "settlement 1/4",
                "sentinel A3",
                "settlement 2/4",
                "sentinel A0",
                "settlement 3/4",
                "sentinel A2",
                "settlement 4/4"
            ]
        );
    }

    #[test]
    fn a_second_sentinel_counts_when_it_was_there_with_the_first() {
        let mut first = fake(&[10], false);
        first.appear(0, &["{}", DONE, "{}", FAILED]);
        assert_eq!(
            first.out,
            "{\"type\":\"watcher.failed\",\"agentId\":\"A0\",\"reason\":\"duplicate-sentinel\",\"elapsedSeconds\":0,\"line\":4}\n"
        );
        assert_eq!(first.wave.end(), Some(End::Fault(Fault::DuplicateSentinel)));
        let mut second = fake(&[10], false);
        second.appear(0, &[DONE, "{}", "[]", "["]);
        assert!(second.out.contains("\"eventCount\":0,"), "{}", second.out);
        second.appear(0, &[FAILED, "["]);
        assert_eq!(second.told(), ["sentinel A0", "settlement 1/1"]);
        assert_eq!(second.wave.end(), Some(End::Completed));
    }

    #[test]
    fn a_fault_ends_the_wave_or_takes_its_agent_out() {
        for (lines, fault) in
            [(&["{}", "", "{"][..], Fault::Malformed), (&["{}", "", "[]", "["], Fault::NonObject)]
        {
            let mut strict = fake(&[10, 10], false);
            strict.appear(1, lines);
            assert_eq!(strict.wave.end(), Some(End::Fault(fault)));
            assert!(strict.out.ends_with(",\"line\":3}\n"), "{}", strict.out);
            assert_eq!(strict.told(), ["failed A1"]);
        }
        let mut patient = fake(&[10, 10, 10], true);
        patient.appear(1, &["["]);
        patient.appear(0, &[DONE]);
        assert_eq!(patient.told(), ["failed A1", "sentinel A0", "settlement 1/2"]);
        assert_eq!(patient.wave.end(), None);
        patient.wave.observe(2, Happening::Fault(Fault::Unreadable), patient.now, &mut patient.out);
        assert_eq!(patient.told(), ["failed A2"]);
        assert_eq!(patient.wave.end(), Some(End::Fault(Fault::Unreadable)));
    }

    #[test]
    fn those_that_have_not_started_settle_once_and_together() {
        let mut fake = fake(&[10, 1000, 1000], false);
        fake.wave.start = Some(Duration::from_secs(60));
        assert_eq!(fake.wave.next(), Duration::from_secs(60));
        assert!(!fake.wave.is_start_due(Duration::from_secs(59)));
        assert!(fake.wave.is_start_due(Duration::from_secs(61)));
        assert!(!fake.wave.is_start_due(Duration::from_secs(62)));
        assert_eq!(fake.wave.next(), Duration::from_secs(130));
        fake.wave.never_started(1, Duration::from_secs(61), &mut fake.out);
        fake.wave.never_started(1, Duration::from_secs(61), &mut fake.out);
        assert!(fake.out.contains("\"reason\":\"not-started\","), "{}", fake.out);
        assert_eq!(fake.told(), ["sentinel A1", "settlement 1/3"]);
        assert!(fake.wave.any_failed);
    }

    #[test]
    fn a_cancelled_wave_says_how_far_it_came() {
        let mut fake = fake(&[10, 10], false);
        fake.appear(1, &[DONE]);
        fake.told();
        fake.wave.cancel(Duration::from_millis(1500), &mut fake.out);
        assert_eq!(
            fake.out,
            "{\"type\":\"watcher.cancelled\",\"elapsedSeconds\":1.5,\"settled\":1,\"total\":2}\n"
        );
    }
}
