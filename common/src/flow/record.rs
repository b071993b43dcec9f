//! What we print as JSON: every output key of every filter, and nothing that decides.

use serde_json::json;
use std::time::SystemTime;

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
    use super::*;
    use std::time::Duration;

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
