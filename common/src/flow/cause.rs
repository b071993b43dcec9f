//! Why a run failed, as far as its messages name it.
//!
//! Words choose the cause and nothing else: whether a run failed is decided by its events and its status. No cause is
//! better than a wrong one, so a number counts only where Codex prints an HTTP status, and a URL counts nowhere.

/// The closed list of causes that a failed sentinel may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The account is not signed in, or its key was refused.
    Auth,
    /// The account's usage, credit or rate limit was hit.
    UsageLimit,
    /// The model or its server has no room for the request now.
    Capacity,
    /// The provider refused the request for what it asks.
    Policy,
    /// The model's context window is full.
    ContextFull,
    /// The connection to the model failed.
    Transport,
    /// Codex's configuration cannot be used, or a server that it requires did not start.
    Config,
    /// The thread to continue does not exist.
    NoThread,
    /// Another process is writing the thread to continue.
    ThreadBusy,
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
    /// The launch was refused before Codex was started.
    Refused,
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
            Cause::Capacity => "capacity",
            Cause::Policy => "policy",
            Cause::ContextFull => "context-full",
            Cause::Transport => "transport",
            Cause::Config => "config",
            Cause::NoThread => "no-thread",
            Cause::ThreadBusy => "thread-busy",
            Cause::NoResult => "no-result",
            Cause::Incomplete => "incomplete",
            Cause::Killed => "killed",
            Cause::Spawn => "spawn",
            Cause::WrongThread => "wrong-thread",
            Cause::Tampered => "tampered",
            Cause::Refused => "refused",
            Cause::Io => "io",
            Cause::Lost => "lost",
        }
    }

    /// Returns the cause that a failure message of the stream names, by the words that Codex 0.98.0 to 0.171.0 use.
    ///
    /// Telling words come first, then an HTTP status, then the words of a lost connection, which often wrap a more
    /// telling fault and mean nothing where the server did answer.
    pub fn named_in(message: &str) -> Option<Cause> {
        let message = without_urls(&message.to_lowercase());
        let named = |phrases: &[&str]| phrases.iter().any(|phrase| has_phrase(&message, phrase));
        if let Some((cause, _)) = PHRASES.iter().find(|(_, phrases)| named(phrases)) {
            return Some(*cause);
        }
        match http_status(&message) {
            Some(status) => of_status(status),
            None => named(TRANSPORT).then_some(Cause::Transport),
        }
    }

    /// Returns the cause that the end of Codex's stderr names.
    ///
    /// Lines of its log, which begin with a time, tell of background work as well and name nothing. Where Codex gave
    /// a reason of its own, in a line that begins with "Error", that line alone counts.
    pub fn named_on_stderr(text: &str) -> Option<Cause> {
        let lines = || text.lines().filter(|line| !is_logged(line));
        let reason =
            lines().rfind(|line| line.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("error")));
        match reason {
            Some(reason) => Cause::named_in(reason),
            None => Cause::named_in(&lines().collect::<Vec<_>>().join("\n")),
        }
    }
}

/// Telling words, as they come out of 0.98.0, 0.156.1 and 0.171.0; the first list that has one of a message wins.
const PHRASES: [(Cause, &[&str]); 8] = [
    (
        Cause::Policy,
        &["flagged for", "cyber_policy", "bio_policy", "invalid prompt", "invalid_prompt", "safety reasons"],
    ),
    (Cause::ContextFull, &["context window", "context length", "context_length_exceeded"]),
    (
        Cause::UsageLimit,
        &[
            "usage limit",
            "rate limit",
            "too many requests",
            "quota",
            "out of credits",
            "spend cap",
            "with your chatgpt plan",
            "usage_limit_reached",
            "usage_not_included",
        ],
    ),
    (
        Cause::Auth,
        &[
            "unauthorized",
            "not logged in",
            "not signed in",
            "please log in",
            "sign in",
            "incorrect api key",
            "invalid_api_key",
            "missing environment variable",
        ],
    ),
    (Cause::Capacity, &["at capacity", "overloaded", "server_is_overloaded", "high demand"]),
    (Cause::NoThread, &["no rollout found", "no saved session found"]),
    (Cause::ThreadBusy, &["already has an active writer"]),
    (
        Cause::Config,
        &[
            "error loading config",
            "error loading configuration",
            "error loading config.toml",
            "required mcp servers failed to initialize",
            "model provider",
            "config profile",
        ],
    ),
];

/// The words of a connection that failed.
const TRANSPORT: &[&str] =
    &["stream disconnected", "reconnecting", "connection", "network", "timed out", "error sending request"];

/// What Codex prints before an HTTP status.
const BEFORE_STATUS: [&str; 4] = ["unexpected status ", "last status: ", "http ", "http error: "];

/// Returns the HTTP status that `message`, in lower case, tells in one of the forms of Codex.
fn http_status(message: &str) -> Option<u16> {
    BEFORE_STATUS.iter().find_map(|before| {
        message.match_indices(before).find_map(|(at, _)| {
            let rest = &message[at + before.len()..];
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 3 { rest[..3].parse().ok() } else { None }
        })
    })
}

fn of_status(status: u16) -> Option<Cause> {
    match status {
        401 => Some(Cause::Auth),
        402 | 429 => Some(Cause::UsageLimit),
        503 | 529 => Some(Cause::Capacity),
        502 | 504 => Some(Cause::Transport),
        _ => None,
    }
}

/// `message` without its URLs, whose parts can be any word or number.
fn without_urls(message: &str) -> String {
    message.split_inclusive(char::is_whitespace).filter(|word| !word.contains("://")).collect()
}

/// Whether `line` is of Codex's log: "2026-01-31T09:05:00.123456Z ERROR codex_core::session: ...".
fn is_logged(line: &str) -> bool {
    let mut bytes = line.bytes();
    b"0000-00-00T".iter().all(|&form| {
        bytes.next().is_some_and(|byte| if form == b'0' { byte.is_ascii_digit() } else { byte == form })
    })
}

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
            ("Incorrect API key provided", Cause::Auth),
            ("Not logged in", Cause::Auth),
            ("Not signed in", Cause::Auth),
            ("Please log in again", Cause::Auth),
            ("Missing environment variable: `X`.", Cause::Auth),
            ("Quota exceeded. Check your plan and billing details.", Cause::UsageLimit),
            ("Your workspace is out of credits.", Cause::UsageLimit),
            ("You hit your spend cap set by the owner of your workspace.", Cause::UsageLimit),
            ("To use Codex with your ChatGPT plan, upgrade to Plus: https://x/plus.", Cause::UsageLimit),
            ("unexpected status 402 Payment Required: Payment required, url: http://h/v1", Cause::UsageLimit),
            ("You’ve hit your usage limit. Upgrade to Pro", Cause::UsageLimit),
            ("You've hit your usage limit", Cause::UsageLimit),
            ("exceeded retry limit, last status: 429 Too Many Requests", Cause::UsageLimit),
            ("rate limit exceeded: slow", Cause::UsageLimit),
            ("Selected model is at capacity. Please try a different model.", Cause::Capacity),
            ("unexpected status 503 Service Unavailable: busy, url: http://h/v1", Cause::Capacity),
            ("unexpected status 529 <unknown status code>: Busy, url: http://h/v1", Cause::Capacity),
            ("stream disconnected before completion: Our servers are currently overloaded.", Cause::Capacity),
            ("We’re currently experiencing high demand, which may cause temporary errors.", Cause::Capacity),
            ("This request has been flagged for possible cybersecurity risk.", Cause::Policy),
            ("Invalid prompt: we've limited access to this content for safety reasons.", Cause::Policy),
            ("{\"error\":{\"code\":\"context_length_exceeded\"}}", Cause::ContextFull),
            ("Codex ran out of room in the model's context window. Start a new thread", Cause::ContextFull),
            ("stream disconnected before completion: stream closed", Cause::Transport),
            ("unexpected status 502 Bad Gateway: x", Cause::Transport),
            ("Reconnecting... waiting for network", Cause::Transport),
        ] {
            assert_eq!(Cause::named_in(message), Some(cause), "{message}");
        }
    }

    #[test]
    fn parts_of_words_numbers_and_urls_name_nothing() {
        for message in [
            "x",
            "",
            "design in progress",
            "port 14010",
            "4017 files",
            "reconnectings",
            "Invalid 'input[429].id': string too long",
            "unexpected status 400 Bad Request: bad, url: http://x/:503",
            "unexpected status 400 Bad Request: unknown parameter 'network', url: http://sign.in/429",
            "the tool was called with 401",
            "exited with status 503",
            "unexpected status 4010",
        ] {
            assert_eq!(Cause::named_in(message), None, "{message}");
        }
    }

    #[test]
    fn stderr_names_a_cause_by_the_reason_that_codex_gave() {
        let background = "2026-12-01T10:21:43.875810Z ERROR codex_core::plugins: http 401 Unauthorized\n";
        for (text, cause) in [
            ("Error loading config.toml:\n/c/config.toml:1:5: extra `=`\n", Some(Cause::Config)),
            ("Error: Model provider `nope` not found\n\nStack backtrace:\n", Some(Cause::Config)),
            (
                "Error: thread/start failed: required MCP servers failed to initialize: need: connection closed",
                Some(Cause::Config),
            ),
            (
                "Error: thread/resume failed: no rollout found for thread id X (code -32600)",
                Some(Cause::NoThread),
            ),
            ("Error: thread/resume failed: thread X already has an active writer", Some(Cause::ThreadBusy)),
            ("context window\nError: something else\n", None),
            ("Please log in again", Some(Cause::Auth)),
            ("", None),
        ] {
            assert_eq!(Cause::named_on_stderr(text), cause, "{text}");
            assert_eq!(Cause::named_on_stderr(&format!("{background}{text}")), cause, "{text}");
        }
    }
}
