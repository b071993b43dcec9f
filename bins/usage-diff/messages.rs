//! Messages about files and runs: lines on stderr, and notes in the table.

use crate::account::{StreamUsage, Subagents};
use crate::entry::Entry;
use crate::ledger::Ledger;
use crate::run::{Baseline, Remark};

/// The messages about a stream that was read.
pub fn of_stream(file: &str, usage: &StreamUsage) -> Vec<String> {
    let mut all: Vec<String> =
        usage.defects.iter().map(|defect| format!("{file}: usage: {defect}")).collect();
    if usage.not_objects > 0 {
        all.push(format!("{file}: lines left out, as they are no JSON objects: {}", usage.not_objects));
    }
    if usage.has_other_threads {
        all.push(format!("{file}: several threads in it: only the last one is counted"));
    }
    all
}

/// The message about a file without an event.
pub fn of_no_stream(file: &str, usage: &StreamUsage) -> String {
    match usage.not_objects {
        0 => format!("{file}: no event in it"),
        _ => format!("{file}: not JSONL: none of its lines is a JSON object"),
    }
}

/// The messages about a run that is printed as a record or as a number. A table has them in its notes.
pub fn of_run(entry: &Entry<'_>) -> Vec<String> {
    let Some(run) = entry.run else { return Vec::new() };
    let all = run.remark.map(of_remark).into_iter().chain(of_subagents(run.subagents));
    all.map(|note| format!("{}: {note}", entry.file)).collect()
}

/// The note about the runs that a usage covers, where they are several.
pub fn of_covers(covers: &[u64]) -> Option<String> {
    (covers.len() > 1).then(|| format!("{} together", runs(covers)))
}

/// The note about runs of which a part may be in a usage.
pub fn of_may_include(cut: &[u64]) -> Option<String> {
    (!cut.is_empty()).then(|| format!("may include a part of {}", runs(cut)))
}

/// Runs by their numbers, which are in ascending order and at least one.
fn runs(numbers: &[u64]) -> String {
    match numbers {
        [one] => format!("run {one}"),
        [first, .., last] if last - first == numbers.len() as u64 - 1 => format!("runs {first} to {last}"),
        _ => format!("runs {}", numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// The note about sub-agents that are not counted.
pub fn of_subagents(subagents: Subagents) -> Option<String> {
    match subagents {
        Subagents::None => None,
        Subagents::Some(1) => Some("1 sub-agent is not counted".to_owned()),
        Subagents::Some(count) => Some(format!("{count} sub-agents are not counted")),
        Subagents::Uncounted => Some("sub-agents are not counted; their number is not known".to_owned()),
    }
}

/// The message at the end about the number of files whose basis is assumed.
pub fn of_assumed(files: u64) -> Option<String> {
    let which = match files {
        0 => return None,
        1 => "1 file does".to_owned(),
        files => format!("{files} files do"),
    };
    Some(format!(
        "{which} not show what totals begin at: taken for the thread, as Codex 0.79 to 0.124 count; \
         for 0.77 and earlier use --basis process"
    ))
}

/// The message about a file of `--process` whose stream shows that its total begins at the thread.
pub fn of_needless_process(file: &str) -> String {
    format!("--process {file}: its fields are those of Codex 0.125 or later: its total is the thread's")
}

/// The text of a remark.
pub fn of_remark(remark: Remark) -> String {
    match remark {
        Remark::Backwards(field, from, to) => format!(
            "{field} went back from {from} to {to}: a new count, or files that are not oldest first, or --basis process"
        ),
        Remark::Unchanged => {
            "a turn completed and the total did not move: looks like --basis process, or a run given \
                          twice, or no usage sent"
                .to_owned()
        }
        Remark::NoParent => "the total of its parent is not known".to_owned(),
        Remark::NoBaseline => {
            "a run before it counts by process and has no usage: what its total begins at is not known"
                .to_owned()
        }
        Remark::CutShort => {
            "no usage: it ended in the middle of a turn, and what that used may be in no total, or in part"
                .to_owned()
        }
    }
}

/// The note about a baseline that is not the run before.
pub fn of_baseline(baseline: Baseline) -> Option<&'static str> {
    match baseline {
        Baseline::PreviousRun => None,
        Baseline::Parent => Some("less what the parent had used"),
        Baseline::AssumedZero => Some("the first run given: earlier history may be included"),
    }
}

/// The message about a field that no run has.
pub fn of_field(name: &str, ledger: &Ledger) -> Option<String> {
    let usage = ledger.total().usage?;
    let names: Vec<&str> = usage.fields().into_iter().map(|(name, _)| name).collect();
    (!names.contains(&name)).then(|| format!("--field {name}: no run has it; try {}", names.join(", ")))
}
