//! What is said about files and runs beyond their numbers.

use crate::count::Entry;
use common::flow::stream::LINE_CAP;
use common::flow::usage::{Baseline, FIELDS_CAP, Ledger, Odd, Remark, Said};

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
pub fn of_run(entry: &Entry<'_>) -> Option<String> {
    let words = of_remark(entry.run?.remark?);
    Some(format!("{}: {words}", entry.file))
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
