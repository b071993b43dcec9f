//! The table: the runs of each thread, their sum, and the sum of all.
//!
//! Aligning it takes `widths` and `line`, fifteen lines of code. A crate for tables does not do better (tabled 0.22,
//! comfy-table 8): columns of ASCII digits need none of its Unicode widths, and the file names stand last, where
//! nothing is aligned to them. tabled adds four crates, pads every line to the longest file name, so that each has to be
//! trimmed, and needs a span for each thread's heading; comfy-table has no spans, so the columns of several threads would
//! not share their widths.

use crate::entry::Entry;
use crate::ledger::Ledger;
use crate::messages;
use crate::run::{Basis, Run, Sum, UsageStatus};
use common::face::safe;
use common::flow::usage::{Counts, TOTAL};

/// The columns of numbers: the field and the heading of each.
const COLUMNS: [(&str, &str); 5] = [
    ("input_tokens", "input"),
    ("cached_input_tokens", "cached"),
    ("output_tokens", "output"),
    ("reasoning_output_tokens", "reasoning"),
    (TOTAL, "total"),
];

/// The cells of a row: its label, and a number for each column.
type Cells = (String, [String; COLUMNS.len()]);

/// The rows of the table, collected until all runs are counted.
#[derive(Debug, Default)]
pub struct Table {
    /// The rows of each thread, in the ledger's order.
    threads: Vec<Vec<Row>>,
    /// The files without a run.
    not_counted: Vec<String>,
    /// Whether a number is a difference to the run above it.
    has_differences: bool,
}

/// The row of a run.
#[derive(Debug)]
struct Row {
    cells: Cells,
    /// The file and the notes, behind the numbers.
    file: String,
}

impl Table {
    /// Adds a file.
    pub fn add(&mut self, entry: &Entry<'_>) {
        let file = safe::line(entry.file);
        let Some(run) = entry.run else {
            self.not_counted.push(file.into_owned());
            return;
        };
        self.has_differences |= run.basis == Basis::Thread;
        let mut cells = numbers(run.usage.as_ref());
        if let [.., total] = &mut cells
            && run.usage.is_none()
        {
            *total = if run.status == UsageStatus::Reset { "reset" } else { "unknown" }.to_owned();
        }
        let notes = notes(run);
        let file = if notes.is_empty() { file.into_owned() } else { format!("{file}  ({notes})") };
        if self.threads.len() <= run.thread {
            self.threads.resize_with(run.thread + 1, Vec::new);
        }
        self.threads[run.thread].push(Row { cells: (run.number.to_string(), cells), file });
    }

    /// The whole table.
    pub fn text(&self, ledger: &Ledger) -> String {
        let total = ledger.total();
        let head: Cells = ("run".to_owned(), COLUMNS.map(|(_, head)| head.to_owned()));
        let foot: Cells = ("all".to_owned(), numbers(total.usage.as_ref()));
        let rows = self.threads.iter().flatten().map(|row| &row.cells);
        let widths = widths(rows.chain([&head, &foot]));
        let mut text = String::new();
        for ((id, sum), rows) in ledger.threads().zip(&self.threads) {
            text += &format!("thread {}\n", id.map_or("not named".into(), safe::line));
            text += &line(&widths, &head, "file");
            for Row { cells, file } in rows {
                text += &line(&widths, cells, file);
            }
            text += &line(&widths, &("sum".to_owned(), numbers(sum.usage.as_ref())), &left_out(sum));
            text += "\n";
        }
        text += &line(&widths, &foot, &left_out(&total));
        for file in &self.not_counted {
            text += &format!("not counted: {file}\n");
        }
        if self.has_differences {
            text += "Each number is the difference to the run above it. The tokens of a missing file are part of the next one.\n";
        }
        text
    }
}

/// The numbers as cells.
fn numbers(counts: Option<&Counts>) -> [String; COLUMNS.len()] {
    COLUMNS.map(|(field, _)| counts.and_then(|counts| counts.get(field)).map_or("-".to_owned(), grouped))
}

/// A number with a comma before each group of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The widest label, and the widest number of each column.
fn widths<'a>(rows: impl Iterator<Item = &'a Cells>) -> (usize, [usize; COLUMNS.len()]) {
    rows.fold((0, [0; COLUMNS.len()]), |(first, mut widths), (name, cells)| {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = cell.len().max(*width);
        }
        (name.len().max(first), widths)
    })
}

/// A row as a line, its numbers aligned to the right.
fn line((first, widths): &(usize, [usize; COLUMNS.len()]), (name, cells): &Cells, rest: &str) -> String {
    let cells: String = cells.iter().zip(widths).map(|(cell, width)| format!("  {cell:>width$}")).collect();
    let line = format!("  {name:>first$}{cells}  {rest}");
    format!("{}\n", line.trim_end())
}

/// The notes about a run.
fn notes(run: &Run) -> String {
    let mut notes = Vec::new();
    notes.extend(run.baseline.and_then(messages::of_baseline).map(str::to_owned));
    notes.extend(messages::of_covers(&run.covers));
    notes.extend(messages::of_may_include(&run.may_include));
    notes.extend(messages::of_subagents(run.subagents));
    match run.remark {
        Some(remark) => notes.push(messages::of_remark(remark)),
        None if run.status == UsageStatus::Unknown => {
            notes.push("no usage: it failed, was killed, or was sent none".to_owned())
        }
        None => {}
    }
    notes.join("; ")
}

/// The note about what a sum does not include.
fn left_out(sum: &Sum) -> String {
    let mut all = Vec::new();
    match sum.unknown + sum.reset {
        0 => {}
        1 => all.push("without 1 run that is not known".to_owned()),
        runs => all.push(format!("without {runs} runs that are not known")),
    }
    match sum.incomplete {
        0 => {}
        1 => all.push("without the sub-agents of 1 run".to_owned()),
        runs => all.push(format!("without the sub-agents of {runs} runs")),
    }
    all.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (28_912, "28,912"),
            (123_456_789, "123,456,789"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
