//! How a launcher spells a sentinel.

use super::super::cause::Cause;
use super::{COMPLETED, FAILED};

/// A sentinel that is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sentinel {
    /// The run completed.
    Completed {
        /// Whole seconds since Codex started, rounded down.
        elapsed_seconds: u64,
        /// The thread's total as the last completed turn gave it.
        output_tokens: Option<u64>,
        /// Whether Codex had to be ended because it did not end by itself.
        lingered: bool,
    },
    /// The run failed.
    Failed {
        /// In which of the three ways.
        reason: Reason,
        /// Whole seconds since Codex started, rounded down.
        elapsed_seconds: u64,
        /// The cause, where it is known.
        cause: Option<Cause>,
    },
}

/// The three ways in which a run fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The time limit passed.
    Timeout,
    /// Anything else went wrong.
    Error {
        /// The launcher's exit status.
        rc: u8,
    },
    /// The launcher got a signal.
    Cancelled,
}

impl Sentinel {
    /// The sentinel as a line with its LF. The order of the keys is promised, so it is written as text; its values are
    /// numbers and words of closed lists, which need no escapes.
    pub fn line(&self) -> String {
        match *self {
            Sentinel::Completed { elapsed_seconds, output_tokens, lingered } => {
                let tokens = output_tokens.map_or(String::new(), |n| format!(r#","output_tokens":{n}"#));
                let lingered = if lingered { r#","lingered":true"# } else { "" };
                format!(
                    "{{\"type\":\"{COMPLETED}\",\"elapsed_seconds\":{elapsed_seconds}{tokens}{lingered}}}\n"
                )
            }
            Sentinel::Failed { reason, elapsed_seconds, cause } => {
                let reason = reason.field();
                let cause = cause.map_or(String::new(), |cause| format!(r#","cause":"{}""#, cause.word()));
                format!(
                    "{{\"type\":\"{FAILED}\",\"reason\":{reason},\"elapsed_seconds\":{elapsed_seconds}{cause}}}\n"
                )
            }
        }
    }
}

impl Reason {
    /// The value of `reason`, and `rc` behind it where there is one.
    fn field(self) -> String {
        match self {
            Reason::Timeout => r#""timeout""#.to_owned(),
            Reason::Error { rc } => format!(r#""error","rc":{rc}"#),
            Reason::Cancelled => r#""cancelled""#.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentinels_have_their_keys_in_order() {
        let completed = |output_tokens, lingered| {
            Sentinel::Completed { elapsed_seconds: 7, output_tokens, lingered }.line()
        };
        assert_eq!(
            completed(Some(20), true),
            "{\"type\":\"handoff.completed\",\"elapsed_seconds\":7,\"output_tokens\":20,\"lingered\":true}\n"
        );
        assert_eq!(
            completed(Some(20), false),
            "{\"type\":\"handoff.completed\",\"elapsed_seconds\":7,\"output_tokens\":20}\n"
        );
        assert_eq!(completed(None, false), "{\"type\":\"handoff.completed\",\"elapsed_seconds\":7}\n");
        let failed = |reason, cause| Sentinel::Failed { reason, elapsed_seconds: 3, cause }.line();
        assert_eq!(
            failed(Reason::Timeout, None),
            "{\"type\":\"handoff.failed\",\"reason\":\"timeout\",\"elapsed_seconds\":3}\n"
        );
        assert_eq!(
            failed(Reason::Error { rc: 70 }, Some(Cause::NoResult)),
            "{\"type\":\"handoff.failed\",\"reason\":\"error\",\"rc\":70,\"elapsed_seconds\":3,\"cause\":\"no-result\"}\n"
        );
        assert_eq!(
            failed(Reason::Cancelled, None),
            "{\"type\":\"handoff.failed\",\"reason\":\"cancelled\",\"elapsed_seconds\":3}\n"
        );
    }
}
