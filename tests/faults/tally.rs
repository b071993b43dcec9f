//! What came of many cases.

use std::fmt::Write;

use super::check::{Findings, Wrong};
use super::plan::Kind;

/// How many cases that went wrong are shown.
const SHOWN: usize = 12;

/// The counts of one side.
pub(super) struct Tally {
    rows: Vec<Row>,
    examples: Vec<(u64, Kind, Findings)>,
}

#[derive(Clone, Copy, Default)]
struct Row {
    kind: Option<Kind>,
    cases: u64,
    /// Cases whose fault cannot be had here.
    skipped: u64,
    /// Cases in which something was wrong.
    wrong: u64,
    /// How many cases each thing was wrong in.
    counts: [u64; Wrong::NAMES.len()],
}

impl Tally {
    pub(super) fn new(kinds: &[Kind]) -> Tally {
        let row = |kind: &Kind| Row { kind: Some(*kind), ..Row::default() };
        Tally { rows: kinds.iter().map(row).collect(), examples: vec![] }
    }

    /// Takes a case; without findings where its fault cannot be had here.
    pub(super) fn note(&mut self, kind: Kind, number: u64, findings: Option<Findings>) {
        let row = self.rows.iter_mut().find(|row| row.kind == Some(kind)).expect("a row of the kind");
        let Some(findings) = findings else {
            row.skipped += 1;
            return;
        };
        row.cases += 1;
        if findings.is_empty() {
            return;
        }
        row.wrong += 1;
        for (count, (wrong, _)) in row.counts.iter_mut().zip(Wrong::NAMES) {
            *count += u64::from(findings.iter().any(|(found, _)| *found == wrong));
        }
        self.examples.push((number, kind, findings));
    }

    fn total(&self) -> Row {
        self.rows.iter().fold(Row::default(), |mut total, row| {
            total.cases += row.cases;
            total.skipped += row.skipped;
            total.wrong += row.wrong;
            total.counts.iter_mut().zip(row.counts).for_each(|(total, count)| *total += count);
            total
        })
    }

    pub(super) fn cases(&self) -> u64 {
        self.total().cases
    }

    pub(super) fn skipped(&self) -> u64 {
        self.total().skipped
    }

    pub(super) fn wrong(&self) -> u64 {
        self.total().wrong
    }

    /// Some of the cases in which something was wrong, told in full.
    pub(super) fn examples(&self) -> String {
        let mut text = String::new();
        for (number, kind, findings) in self.examples.iter().take(SHOWN) {
            let _ = writeln!(text, "case {number}, {}:", kind.name());
            for (wrong, why) in findings {
                let _ = writeln!(text, "  {wrong:?}: {}", why.replace('\n', "\n    "));
            }
        }
        text
    }
}

/// The counts of both sides, one kind a line; what cannot be had here is said.
pub(super) fn table(filters: &Tally, shell: &Tally) -> String {
    let mut text = String::new();
    for (side, tally) in [("filters", filters), ("shell", shell)] {
        let _ = write!(text, "\n{side:16} {:>7}", "cases");
        for (_, name) in Wrong::NAMES {
            let _ = write!(text, " {name:>12}");
        }
        for row in tally.rows.iter().copied().chain([tally.total()]) {
            let name = row.kind.map_or("all", Kind::name);
            let _ = write!(text, "\n{name:16} {:>7}", row.cases);
            for count in row.counts {
                let _ = write!(text, " {count:>12}");
            }
            if row.skipped > 0 && row.kind.is_some() {
                let _ = write!(text, "   {} left out: cannot be had here", row.skipped);
            }
        }
        text.push('\n');
    }
    text
}
