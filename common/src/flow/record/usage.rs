//! The records of `usage-diff`.

use super::super::usage::{Baseline, Basis, Counts, Run, Status, Sum};
use serde_json::json;
use std::fmt::Write;

/// What a run used, as a line with its LF. `run` is `None` for a file that tells of no run, or of one that was told
/// before.
pub fn run(file: &str, thread_id: Option<&str>, basis: Basis, run: Option<&Run>) -> String {
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

#[cfg(test)]
mod tests {
    use super::super::super::usage::{Ledger, Said};
    use super::*;

    #[test]
    fn records_have_their_keys_in_order() {
        let mut ledger = Ledger::new(Basis::Thread, None);
        let said = Said { thread: Some("t\"1".into()), ..Said::default() };
        let run = ledger.enter(&said);
        assert_eq!(
            super::run("a\tb", said.thread.as_deref(), Basis::Thread, Some(&run)),
            "{\"type\":\"usage.run\",\"file\":\"a\\tb\",\"thread_id\":\"t\\\"1\",\"run\":1,\"basis\":\"thread\",\
             \"baseline\":null,\"usage\":null,\"cumulative\":null,\"status\":\"unknown\",\"covers_runs\":[]}\n"
        );
        assert_eq!(
            super::run("f", None, Basis::Process, None),
            "{\"type\":\"usage.run\",\"file\":\"f\",\"thread_id\":null,\"run\":null,\"basis\":\"process\",\
             \"baseline\":null,\"usage\":null,\"cumulative\":null,\"status\":\"unknown\",\"covers_runs\":[]}\n"
        );
        let (id, sum) = ledger.threads().next().expect("a thread");
        assert_eq!(
            super::thread(id, sum),
            "{\"type\":\"usage.thread\",\"thread_id\":\"t\\\"1\",\"baseline\":null,\"runs\":1,\"unknown_runs\":1,\
             \"reset_runs\":0,\"usage\":null}\n"
        );
        assert_eq!(
            super::total(2, 1, &ledger.total()),
            "{\"type\":\"usage.total\",\"files\":2,\"threads\":1,\"runs\":1,\"unknown_runs\":1,\"reset_runs\":0,\
             \"usage\":null}\n"
        );
    }
}
