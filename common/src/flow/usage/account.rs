//! What the stream of one run says about its cost.

use super::super::event::{self, Milestone};
use super::super::number;
use super::super::sentinel::{Outcome, Reading};
use super::super::stream::Line;
use super::counts::{Counts, TOTAL};
use std::collections::HashSet;

/// How many agents of a run are told apart.
const AGENTS_CAP: usize = 4096;

/// Observes the lines of one run.
#[derive(Debug, Default)]
pub struct Account {
    said: Said,
    /// `output_tokens` of the sentinel.
    sealed: Option<u64>,
    /// How the sentinel says that it failed.
    failed: Failed,
    /// Whether a turn has begun and not come to its end.
    is_in_turn: bool,
    /// The agents that were named.
    agents: HashSet<Box<str>>,
    /// Whether there were others.
    has_unnamed_agents: bool,
}

/// What the sentinel of a failed run says about the end of Codex.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Failed {
    /// Nothing.
    #[default]
    Otherwise,
    /// It was stopped, beginning with INT, on which Codex saves what the turn used.
    Stopped,
    /// It ended without a chance to save it.
    Cut,
}

/// What a run said.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Said {
    /// The thread that it belongs to.
    pub thread: Option<String>,
    /// The total at its end, by its last completed turn or, without one, by its sentinel. `None` when there is no
    /// number, or nothing but zeros.
    pub total: Option<Counts>,
    /// How many lines were JSON objects.
    pub objects: u64,
    /// How many lines were neither that nor blank.
    pub others: u64,
    /// What in its last usage could not be counted.
    pub odd: Vec<Odd>,
    /// Whether other threads came before `thread` in this stream; what they used is not in `total`.
    pub after_others: bool,
    /// The other agents that it called, whose tokens are in no total of its thread.
    pub subagents: Subagents,
    /// Whether it ended in the middle of a turn, so that what the turn used may be in no total at all.
    pub is_cut: bool,
}

/// Other agents that a run called.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Subagents {
    /// None.
    #[default]
    None,
    /// So many.
    Some(u64),
    /// Some; the stream does not tell how many.
    Uncounted,
}

impl Subagents {
    /// Those of two runs together.
    pub(super) fn plus(self, other: Subagents) -> Subagents {
        match (self, other) {
            (Subagents::None, other) | (other, Subagents::None) => other,
            (Subagents::Some(one), Subagents::Some(other)) => Subagents::Some(one + other),
            _ => Subagents::Uncounted,
        }
    }
}

/// A part of a usage that could not be counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Odd {
    /// This field has a number that is not a whole one from 0 to 2^64 - 1: these digits, cut after 40 of them.
    Number(String, String),
    /// There are more than [`super::FIELDS_CAP`] fields; the rest is left out.
    TooMany,
    /// The line is longer than [`super::super::stream::LINE_CAP`].
    TooLong,
}

impl Account {
    /// The account of an empty stream.
    pub fn new() -> Account {
        Account::default()
    }

    /// Takes the next line into account.
    pub fn observe(&mut self, line: Line<'_>) {
        match Milestone::of(line.scan) {
            Milestone::Blank => return,
            Milestone::NoObject => {
                self.said.others += 1;
                return;
            }
            Milestone::ThreadStarted(Some(id)) => self.begin(id),
            Milestone::TurnStarted => self.is_in_turn = true,
            Milestone::TurnFailed => self.is_in_turn = false,
            Milestone::TurnCompleted => self.take_usage(line),
            Milestone::CollabCall => self.take_agents(line),
            Milestone::ThreadStarted(None) | Milestone::Object => {
                if let Some(reading) = Reading::of(line.scan) {
                    self.take_outcome(reading.outcome);
                }
            }
        }
        self.said.objects += 1;
    }

    fn begin(&mut self, thread: &str) {
        let said = &self.said;
        if said.thread.as_deref() == Some(thread) {
            return;
        }
        if said.thread.is_some() {
            *self = Account {
                said: Said { after_others: true, ..self.said.counts_of_lines() },
                ..Account::new()
            };
        }
        self.said.thread = Some(thread.to_owned());
    }

    /// Each total takes in those before it, so the last one counts.
    fn take_usage(&mut self, line: Line<'_>) {
        let (counts, odd) = told(line);
        (self.said.total, self.said.odd, self.is_in_turn) = (Some(counts), odd, false);
    }

    fn take_agents(&mut self, line: Line<'_>) {
        let Some(text) = line.text() else {
            self.has_unnamed_agents = true;
            return;
        };
        let (agents, mut are_too_many) = (&mut self.agents, false);
        let is_unnamed = event::agents(text, |id| {
            are_too_many |= agents.len() == AGENTS_CAP && !agents.contains(id);
            if !are_too_many && !agents.contains(id) {
                agents.insert(id.into());
            }
        });
        self.has_unnamed_agents |= are_too_many || is_unnamed && self.agents.is_empty();
    }

    fn take_outcome(&mut self, outcome: Outcome<'_>) {
        match outcome {
            Outcome::Completed { output_tokens, .. } => self.sealed = output_tokens.or(self.sealed),
            Outcome::Failed { reason: Some("timeout" | "cancelled"), .. } => self.failed = Failed::Stopped,
            Outcome::Failed { cause: Some("killed" | "incomplete" | "lost"), .. } => {
                self.failed = Failed::Cut
            }
            Outcome::Failed { .. } => {}
        }
    }

    /// What the run said, all in all.
    pub fn close(self) -> Said {
        let sealed = self.sealed.map(Counts::of_output);
        let total = self.said.total.filter(Counts::is_some).or(sealed).filter(Counts::is_some);
        let is_cut = match self.failed {
            Failed::Stopped => false,
            Failed::Cut => true,
            Failed::Otherwise => self.is_in_turn,
        };
        let subagents = match self.agents.len() as u64 {
            _ if self.has_unnamed_agents => Subagents::Uncounted,
            0 => Subagents::None,
            count => Subagents::Some(count),
        };
        Said { total, is_cut, subagents, ..self.said }
    }
}

impl Said {
    /// What it says about lines, and nothing about a run.
    fn counts_of_lines(&self) -> Said {
        Said { objects: self.objects, others: self.others, ..Said::default() }
    }
}

/// The numbers of the usage on `line`, and what in it could not be counted.
pub fn told(line: Line<'_>) -> (Counts, Vec<Odd>) {
    let (mut counts, mut odd) = (Counts::default(), Vec::new());
    match line.text() {
        Some(text) => event::usage(text, |name, digits| set(&mut counts, &mut odd, name, digits)),
        None => odd.push(Odd::TooLong),
    }
    (counts, odd)
}

fn set(counts: &mut Counts, odd: &mut Vec<Odd>, name: &str, digits: &str) {
    // Ours is made of input and output; should Codex ever tell one, there are not two of them.
    if name == TOTAL {
        return;
    }
    let value = number::whole(digits);
    if !counts.set(name, value) {
        if !odd.contains(&Odd::TooMany) {
            odd.push(Odd::TooMany);
        }
        return;
    }
    odd.retain(|odd| !matches!(odd, Odd::Number(other, _) if other == name));
    if value.is_none() {
        odd.push(Odd::Number(name.to_owned(), digits.chars().take(40).collect()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::event::UsageLines;
    use super::super::super::stream::{LINE_CAP, LineReader};
    use super::super::counts::tests::counts;
    use super::*;

    fn said(stream: &str) -> Said {
        let mut account = Account::new();
        let mut lines = LineReader::<UsageLines>::new();
        lines.push(stream.as_bytes(), |line| account.observe(line));
        lines.finish().into_iter().filter(Line::is_object).for_each(|line| account.observe(line));
        account.close()
    }

    const T: &str = r#"{"type":"thread.started","thread_id":"t1"}"#;

    fn turn(usage: &str) -> String {
        format!("{{\"type\":\"turn.completed\",\"usage\":{usage}}}\n")
    }

    #[test]
    fn the_last_completed_turn_counts() {
        let numbers = r#"{"input_tokens":2,"cached_input_tokens":1,"output_tokens":3}"#;
        let stream = format!("{T}\n{}{}[]\n\nx\n", turn(r#"{"input_tokens":1}"#), turn(numbers));
        let expected = Said {
            thread: Some("t1".into()),
            total: Some(counts(2, 1, 3)),
            objects: 3,
            others: 2,
            ..Said::default()
        };
        assert_eq!(said(&stream), expected);
        assert_eq!(said(&format!("{stream}{}", turn("null"))).total, None);
    }

    #[test]
    fn no_number_and_nothing_but_zeros_is_no_total() {
        for usage in [
            "{}",
            "null",
            "7",
            r#"{"input_tokens":0,"output_tokens":0}"#,
            r#"{"output_tokens":"7","x":null}"#,
        ] {
            assert_eq!(said(&turn(usage)).total, None, "{usage}");
        }
    }

    #[test]
    fn a_sentinel_helps_where_no_turn_does() {
        let sentinel = |tokens: &str| format!("{{\"type\":\"handoff.completed\"{tokens}}}\n");
        let seven = || sentinel(r#","output_tokens":7"#);
        assert_eq!(said(&seven()).total, Some(Counts::of_output(7)));
        assert_eq!(said(&format!("{}{}", turn("null"), seven())).total, Some(Counts::of_output(7)));
        let numbers = r#"{"input_tokens":2,"cached_input_tokens":1,"output_tokens":3}"#;
        assert_eq!(said(&format!("{}{}", turn(numbers), seven())).total, Some(counts(2, 1, 3)));
        assert_eq!(said(&sentinel("")).total, None);
        assert_eq!(said(&sentinel(r#","output_tokens":0"#)).total, None);
        assert_eq!(said("{\"type\":\"handoff.failed\",\"output_tokens\":7}\n").total, None);
    }

    #[test]
    fn odd_numbers_are_said_and_not_rounded() {
        let all = said(&turn(
            r#"{"input_tokens":1.8e4,"output_tokens":1.5,"x":18446744073709551616,"output_tokens":-1,"y":2.5,"y":2,"total_tokens":9}"#,
        ));
        let total = all.total.expect("a total");
        assert_eq!(
            total.shown(),
            [
                ("input_tokens", Some(18_000)),
                ("output_tokens", None),
                ("x", None),
                ("y", Some(2)),
                ("total_tokens", None)
            ]
        );
        let odd = |name: &str, digits: &str| Odd::Number(name.into(), digits.into());
        assert_eq!(all.odd, [odd("x", "18446744073709551616"), odd("output_tokens", "-1")]);
    }

    #[test]
    fn a_usage_beyond_all_measure_is_said() {
        let many: Vec<String> = (0..70).map(|number| format!("\"f{number}\":1")).collect();
        assert_eq!(said(&turn(&format!("{{{}}}", many.join(",")))).odd, [Odd::TooMany]);
        let mut account = Account::new();
        let mut stream = LineReader::<UsageLines>::new();
        stream.push(turn("{\"input_tokens\":1}").trim_end().trim_end_matches('}').as_bytes(), |_| {});
        stream.push(&vec![b' '; LINE_CAP], |_| {});
        stream.push(b"}}\n", |line| account.observe(line));
        let all = account.close();
        assert_eq!((all.total, all.odd), (None, vec![Odd::TooLong]));
    }

    #[test]
    fn a_run_that_was_cut_short_may_have_saved_nothing() {
        let (started, failed) = (r#"{"type":"turn.started"}"#, r#"{"type":"turn.failed"}"#);
        let sentinel = |fields: &str| format!("{{\"type\":\"handoff.failed\",{fields}}}");
        for (lines, is_cut) in [
            (vec![], false),
            (vec![started.into()], true),
            (vec![started.into(), failed.into()], false),
            (vec![started.into(), turn("null")], false),
            (vec![started.into(), sentinel(r#""reason":"timeout""#)], false),
            (vec![started.into(), sentinel(r#""reason":"cancelled""#)], false),
            (vec![started.into(), sentinel(r#""reason":"error","rc":1"#)], true),
            (
                vec![started.into(), failed.into(), sentinel(r#""reason":"error","rc":1,"cause":"auth""#)],
                false,
            ),
            (vec![sentinel(r#""reason":"error","rc":137,"cause":"killed""#)], true),
            (vec![sentinel(r#""reason":"error","rc":70,"cause":"incomplete""#)], true),
            (vec![sentinel(r#""reason":"error","rc":125,"cause":"lost""#)], true),
        ] {
            assert_eq!(said(&lines.join("\n")).is_cut, is_cut, "{lines:?}");
        }
    }

    #[test]
    fn each_agent_counts_once_and_one_without_a_name_is_said() {
        let call = |item: &str| {
            format!("{{\"type\":\"item.completed\",\"item\":{{\"type\":\"collab_tool_call\",{item}}}}}\n")
        };
        let named = call(r#""receiver_thread_ids":["a","b"]"#) + &call(r#""agents_states":{"b":{}}"#);
        assert_eq!(said(&named).subagents, Subagents::Some(2));
        assert_eq!(said(&call(r#""receiver_thread_ids":[],"status":"failed""#)).subagents, Subagents::None);
        let wait = call(r#""tool":"wait","status":"completed""#);
        assert_eq!(said(&wait).subagents, Subagents::Uncounted);
        assert_eq!(said(&format!("{named}{wait}")).subagents, Subagents::Some(2));
        let ids: Vec<String> = (0..=AGENTS_CAP).map(|number| format!("\"{number}\"")).collect();
        let many = call(&format!("\"receiver_thread_ids\":[{}]", ids.join(",")));
        assert_eq!(said(&many).subagents, Subagents::Uncounted);
    }

    #[test]
    fn of_several_threads_the_last_counts() {
        let t2 = r#"{"type":"thread.started","thread_id":"t2"}"#;
        let one = turn(r#"{"input_tokens":1}"#);
        let all = said(&format!("{T}\n{one}{t2}\n"));
        assert_eq!((all.thread.as_deref(), all.total, all.after_others), (Some("t2"), None, true));
        let all = said(&format!("{T}\n{one}{T}\n"));
        assert!(all.total.is_some() && !all.after_others);
    }
}
