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
}

impl Verdict {
    /// The verdict on an empty stream.
    pub fn new() -> Verdict {
        Verdict { turn: Turn::None, message: None, failure: None, output_tokens: None }
    }

    /// Takes the next event into account.
    pub fn observe(&mut self, event: &Event<'_>) {
        match event {
            Event::TurnStarted => self.turn = Turn::Open,
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
    fn the_last_number_of_tokens_that_parses_counts() {
        assert_eq!(after(&[S, C, Event::TurnCompleted(Some(9))]).output_tokens(), Some(9));
        assert_eq!(after(&[S, C, Event::TurnCompleted(None)]).output_tokens(), Some(1));
        assert_eq!(after(&[S, Event::TurnCompleted(None)]).output_tokens(), None);
    }
}
