//! What we print as JSON: every output key of every filter, and nothing that decides.

pub mod watcher;

use super::sentinel::{Reason, Sentinel};
use super::usage::{Baseline, Basis, Counts, Run, Status, Sum};
use serde_json::json;
use std::fmt::Write;
use std::time::SystemTime;

/// A sentinel as a line with its LF. The order of its keys is part of the promise, so it is written as text; it
/// holds numbers and words of closed lists only.
pub fn sentinel(sentinel: &Sentinel) -> String {
    match *sentinel {
        Sentinel::Completed { elapsed_seconds, output_tokens } => {
            let tokens = output_tokens.map_or(String::new(), |n| format!(r#","output_tokens":{n}"#));
            format!("{{\"type\":\"handoff.completed\",\"elapsed_seconds\":{elapsed_seconds}{tokens}}}\n")
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

/// What a run used, as a line with its LF. `run` is `None` for a file that tells of no run, or of one that was told
/// before.
pub fn usage_run(file: &str, thread_id: Option<&str>, basis: Basis, run: Option<&Run>) -> String {
    let basis = match basis {
        Basis::Thread => "thread",
        Basis::Process => "process",
    };
    let status = match run.map_or(Status::Unknown, |run| run.status) {
        Status::Known => "known",
        Status::Unknown => "unknown",
        Status::Reset => "reset",
    };
    let counts = |which: fn(&Run) -> &Option<Counts>| counts(run.and_then(|run| which(run).as_ref()));
    format!(
        "{{\"type\":\"usage.run\",\"file\":{},\"thread_id\":{},\"run\":{},\"basis\":\"{basis}\",\"baseline\":{},\
         \"usage\":{},\"cumulative\":{},\"status\":\"{status}\",\"covers_runs\":{}}}\n",
        json!(file),
        json!(thread_id),
        json!(run.map(|run| run.number)),
        baseline(run.and_then(|run| run.baseline)),
        counts(|run| &run.usage),
        counts(|run| &run.cumulative),
        json!(run.map_or(&[][..], |run| &run.covers)),
    )
}

/// What the runs of a thread used, as a line with its LF.
pub fn usage_thread(thread_id: Option<&str>, sum: &Sum) -> String {
    format!(
        "{{\"type\":\"usage.thread\",\"thread_id\":{},\"baseline\":{},{}}}\n",
        json!(thread_id),
        baseline(sum.baseline),
        sums(sum)
    )
}

/// What the runs of all threads used, as a line with its LF.
pub fn usage_total(files: u64, threads: usize, sum: &Sum) -> String {
    format!("{{\"type\":\"usage.total\",\"files\":{files},\"threads\":{threads},{}}}\n", sums(sum))
}

fn sums(sum: &Sum) -> String {
    format!(
        "\"runs\":{},\"unknown_runs\":{},\"reset_runs\":{},\"usage\":{}",
        sum.runs,
        sum.unknown,
        sum.reset,
        counts(sum.usage.as_ref())
    )
}

fn baseline(baseline: Option<Baseline>) -> &'static str {
    match baseline {
        Some(Baseline::PreviousRun) => r#""previous-run""#,
        Some(Baseline::Parent) => r#""parent""#,
        Some(Baseline::AssumedZero) => r#""assumed-zero""#,
        None => "null",
    }
}

/// Counts as an object whose keys are in the order in which they are shown.
fn counts(counts: Option<&Counts>) -> String {
    let Some(counts) = counts else { return "null".to_owned() };
    let mut object = String::from("{");
    for (name, value) in counts.shown() {
        let comma = if object.len() > 1 { "," } else { "" };
        // A String takes all that is written to it.
        let _ = write!(object, "{comma}{}:{}", json!(name), json!(value));
    }
    object + "}"
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
    use super::super::usage::{Ledger, Said};
    use super::*;
    use std::time::Duration;

    #[test]
    fn sentinels_have_their_keys_in_order() {
        let completed = |output_tokens| sentinel(&Sentinel::Completed { elapsed_seconds: 7, output_tokens });
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

    #[test]
    fn usage_records_have_their_keys_in_order() {
        let mut ledger = Ledger::new(Basis::Thread, None);
        let said = Said { thread: Some("t\"1".into()), ..Said::default() };
        let run = ledger.enter(&said);
        assert_eq!(
            usage_run("a\tb", said.thread.as_deref(), Basis::Thread, Some(&run)),
            "{\"type\":\"usage.run\",\"file\":\"a\\tb\",\"thread_id\":\"t\\\"1\",\"run\":1,\"basis\":\"thread\",\
             \"baseline\":null,\"usage\":null,\"cumulative\":null,\"status\":\"unknown\",\"covers_runs\":[]}\n"
        );
        assert_eq!(
            usage_run("f", None, Basis::Process, None),
            "{\"type\":\"usage.run\",\"file\":\"f\",\"thread_id\":null,\"run\":null,\"basis\":\"process\",\
             \"baseline\":null,\"usage\":null,\"cumulative\":null,\"status\":\"unknown\",\"covers_runs\":[]}\n"
        );
        let (id, sum) = ledger.threads().next().expect("a thread");
        assert_eq!(
            usage_thread(id, sum),
            "{\"type\":\"usage.thread\",\"thread_id\":\"t\\\"1\",\"baseline\":null,\"runs\":1,\"unknown_runs\":1,\
             \"reset_runs\":0,\"usage\":null}\n"
        );
        assert_eq!(
            usage_total(2, 1, &ledger.total()),
            "{\"type\":\"usage.total\",\"files\":2,\"threads\":1,\"runs\":1,\"unknown_runs\":1,\"reset_runs\":0,\
             \"usage\":null}\n"
        );
    }
}
