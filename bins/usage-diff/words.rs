//! What is said about files and runs beyond their numbers.

use crate::count::Entry;
use common::flow::stream::LINE_CAP;
use common::flow::usage::{Baseline, FIELDS_CAP, Ledger, Odd, Remark, Said, Subagents};

/// What is said of a stream that was read.
pub fn of_file(file: &str, said: &Said) -> Vec<String> {
    let mut all: Vec<String> = said.odd.iter().map(|odd| format!("{file}: usage: {}", of_odd(odd))).collect();
    if said.others > 0 {
        all.push(format!("{file}: lines left out, as they are no JSON objects: {}", said.others));
    }
    if said.after_others {
        all.push(format!("{file}: several threads in it: only the last one is counted"));
    }
    all
}

fn of_odd(odd: &Odd) -> String {
    match odd {
        Odd::Number(name, digits) => {
            format!("{name}: {digits} is not a whole number from 0 to {}: unknown", u64::MAX)
        }
        Odd::TooMany => format!("more than {FIELDS_CAP} fields: the rest is left out"),
        Odd::TooLong => format!("on a line of more than {LINE_CAP} bytes: unknown"),
    }
}

/// What is said of a file without an event.
pub fn of_no_stream(file: &str, said: &Said) -> String {
    match said.others {
        0 => format!("{file}: no event in it"),
        _ => format!("{file}: not JSONL: none of its lines is a JSON object"),
    }
}

/// What is said of a run beside its record; a table says it itself.
pub fn of_run(entry: &Entry<'_>) -> Vec<String> {
    let Some(run) = entry.run else { return Vec::new() };
    let all = run.remark.map(of_remark).into_iter().chain(of_subagents(run.subagents));
    all.map(|words| format!("{}: {words}", entry.file)).collect()
}

/// The runs that a usage covers, where they are several.
pub fn of_covers(covers: &[u64]) -> Option<String> {
    (covers.len() > 1).then(|| format!("{} together", runs(covers)))
}

/// The runs of which a part may be in a usage.
pub fn of_may_include(cut: &[u64]) -> Option<String> {
    (!cut.is_empty()).then(|| format!("may include a part of {}", runs(cut)))
}

/// Numbers of runs in ascending order, at least one.
fn runs(numbers: &[u64]) -> String {
    match numbers {
        [one] => format!("run {one}"),
        [first, .., last] if last - first == numbers.len() as u64 - 1 => format!("runs {first} to {last}"),
        _ => format!("runs {}", numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// What is not counted of other agents.
pub fn of_subagents(subagents: Subagents) -> Option<String> {
    match subagents {
        Subagents::None => None,
        Subagents::Some(1) => Some("1 sub-agent is not counted".to_owned()),
        Subagents::Some(count) => Some(format!("{count} sub-agents are not counted")),
        Subagents::Uncounted => Some("sub-agents are not counted; their number is not known".to_owned()),
    }
}

/// What is said at the end of `files` whose totals were taken for those of a thread without evidence.
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

/// What is said of a file of `--process` whose stream says otherwise.
pub fn of_recent(file: &str) -> String {
    format!("--process {file}: its fields are those of Codex 0.125 or later: its total is the thread's")
}

/// A remark in words.
pub fn of_remark(remark: Remark) -> String {
    match remark {
        Remark::Backwards(field, from, to) => format!(
            "{field} went back from {from} to {to}: a new count, or files that are not oldest first, or --basis process"
        ),
        Remark::Still => {
            "a turn completed and the total did not move: looks like --basis process, or a run given \
                          twice, or no usage sent"
                .to_owned()
        }
        Remark::NoParent => "the total of its parent is not known".to_owned(),
        Remark::NoBaseline => {
            "a run before it counts by process and has no usage: what its total begins at is not known"
                .to_owned()
        }
        Remark::Cut => {
            "no usage: it ended in the middle of a turn, and what that used may be in no total, or in part"
                .to_owned()
        }
    }
}

/// A baseline in words, where it is more than the run before.
pub fn of_baseline(baseline: Baseline) -> Option<&'static str> {
    match baseline {
        Baseline::PreviousRun => None,
        Baseline::Parent => Some("less what the parent had used"),
        Baseline::AssumedZero => Some("the first run given: earlier history may be included"),
    }
}

/// What is said of a field that no run has.
pub fn of_field(name: &str, ledger: &Ledger) -> Option<String> {
    let usage = ledger.total().usage?;
    let known: Vec<&str> = usage.shown().into_iter().map(|(known, _)| known).collect();
    let all = known.join(", ");
    (!known.contains(&name)).then(|| format!("--field {name}: no run has it; try {all}"))
}
