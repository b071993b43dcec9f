//! What we print as JSON: every output key of every filter, and nothing that decides.

use super::sentinel::{Reason, Sentinel};
use serde_json::json;
use std::time::SystemTime;

/// A sentinel as a line with its LF. The order of its keys is part of the promise, so it is written as text; it
/// holds numbers and words of closed lists only.
pub fn sentinel(sentinel: &Sentinel) -> String {
    match *sentinel {
        Sentinel::Completed { elapsed_seconds, output_tokens, lingered } => {
            let tokens = output_tokens.map_or(String::new(), |n| format!(r#","output_tokens":{n}"#));
            let lingered = if lingered { r#","lingered":true"# } else { "" };
            format!(
                "{{\"type\":\"handoff.completed\",\"elapsed_seconds\":{elapsed_seconds}{tokens}{lingered}}}\n"
            )
        }
        Sentinel::Failed { reason, elapsed_seconds, cause } => {
            let reason = match reason {
                Reason::Timeout => r#""timeout""#.to_owned(),
                Reason::Error { rc } => format!(r#""error","rc":{rc}"#),
                Reason::Cancelled => r#""cancelled""#.to_owned(),
            };
            let cause = cause.map_or(String::new(), |cause| format!(r#","cause":"{}""#, cause.word()));
            format!(
                "{{\"type\":\"handoff.failed\",\"reason\":{reason},\"elapsed_seconds\":{elapsed_seconds}{cause}}}\n"
            )
        }
    }
}

/// What a launch would run: the argument vector with the program first, the working directory that Codex is told,
/// and the names of the variables it would not see. One line with its LF.
pub fn dry_run(argv: &[String], directory: &str, removed_variables: &[String]) -> String {
    format!(
        "{{\"argv\":{},\"directory\":{},\"removed_variables\":{}}}\n",
        json!(argv),
        json!(directory),
        json!(removed_variables)
    )
}

/// When a line was read, as the first key of its object, without the comma. UTC in milliseconds.
///
/// The calendar is humantime's: one function without dependencies prints exactly this form (2.4.0); jiff and time
/// bring zones and formats that nobody asks for here.
pub fn stamp(at: SystemTime) -> String {
    format!(r#""at":"{}""#, humantime::format_rfc3339_millis(at))
}

#[cfg(test)]
mod tests {
    use super::super::cause::Cause;
    use super::*;
    use std::time::Duration;

    #[test]
    fn sentinels_have_their_keys_in_order() {
        let completed_as = |output_tokens, lingered| {
            sentinel(&Sentinel::Completed { elapsed_seconds: 7, output_tokens, lingered })
        };
        let completed = |output_tokens| completed_as(output_tokens, false);
        assert_eq!(
            completed_as(Some(20), true),
            "{\"type\":\"handoff.completed\",\"elapsed_seconds\":7,\"output_tokens\":20,\"lingered\":true}\n"
        );
        let failed = |reason, cause| sentinel(&Sentinel::Failed { reason, elapsed_seconds: 3, cause });
        assert_eq!(
            completed(Some(20)),
            "{\"type\":\"handoff.completed\",\"elapsed_seconds\":7,\"output_tokens\":20}\n"
        );
        assert_eq!(completed(None), "{\"type\":\"handoff.completed\",\"elapsed_seconds\":7}\n");
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

    #[test]
    fn a_stamp_is_utc_in_milliseconds() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_micros(1_769_850_300_123_987);
        assert_eq!(stamp(at), r#""at":"2026-01-31T09:05:00.123Z""#);
    }

    #[test]
    fn a_dry_run_is_one_object() {
        assert_eq!(
            dry_run(&["codex".into(), "a\"b".into()], "/d", &["OPENAI_API_KEY".into()]),
            "{\"argv\":[\"codex\",\"a\\\"b\"],\"directory\":\"/d\",\"removed_variables\":[\"OPENAI_API_KEY\"]}\n"
        );
    }
}
