//! What the stream of one run says about its cost.

use super::super::event::{self, Milestone};
use super::super::number;
use super::super::sentinel::{Outcome, Reading};
use super::super::stream::Line;
use super::counts::{Counts, TOTAL};

/// Observes the lines of one run.
#[derive(Debug, Default)]
pub struct Account {
    said: Said,
    /// `output_tokens` of the sentinel.
    sealed: Option<u64>,
}

/// What a run said.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Said {
    /// The thread that it belongs to.
    pub thread: Option<String>,
    /// The total at its end, by its last completed turn or, without one, by its sentinel. `None` when there is no
    /// number, or nothing but zeros.
    pub total: Option<Counts>,
    /// Whether a turn completed.
    pub turn_completed: bool,
    /// How many lines were JSON objects.
    pub objects: u64,
    /// How many lines were neither that nor blank.
    pub others: u64,
    /// What in its last usage could not be counted.
    pub odd: Vec<Odd>,
    /// Whether other threads came before `thread` in this stream; what they used is not in `total`.
    pub after_others: bool,
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
            Milestone::TurnCompleted => self.take_usage(line),
            Milestone::ThreadStarted(None) | Milestone::Object => {
                if let Some(Outcome::Completed { output_tokens }) =
                    Reading::of(line.scan).map(|reading| reading.outcome)
                {
                    self.sealed = output_tokens.or(self.sealed);
                }
            }
        }
        self.said.objects += 1;
    }

    fn begin(&mut self, thread: &str) {
        let said = &mut self.said;
        if said.thread.as_deref() == Some(thread) {
            return;
        }
        if said.thread.is_some() {
            (said.total, said.turn_completed, said.after_others) = (None, false, true);
            said.odd.clear();
            self.sealed = None;
        }
        said.thread = Some(thread.to_owned());
    }

    /// Each total takes in those before it, so the last one counts.
    fn take_usage(&mut self, line: Line<'_>) {
        let (counts, odd) = told(line);
        (self.said.total, self.said.odd, self.said.turn_completed) = (Some(counts), odd, true);
    }

    /// What the run said, all in all.
    pub fn close(self) -> Said {
        let sealed = self.sealed.map(Counts::of_output);
        let total = self.said.total.filter(Counts::is_some).or(sealed).filter(Counts::is_some);
        Said { total, ..self.said }
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
    use super::super::super::stream::{LINE_CAP, Stream};
    use super::super::counts::tests::counts;
    use super::*;

    fn said(stream: &str) -> Said {
        let mut account = Account::new();
        let mut lines = Stream::new(event::milestone_scanner());
        lines.push(stream.as_bytes(), |line| account.observe(line));
        lines.finish(|line| account.observe(line));
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
            turn_completed: true,
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
        let mut stream = Stream::new(event::milestone_scanner());
        stream.push(turn("{\"input_tokens\":1}").trim_end().trim_end_matches('}').as_bytes(), |_| {});
        stream.push(&vec![b' '; LINE_CAP], |_| {});
        stream.push(b"}}\n", |line| account.observe(line));
        let all = account.close();
        assert_eq!((all.total, all.odd), (None, vec![Odd::TooLong]));
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
