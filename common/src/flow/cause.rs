//! Why a run failed, as far as its messages name it.
//!
//! Words choose the cause and nothing else: whether a run failed is decided by its events and its status.

/// The closed list of causes that a failed sentinel may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The account is not signed in, or its key was refused.
    Auth,
    /// The account's usage or rate limit was hit.
    UsageLimit,
    /// The model's context window is full.
    ContextFull,
    /// The connection to the model failed.
    Transport,
    /// The run ended well and left no answer, or none of the form asked for.
    NoResult,
    /// The stream ended before its turn did.
    Incomplete,
    /// Codex was killed by a signal from outside.
    Killed,
    /// Codex could not be started.
    Spawn,
    /// The stream belongs to another thread than the one asked for.
    WrongThread,
    /// Another program changed the progress file.
    Tampered,
    /// A file of the run could not be written.
    Io,
    /// The launcher was killed, and how the run would have ended is not known.
    Lost,
}

impl Cause {
    /// The word for it in a sentinel.
    pub fn word(self) -> &'static str {
        match self {
            Cause::Auth => "auth",
            Cause::UsageLimit => "usage-limit",
            Cause::ContextFull => "context-full",
            Cause::Transport => "transport",
            Cause::NoResult => "no-result",
            Cause::Incomplete => "incomplete",
            Cause::Killed => "killed",
            Cause::Spawn => "spawn",
            Cause::WrongThread => "wrong-thread",
            Cause::Tampered => "tampered",
            Cause::Io => "io",
            Cause::Lost => "lost",
        }
    }

    /// The cause that a failure message names, by the words that Codex 0.98.0 to 0.171.0 use. The first list that
    /// has a word in the message wins: a lost connection is often the wrapping of a more telling fault.
    pub fn named_in(message: &str) -> Option<Cause> {
        let message = message.to_lowercase();
        let hit =
            |(_, phrases): &&(Cause, &[&str])| phrases.iter().any(|phrase| has_phrase(&message, phrase));
        PHRASES.iter().find(hit).map(|(cause, _)| *cause)
    }
}

/// The wordings are those of 0.98.0, 0.156.1 and 0.171.0, as their HTTP and `response.failed` errors come out.
const PHRASES: [(Cause, &[&str]); 4] = [
    (
        Cause::Auth,
        &["401", "unauthorized", "not logged in", "please log in", "sign in", "missing environment variable"],
    ),
    (Cause::UsageLimit, &["usage limit", "rate limit", "429", "too many requests", "quota"]),
    (Cause::ContextFull, &["context window", "context length", "context_length_exceeded"]),
    (
        Cause::Transport,
        &[
            "stream disconnected",
            "reconnecting",
            "connection",
            "network",
            "timed out",
            "error sending request",
            "high demand",
            "at capacity",
            "502",
            "503",
            "504",
        ],
    ),
];

/// Whether `phrase` stands in `message` as words of its own: "sign in" is not in "design in".
fn has_phrase(message: &str, phrase: &str) -> bool {
    message.match_indices(phrase).any(|(at, _)| {
        let before = message[..at].chars().next_back();
        let after = message[at + phrase.len()..].chars().next();
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_codex_name_the_cause() {
        for (message, cause) in [
            ("unexpected status 401 Unauthorized: Incorrect API key provided, url: http://h/v1", Cause::Auth),
            ("Not logged in", Cause::Auth),
            ("Please log in again", Cause::Auth),
            ("Missing environment variable: `X`.", Cause::Auth),
            ("Quota exceeded. Check your plan and billing details.", Cause::UsageLimit),
            ("We’re currently experiencing high demand, which may cause temporary errors.", Cause::Transport),
            ("{\"error\":{\"code\":\"context_length_exceeded\"}}", Cause::ContextFull),
            ("You’ve hit your usage limit. Upgrade to Pro", Cause::UsageLimit),
            ("You've hit your usage limit", Cause::UsageLimit),
            ("exceeded retry limit, last status: 429 Too Many Requests", Cause::UsageLimit),
            ("Codex ran out of room in the model's context window. Start a new thread", Cause::ContextFull),
            ("stream disconnected before completion: stream closed", Cause::Transport),
            ("Reconnecting... waiting for network", Cause::Transport),
        ] {
            assert_eq!(Cause::named_in(message), Some(cause), "{message}");
        }
    }

    #[test]
    fn parts_of_words_and_numbers_name_nothing() {
        for message in ["x", "", "design in progress", "port 14010", "4017 files", "reconnectings"] {
            assert_eq!(Cause::named_in(message), None, "{message}");
        }
    }
}
