//! How a stream went: observes every event, answers once.

use super::event::Event;

/// Where the last turn of a stream stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// No turn began.
    None,
    /// It began, and nothing since has ended it.
    Open,
    /// `turn.completed` was its last word.
    Completed,
    /// `turn.failed` was its last word.
    Failed,
}

/// An agent message as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its text, up to [`super::event::MESSAGE_CAP`] bytes.
    pub text: String,
    /// Whether that is all of it.
    pub whole: bool,
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
    /// What the sentinel says, when nothing has begun since.
    completed: Option<bool>,
}

impl Verdict {
    /// The verdict on an empty stream.
    pub fn new() -> Verdict {
        Verdict {
            turn: Turn::None,
            message: None,
            failure: None,
            output_tokens: None,
            is_error_last: false,
            completed: None,
        }
    }

    /// Takes the next event into account.
    pub fn observe(&mut self, event: &Event<'_>) {
        if !matches!(event, Event::Blank | Event::NotObject | Event::Malformed | Event::Handoff) {
            self.is_error_last = matches!(event, Event::Error(_));
        }
        match event {
            Event::ThreadStarted(_) => self.completed = None,
            Event::TurnStarted => {
                self.turn = Turn::Open;
                self.completed = None;
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
                // The room of the last one is used again: messages can be long, and there can be many.
                let mut kept = self.message.take().map_or(String::new(), |last| last.text);
                kept.clear();
                kept.push_str(text);
                self.message = Some(Message { text: kept, whole: *whole });
            }
            _ => {}
        }
    }

    /// Takes a sentinel into account: of a run that has one, it alone says how it went.
    pub fn settle(&mut self, completed: bool) {
        self.completed = Some(completed);
    }

    /// Whether a failure is the last word: what the sentinel says or, without one, a failed last turn or an `error`
    /// that nothing came after.
    pub fn ends_in_failure(&self) -> bool {
        let failed = self.turn == Turn::Failed || self.is_error_last;
        self.completed.map_or(failed, |completed| !completed)
    }

    /// Where the last turn stands.
    pub fn turn(&self) -> Turn {
        self.turn
    }

    /// The last agent message.
    pub fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    /// The last failure message (of `turn.failed` or a top-level `error`) that no completed turn came after.
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
    fn the_last_word_is_that_of_the_sentinel_or_of_the_last_turn_or_an_error() {
        for (events, fails) in [
            (&[][..], false),
            (&[S, M], false),
            (&[S, M, C], false),
            (&[S, E, M, C], false),
            (&[S, E, M], false),
            (&[S, M, E], true),
            (&[S, M, E, Event::Blank, Event::Malformed], true),
            (&[S, M, C, E], true),
            (&[S, E, F], true),
            (&[S, M, F, Event::Other], true),
            (&[S, F, S, M], false),
        ] {
            let mut verdict = after(events);
            assert_eq!(verdict.ends_in_failure(), fails, "{events:?}");
            for completed in [true, false] {
                verdict.settle(completed);
                assert_eq!(verdict.ends_in_failure(), !completed, "{events:?}");
            }
            verdict.observe(&S);
            assert!(!verdict.ends_in_failure());
        }
    }

    #[test]
    fn the_last_number_of_tokens_that_parses_counts() {
        assert_eq!(after(&[S, C, Event::TurnCompleted(Some(9))]).output_tokens(), Some(9));
        assert_eq!(after(&[S, C, Event::TurnCompleted(None)]).output_tokens(), Some(1));
        assert_eq!(after(&[S, Event::TurnCompleted(None)]).output_tokens(), None);
    }
}
