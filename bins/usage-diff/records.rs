//! The records, as lines of JSON with the LF.

use crate::account::Subagents;
use crate::run::{Baseline, Basis, Evidence, Run, Sum, UsageStatus};
use common::flow::usage::Counts;
use serde_json::json;
use std::fmt::Write;

/// The record of a file. `run` is `None` for a file that has no run in it, or was counted before.
pub fn run(file: &str, thread_id: Option<&str>, run: Option<&Run>) -> String {
    let status = match run.map_or(UsageStatus::Unknown, |run| run.status) {
        UsageStatus::Known => "known",
        UsageStatus::Incomplete => "incomplete",
        UsageStatus::Unknown => "unknown",
        UsageStatus::Reset => "reset",
    };
    let counts = |which: fn(&Run) -> &Option<Counts>| counts(run.and_then(|run| which(run).as_ref()));
    format!(
        "{{\"type\":\"usage.run\",\"file\":{},\"thread_id\":{},\"run\":{},\"basis\":{},\"basis_from\":{},\
         \"baseline\":{},\"usage\":{},\"cumulative\":{},\"status\":\"{status}\",\"covers_runs\":{},\
         \"may_include_runs\":{},\"subagents\":{}}}\n",
        json!(file),
        json!(thread_id),
        json!(run.map(|run| run.number)),
        json!(run.map(|run| match run.basis {
            Basis::Thread => "thread",
            Basis::Process => "process",
        })),
        json!(run.map(|run| match run.evidence {
            Evidence::Stream => "stream",
            Evidence::Option => "option",
            Evidence::Assumed => "assumed",
        })),
        baseline(run.and_then(|run| run.baseline)),
        counts(|run| &run.usage),
        counts(|run| &run.cumulative),
        json!(run.map_or(&[][..], |run| &run.covers)),
        json!(run.map_or(&[][..], |run| &run.may_include)),
        json!(run.and_then(|run| match run.subagents {
            Subagents::None => Some(0),
            Subagents::Some(count) => Some(count),
            Subagents::Uncounted => None,
        })),
    )
}

/// The record of a thread.
pub fn thread(thread_id: Option<&str>, sum: &Sum) -> String {
    format!(
        "{{\"type\":\"usage.thread\",\"thread_id\":{},\"baseline\":{},{}}}\n",
        json!(thread_id),
        baseline(sum.baseline),
        sums(sum)
    )
}

/// The record of all threads.
pub fn total(files: u64, threads: usize, sum: &Sum) -> String {
    format!("{{\"type\":\"usage.total\",\"files\":{files},\"threads\":{threads},{}}}\n", sums(sum))
}

fn sums(sum: &Sum) -> String {
    format!(
        "\"runs\":{},\"unknown_runs\":{},\"reset_runs\":{},\"incomplete_runs\":{},\"usage\":{}",
        sum.runs,
        sum.unknown,
        sum.reset,
        sum.incomplete,
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
    for (name, value) in counts.fields() {
        let comma = if object.len() > 1 { "," } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(object, "{comma}{}:{}", json!(name), json!(value));
    }
    object + "}"
}

#[cfg(test)]
mod tests {
    use crate::account::StreamUsage;
    use crate::ledger::Ledger;

    #[test]
    fn records_have_their_keys_in_order() {
        let mut ledger = Ledger::new(None);
        let usage = StreamUsage { thread_id: Some("t\"1".into()), ..StreamUsage::default() };
        let run = ledger.enter(&usage, None);
        assert_eq!(
            super::run("a\tb", usage.thread_id.as_deref(), Some(&run)),
            "{\"type\":\"usage.run\",\"file\":\"a\\tb\",\"thread_id\":\"t\\\"1\",\"run\":1,\"basis\":\"thread\",\
             \"basis_from\":\"assumed\",\"baseline\":null,\"usage\":null,\"cumulative\":null,\"status\":\"unknown\",\"covers_runs\":[],\"may_include_runs\":[],\"subagents\":0}\n"
        );
        assert_eq!(
            super::run("f", None, None),
            "{\"type\":\"usage.run\",\"file\":\"f\",\"thread_id\":null,\"run\":null,\"basis\":null,\
             \"basis_from\":null,\"baseline\":null,\"usage\":null,\"cumulative\":null,\"status\":\"unknown\",\"covers_runs\":[],\"may_include_runs\":[],\"subagents\":null}\n"
        );
        let (id, sum) = ledger.threads().next().expect("a thread");
        assert_eq!(
            super::thread(id, sum),
            "{\"type\":\"usage.thread\",\"thread_id\":\"t\\\"1\",\"baseline\":null,\"runs\":1,\"unknown_runs\":1,\
             \"reset_runs\":0,\"incomplete_runs\":0,\"usage\":null}\n"
        );
        assert_eq!(
            super::total(2, 1, &ledger.total()),
            "{\"type\":\"usage.total\",\"files\":2,\"threads\":1,\"runs\":1,\"unknown_runs\":1,\"reset_runs\":0,\
             \"incomplete_runs\":0,\"usage\":null}\n"
        );
    }
}
