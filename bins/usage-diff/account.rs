//! What the stream of one run reports about its usage.

use common::flow::event::{self, UsageEvent};
use common::flow::sentinel::ReadSentinel;
use common::flow::stream::Line;
use common::flow::usage::{Counts, OUTPUT, UsageDefect, usage_of};
use std::collections::HashSet;

/// How many sub-agents of a run are told apart.
const AGENTS_CAP: usize = 4096;

/// What the stream of a run reports.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct StreamUsage {
    /// The thread of the run.
    pub thread_id: Option<String>,
    /// The total at the end of the run, from its last completed turn or, without one, from its sentinel. `None` when there
    /// is no number, or nothing but zeros.
    pub total: Option<Counts>,
    /// How many lines are JSON objects.
    pub objects: u64,
    /// How many lines are neither JSON objects nor blank.
    pub not_objects: u64,
    /// What in the last usage cannot be counted.
    pub defects: Vec<UsageDefect>,
    /// Whether other threads come before this one in the stream. Their tokens are not in `total`.
    pub has_other_threads: bool,
    /// The sub-agents that the run called. Their tokens are in no total of its thread.
    pub subagents: Subagents,
    /// Whether the run ended in the middle of a turn, so that the tokens of that turn may be in no total at all.
    pub is_cut_short: bool,
}

/// The sub-agents that a run called.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Subagents {
    /// None.
    #[default]
    None,
    /// This many.
    Some(u64),
    /// Some; the stream does not show how many.
    Uncounted,
}

impl Subagents {
    /// The sub-agents of two runs together.
    pub fn plus(self, other: Subagents) -> Subagents {
        match (self, other) {
            (Subagents::None, other) | (other, Subagents::None) => other,
            (Subagents::Some(one), Subagents::Some(other)) => Subagents::Some(one + other),
            _ => Subagents::Uncounted,
        }
    }
}

/// Observes the events of one run.
#[derive(Debug, Default)]
pub struct Account {
    usage: StreamUsage,
    /// `output_tokens` of the sentinel.
    sentinel_tokens: Option<u64>,
    /// How Codex ended, as far as the sentinel of a failed run shows it.
    failure: Failure,
    /// Whether a turn has begun and not ended.
    is_in_turn: bool,
    /// The ids of the sub-agents.
    agents: HashSet<Box<str>>,
    /// Whether there are sub-agents without an id.
    has_unnamed_agents: bool,
}

/// How Codex ended in a failed run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// The sentinel does not show it, or there is none.
    #[default]
    Unspecified,
    /// It was stopped by INT first, after which Codex saves the usage of the turn.
    Stopped,
    /// It ended without a chance to save the usage.
    CutShort,
}

impl Account {
    /// The account of an empty stream.
    pub fn new() -> Account {
        Account::default()
    }

    /// Takes the next event into account.
    pub fn observe(&mut self, event: UsageEvent<'_>) {
        match event {
            UsageEvent::ThreadStarted(Some(id)) => self.begin_thread(id),
            UsageEvent::TurnStarted => self.is_in_turn = true,
            UsageEvent::TurnFailed => self.is_in_turn = false,
            UsageEvent::TurnCompleted(line) => {
                // Each total includes those before it, so the last one counts.
                let (total, defects) = usage_of(line);
                (self.usage.total, self.usage.defects, self.is_in_turn) = (Some(total), defects, false);
            }
            UsageEvent::CollabCall(line) => self.add_agents(line),
            UsageEvent::LauncherLine(scan) => {
                if let Some(sentinel) = ReadSentinel::of(scan) {
                    self.take_sentinel(&sentinel);
                }
            }
            UsageEvent::NotObject => self.usage.not_objects += 1,
            UsageEvent::ThreadStarted(None) | UsageEvent::Other | UsageEvent::Blank => {}
        }
        self.usage.objects += u64::from(event.is_object());
    }

    fn begin_thread(&mut self, id: &str) {
        if self.usage.thread_id.as_deref() == Some(id) {
            return;
        }
        if self.usage.thread_id.is_some() {
            let StreamUsage { objects, not_objects, .. } = self.usage;
            let usage =
                StreamUsage { objects, not_objects, has_other_threads: true, ..StreamUsage::default() };
            *self = Account { usage, ..Account::new() };
        }
        self.usage.thread_id = Some(id.to_owned());
    }

    fn add_agents(&mut self, line: Line<'_>) {
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

    fn take_sentinel(&mut self, sentinel: &ReadSentinel<'_>) {
        if sentinel.is_completed() {
            self.sentinel_tokens = sentinel.output_tokens().or(self.sentinel_tokens);
            return;
        }
        match (sentinel.reason(), sentinel.cause()) {
            (Some("timeout" | "cancelled"), _) => self.failure = Failure::Stopped,
            (_, Some("killed" | "incomplete" | "lost")) => self.failure = Failure::CutShort,
            _ => {}
        }
    }

    /// What the whole stream reports.
    pub fn close(self) -> StreamUsage {
        let of_sentinel = self.sentinel_tokens.map(|tokens| {
            let mut counts = Counts::default();
            counts.set(OUTPUT, Some(tokens));
            counts
        });
        let is_reported = Counts::is_reported;
        let total = self.usage.total.filter(is_reported).or(of_sentinel).filter(is_reported);
        let is_cut_short = match self.failure {
            Failure::Stopped => false,
            Failure::CutShort => true,
            Failure::Unspecified => self.is_in_turn,
        };
        let subagents = match self.agents.len() as u64 {
            _ if self.has_unnamed_agents => Subagents::Uncounted,
            0 => Subagents::None,
            count => Subagents::Some(count),
        };
        StreamUsage { total, is_cut_short, subagents, ..self.usage }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::tests::counts;
    use common::flow::event::UsageLines;
    use common::flow::stream::{LINE_CAP, LineReader};

    fn usage_in(stream: &str) -> StreamUsage {
        let mut account = Account::new();
        let mut lines = LineReader::<UsageLines>::new();
        lines.push(stream.as_bytes(), |event| account.observe(event));
        lines.finish().into_iter().filter(UsageEvent::is_object).for_each(|event| account.observe(event));
        account.close()
    }

    fn output(tokens: u64) -> Counts {
        let mut counts = Counts::default();
        counts.set(OUTPUT, Some(tokens));
        counts
    }

    const T: &str = r#"{"type":"thread.started","thread_id":"t1"}"#;

    fn turn(usage: &str) -> String {
        format!("{{\"type\":\"turn.completed\",\"usage\":{usage}}}\n")
    }

    #[test]
    fn the_last_completed_turn_counts() {
        let numbers = r#"{"input_tokens":2,"cached_input_tokens":1,"output_tokens":3}"#;
        let stream = format!("{T}\n{}{}[]\n\nx\n", turn(r#"{"input_tokens":1}"#), turn(numbers));
        let expected = StreamUsage {
            thread_id: Some("t1".into()),
            total: Some(counts(2, 1, 3)),
            objects: 3,
            not_objects: 2,
            ..StreamUsage::default()
        };
        assert_eq!(usage_in(&stream), expected);
        assert_eq!(usage_in(&format!("{stream}{}", turn("null"))).total, None);
    }

    #[test]
    fn without_a_number_or_with_zeros_alone_there_is_no_total() {
        for usage in [
            "{}",
            "null",
            "7",
            r#"{"input_tokens":0,"output_tokens":0}"#,
            r#"{"output_tokens":"7","x":null}"#,
        ] {
            assert_eq!(usage_in(&turn(usage)).total, None, "{usage}");
        }
    }

    #[test]
    fn without_a_usage_the_output_of_the_sentinel_counts() {
        let sentinel = |tokens: &str| format!("{{\"type\":\"handoff.completed\"{tokens}}}\n");
        let seven = || sentinel(r#","output_tokens":7"#);
        assert_eq!(usage_in(&seven()).total, Some(output(7)));
        assert_eq!(usage_in(&format!("{}{}", turn("null"), seven())).total, Some(output(7)));
        let numbers = r#"{"input_tokens":2,"cached_input_tokens":1,"output_tokens":3}"#;
        assert_eq!(usage_in(&format!("{}{}", turn(numbers), seven())).total, Some(counts(2, 1, 3)));
        assert_eq!(usage_in(&sentinel("")).total, None);
        assert_eq!(usage_in(&sentinel(r#","output_tokens":0"#)).total, None);
        assert_eq!(usage_in("{\"type\":\"handoff.failed\",\"output_tokens\":7}\n").total, None);
    }

    #[test]
    fn numbers_that_cannot_be_counted_are_named_and_not_rounded() {
        let all = usage_in(&turn(
            r#"{"input_tokens":1.8e4,"output_tokens":1.5,"x":18446744073709551616,"output_tokens":-1,"y":2.5,"y":2,"total_tokens":9}"#,
        ));
        let total = all.total.expect("a total");
        assert_eq!(
            total.fields(),
            [
                ("input_tokens", Some(18_000)),
                ("output_tokens", None),
                ("x", None),
                ("y", Some(2)),
                ("total_tokens", None)
            ]
        );
        let defect = |name: &str, digits: &str| UsageDefect::Number(name.into(), digits.into());
        assert_eq!(all.defects, [defect("x", "18446744073709551616"), defect("output_tokens", "-1")]);
    }

    #[test]
    fn a_usage_that_is_too_large_is_named() {
        let many: Vec<String> = (0..70).map(|number| format!("\"f{number}\":1")).collect();
        assert_eq!(usage_in(&turn(&format!("{{{}}}", many.join(",")))).defects, [UsageDefect::TooManyFields]);
        let mut account = Account::new();
        let mut stream = LineReader::<UsageLines>::new();
        stream.push(turn("{\"input_tokens\":1}").trim_end().trim_end_matches('}').as_bytes(), |_| {});
        stream.push(&vec![b' '; LINE_CAP], |_| {});
        stream.push(b"}}\n", |event| account.observe(event));
        let all = account.close();
        assert_eq!((all.total, all.defects), (None, vec![UsageDefect::LineTooLong]));
    }

    #[test]
    fn a_run_is_cut_short_by_a_kill_or_in_a_turn_that_nothing_ended() {
        let (started, failed) = (r#"{"type":"turn.started"}"#, r#"{"type":"turn.failed"}"#);
        let sentinel = |fields: &str| format!("{{\"type\":\"handoff.failed\",{fields}}}");
        for (lines, is_cut_short) in [
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
            assert_eq!(usage_in(&lines.join("\n")).is_cut_short, is_cut_short, "{lines:?}");
        }
    }

    #[test]
    fn each_sub_agent_counts_once_and_one_without_an_id_makes_their_number_unknown() {
        let call = |item: &str| {
            format!("{{\"type\":\"item.completed\",\"item\":{{\"type\":\"collab_tool_call\",{item}}}}}\n")
        };
        let named = call(r#""receiver_thread_ids":["a","b"]"#) + &call(r#""agents_states":{"b":{}}"#);
        assert_eq!(usage_in(&named).subagents, Subagents::Some(2));
        assert_eq!(
            usage_in(&call(r#""receiver_thread_ids":[],"status":"failed""#)).subagents,
            Subagents::None
        );
        let wait = call(r#""tool":"wait","status":"completed""#);
        assert_eq!(usage_in(&wait).subagents, Subagents::Uncounted);
        assert_eq!(usage_in(&format!("{named}{wait}")).subagents, Subagents::Some(2));
        let ids: Vec<String> = (0..=AGENTS_CAP).map(|number| format!("\"{number}\"")).collect();
        let many = call(&format!("\"receiver_thread_ids\":[{}]", ids.join(",")));
        assert_eq!(usage_in(&many).subagents, Subagents::Uncounted);
    }

    #[test]
    fn of_several_threads_the_last_one_counts() {
        let t2 = r#"{"type":"thread.started","thread_id":"t2"}"#;
        let one = turn(r#"{"input_tokens":1}"#);
        let all = usage_in(&format!("{T}\n{one}{t2}\n"));
        assert_eq!((all.thread_id.as_deref(), all.total, all.has_other_threads), (Some("t2"), None, true));
        let all = usage_in(&format!("{T}\n{one}{T}\n"));
        assert!(all.total.is_some() && !all.has_other_threads);
    }
}
