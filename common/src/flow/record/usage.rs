//! The records of `usage-diff`.

use super::super::usage::{Baseline, Basis, Counts, Evidence, Run, Status, Subagents, Sum};
use serde_json::json;
use std::fmt::Write;

/// What a run used, as a line with its LF. `run` is `None` for a file that tells of no run, or of one that was told
/// before.
pub fn run(file: &str, thread_id: Option<&str>, run: Option<&Run>) -> String {
    let status = match run.map_or(Status::Unknown, |run| run.status) {
        Status::Known => "known",
        Status::Incomplete => "incomplete",
        Status::Unknown => "unknown",
        Status::Reset => "reset",
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

/// What the runs of a thread used, as a line with its LF.
pub fn thread(thread_id: Option<&str>, sum: &Sum) -> String {
    format!(
        "{{\"type\":\"usage.thread\",\"thread_id\":{},\"baseline\":{},{}}}\n",
        json!(thread_id),
        baseline(sum.baseline),
        sums(sum)
    )
}

/// What the runs of all threads used, as a line with its LF.
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
    for (name, value) in counts.shown() {
        let comma = if object.len() > 1 { "," } else { "" };
        // A String takes all that is written to it.
        let _ = write!(object, "{comma}{}:{}", json!(name), json!(value));
    }
    object + "}"
}

#[cfg(test)]
mod tests {
    use super::super::super::usage::{Ledger, Said};

    #[test]
    fn records_have_their_keys_in_order() {
        let mut ledger = Ledger::new(None);
        let said = Said { thread: Some("t\"1".into()), ..Said::default() };
        let run = ledger.enter(&said, None);
        assert_eq!(
            super::run("a\tb", said.thread.as_deref(), Some(&run)),
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
