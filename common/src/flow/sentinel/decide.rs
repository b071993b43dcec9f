//! Whether a run completed, as far as its stream tells. This is the one place that decides it.
//!
//! [`Verdict`] observes every event; [`Verdict::decide`] gives the [`Decision`] under a [`Rule`]. The launcher adds what only
//! it knows: the exit status, why it ended Codex, and the answer file.

use super::super::event::Event;

/// The state of the last turn of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// No turn began.
    None,
    /// It began and has not ended.
    Open,
    /// It ended with `turn.completed`.
    Completed,
    /// It ended with `turn.failed`.
    Failed,
}

/// An agent message as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its text, up to [`super::super::event::MESSAGE_CAP`] bytes.
    pub text: String,
    /// Whether that is all of it.
    pub whole: bool,
}

/// When a run counts as completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The last turn completed, and there is an answer. `jsonl-sentinel seal`, and the launcher with `--decide status`.
    TurnCompleted,
    /// There is an answer, and the last turn did not fail. The launcher with `--decide stream`.
    NoFailedTurn,
    /// There is an answer, and neither a failed turn nor an `error` comes last; the sentinel decides where there is one.
    /// `codex-render --answer`.
    NoFailureLast,
}

/// What a stream says about its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It completed.
    Completed,
    /// It ended well and has no answer.
    NoAnswer,
    /// It failed.
    Failed,
    /// It ended in the middle of a turn, or before the first one.
    Incomplete,
}

/// What a stream has said so far.
#[derive(Debug)]
pub struct Verdict {
    turn: Turn,
    message: Option<Message>,
    failure: Option<String>,
    output_tokens: Option<u64>,
    /// Whether the last event is a top-level `error`.
    is_error_last: bool,
    /// Whether the run completed by its sentinel, when no thread or turn has begun since.
    sealed: Option<bool>,
}

impl Verdict {
    /// The verdict before the first event.
    pub fn new() -> Verdict {
        Verdict {
            turn: Turn::None,
            message: None,
            failure: None,
            output_tokens: None,
            is_error_last: false,
            sealed: None,
        }
    }

    /// Takes the next event into account.
    pub fn observe(&mut self, event: &Event<'_>) {
        if !matches!(event, Event::Blank | Event::NotObject | Event::Malformed | Event::LauncherLine) {
            self.is_error_last = matches!(event, Event::Error(_));
        }
        match event {
            Event::ThreadStarted(_) => self.sealed = None,
            Event::TurnStarted => {
                self.turn = Turn::Open;
                self.sealed = None;
            }
            Event::TurnCompleted(output_tokens) => {
                self.turn = Turn::Completed;
                // A turn that completed has outlived the errors before it.
                self.failure = None;
                self.output_tokens = output_tokens.or(self.output_tokens);
            }
            Event::TurnFailed(message) => {
                self.turn = Turn::Failed;
                self.failure = message.map(str::to_owned).or_else(|| self.failure.take());
            }
            Event::Error(Some(message)) => self.failure = Some((*message).to_owned()),
            Event::AgentMessage { text, whole } => {
                // The buffer of the last one is used again: messages can be long, and there can be many.
                let mut kept = self.message.take().map_or(String::new(), |last| last.text);
                kept.clear();
                kept.push_str(text);
                self.message = Some(Message { text: kept, whole: *whole });
            }
            _ => {}
        }
    }

    /// Takes a sentinel into account, which alone decides under [`Rule::NoFailureLast`].
    pub fn observe_sentinel(&mut self, is_completed: bool) {
        self.sealed = Some(is_completed);
    }

    /// Decides under `rule`; `has_answer` is whether there is an answer.
    pub fn decide(&self, rule: Rule, has_answer: bool) -> Decision {
        let is_failed = self.turn == Turn::Failed;
        match rule {
            Rule::NoFailureLast if self.sealed.map_or(is_failed || self.is_error_last, |done| !done) => {
                Decision::Failed
            }
            Rule::TurnCompleted | Rule::NoFailedTurn if is_failed => Decision::Failed,
            Rule::TurnCompleted if self.turn != Turn::Completed => Decision::Incomplete,
            _ if has_answer => Decision::Completed,
            _ => Decision::NoAnswer,
        }
    }

    /// Whether there is a last message with more than white space in it.
    pub fn has_message(&self) -> bool {
        self.message.as_ref().is_some_and(|message| !message.text.trim().is_empty())
    }

    /// The state of the last turn.
    pub fn turn(&self) -> Turn {
        self.turn
    }

    /// The last agent message.
    pub fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    /// The last failure message, of `turn.failed` or a top-level `error`. A completed turn clears it.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// `output_tokens` of the last `turn.completed` that had one.
    pub fn output_tokens(&self) -> Option<u64> {
        self.output_tokens
    }
}

impl Default for Verdict {
    fn default() -> Verdict {
        Verdict::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Event<'_> = Event::TurnStarted;
    const M: Event<'_> = Event::AgentMessage { text: "ok", whole: true };
    const C: Event<'_> = Event::TurnCompleted(Some(1));
    const F: Event<'_> = Event::TurnFailed(Some("x"));
    const E: Event<'_> = Event::Error(Some("Reconnecting... 2/5"));

    fn after(events: &[Event<'_>]) -> Verdict {
        let mut verdict = Verdict::new();
        events.iter().for_each(|event| verdict.observe(event));
        verdict
    }

    #[test]
    fn the_last_turn_counts() {
        for (events, turn) in [
            (&[][..], Turn::None),
            (&[S], Turn::Open),
            (&[S, M, C], Turn::Completed),
            (&[S, M, C, S], Turn::Open),
            (&[S, F], Turn::Failed),
            (&[S, F, S, M, C], Turn::Completed),
            (&[S, E, M], Turn::Open),
        ] {
            assert_eq!(after(events).turn(), turn, "{events:?}");
        }
    }

    #[test]
    fn a_failure_is_forgotten_when_the_turn_completes() {
        assert_eq!(after(&[S, E, M]).failure(), Some("Reconnecting... 2/5"));
        assert_eq!(after(&[S, E, M, C]).failure(), None);
        assert_eq!(after(&[S, E, F]).failure(), Some("x"));
        assert_eq!(after(&[S, E, Event::TurnFailed(None)]).failure(), Some("Reconnecting... 2/5"));
    }

    #[test]
    fn under_each_rule_the_same_stream_is_decided() {
        use Decision::{Completed, Failed, Incomplete};
        for (events, by_turn, by_failed_turn, by_last) in [
            (&[][..], Incomplete, Completed, Completed),
            (&[S, M], Incomplete, Completed, Completed),
            (&[S, M, C], Completed, Completed, Completed),
            (&[S, E, M, C], Completed, Completed, Completed),
            (&[S, E, M], Incomplete, Completed, Completed),
            (&[S, M, E], Incomplete, Completed, Failed),
            (&[S, M, E, Event::Blank, Event::Malformed], Incomplete, Completed, Failed),
            (&[S, M, C, E], Completed, Completed, Failed),
            (&[S, M, C, S], Incomplete, Completed, Completed),
            (&[S, E, F], Failed, Failed, Failed),
            (&[S, M, F, Event::Other], Failed, Failed, Failed),
            (&[S, F, S, M], Incomplete, Completed, Completed),
        ] {
            let verdict = after(events);
            for (rule, expected) in [
                (Rule::TurnCompleted, by_turn),
                (Rule::NoFailedTurn, by_failed_turn),
                (Rule::NoFailureLast, by_last),
            ] {
                assert_eq!(verdict.decide(rule, true), expected, "{events:?} {rule:?}");
                let without = if expected == Completed { Decision::NoAnswer } else { expected };
                assert_eq!(verdict.decide(rule, false), without, "{events:?} {rule:?}");
            }
        }
    }

    #[test]
    fn a_sentinel_decides_until_a_thread_or_a_turn_begins() {
        for events in [&[][..], &[S, M, C], &[S, M, E], &[S, E, F]] {
            for (is_completed, expected) in [(true, Decision::Completed), (false, Decision::Failed)] {
                let mut verdict = after(events);
                verdict.observe_sentinel(is_completed);
                assert_eq!(verdict.decide(Rule::NoFailureLast, true), expected, "{events:?}");
                verdict.observe(&S);
                assert_eq!(verdict.decide(Rule::NoFailureLast, true), Decision::Completed);
            }
        }
    }

    #[test]
    fn a_message_of_white_space_is_none() {
        assert!(!after(&[]).has_message());
        assert!(after(&[M]).has_message());
        assert!(!after(&[M, Event::AgentMessage { text: " \n", whole: true }]).has_message());
    }

    #[test]
    fn the_last_number_of_tokens_that_parses_counts() {
        assert_eq!(after(&[S, C, Event::TurnCompleted(Some(9))]).output_tokens(), Some(9));
        assert_eq!(after(&[S, C, Event::TurnCompleted(None)]).output_tokens(), Some(1));
        assert_eq!(after(&[S, Event::TurnCompleted(None)]).output_tokens(), None);
    }
}
