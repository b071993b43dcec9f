//! A table for people: the runs of a thread together, under it what they used in all.

use crate::count::Entry;
use crate::words;
use common::face::safe;
use common::flow::usage::{Basis, Counts, Ledger, Run, Status, Sum, TOTAL};

/// The columns of numbers: their fields and heads.
const COLUMNS: [(&str, &str); 5] = [
    ("input_tokens", "input"),
    ("cached_input_tokens", "cached"),
    ("output_tokens", "output"),
    ("reasoning_output_tokens", "reasoning"),
    (TOTAL, "total"),
];

/// The cells of a line: what it is, and a cell for each column.
type Cells = (String, [String; COLUMNS.len()]);

/// The lines of a table as they come.
#[derive(Debug, Default)]
pub struct Table {
    /// The lines of each thread, in the ledger's order.
    threads: Vec<Vec<Line>>,
    /// The files that tell of no run.
    others: Vec<String>,
    /// Whether a number is a difference to the run above it.
    has_differences: bool,
}

/// A run.
#[derive(Debug)]
struct Line {
    cells: Cells,
    /// What stands behind the numbers.
    rest: String,
}

impl Table {
    /// Takes a file.
    pub fn run(&mut self, entry: &Entry<'_>) {
        let file = safe::line(entry.file);
        let Some(run) = entry.run else {
            self.others.push(file.into_owned());
            return;
        };
        self.has_differences |= run.basis == Basis::Thread;
        let mut cells = numbers(run.usage.as_ref());
        if let [.., total] = &mut cells
            && run.usage.is_none()
        {
            *total = if run.status == Status::Reset { "reset" } else { "unknown" }.to_owned();
        }
        let notes = notes(run);
        let rest = if notes.is_empty() { file.into_owned() } else { format!("{file}  ({notes})") };
        if self.threads.len() <= run.thread {
            self.threads.resize_with(run.thread + 1, Vec::new);
        }
        self.threads[run.thread].push(Line { cells: (run.number.to_string(), cells), rest });
    }

    /// The whole table.
    pub fn text(&self, ledger: &Ledger) -> String {
        let total = ledger.total();
        let head: Cells = ("run".to_owned(), COLUMNS.map(|(_, head)| head.to_owned()));
        let foot: Cells = ("all".to_owned(), numbers(total.usage.as_ref()));
        let lines = self.threads.iter().flatten().map(|line| &line.cells);
        let widths = widths(lines.chain([&head, &foot]));
        let mut text = String::new();
        for ((id, sum), lines) in ledger.threads().zip(&self.threads) {
            text += &format!("thread {}\n", id.map_or("not named".into(), safe::line));
            text += &line(&widths, &head, "file");
            for Line { cells, rest } in lines {
                text += &line(&widths, cells, rest);
            }
            text += &line(&widths, &("sum".to_owned(), numbers(sum.usage.as_ref())), &left_out(sum));
            text += "\n";
        }
        text += &line(&widths, &foot, &left_out(&total));
        for file in &self.others {
            text += &format!("not counted: {file}\n");
        }
        if self.has_differences {
            text += "Each number is the difference to the run above it: what a file used that is not given is part of the next one.\n";
        }
        text
    }
}

/// The cells of the numbers.
fn numbers(counts: Option<&Counts>) -> [String; COLUMNS.len()] {
    COLUMNS.map(|(field, _)| counts.and_then(|counts| counts.get(field)).map_or("-".to_owned(), grouped))
}

/// A number with its thousands apart.
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

fn widths<'a>(lines: impl Iterator<Item = &'a Cells>) -> (usize, [usize; COLUMNS.len()]) {
    lines.fold((0, [0; COLUMNS.len()]), |(first, mut widths), (name, cells)| {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = cell.len().max(*width);
        }
        (name.len().max(first), widths)
    })
}

fn line((first, widths): &(usize, [usize; COLUMNS.len()]), (name, cells): &Cells, rest: &str) -> String {
    let cells: String = cells.iter().zip(widths).map(|(cell, width)| format!("  {cell:>width$}")).collect();
    let line = format!("  {name:>first$}{cells}  {rest}");
    format!("{}\n", line.trim_end())
}

/// What is to be known about a run beside its numbers.
fn notes(run: &Run) -> String {
    let mut notes = Vec::new();
    notes.extend(run.baseline.and_then(words::of_baseline).map(str::to_owned));
    notes.extend(words::of_covers(&run.covers));
    notes.extend(words::of_may_include(&run.may_include));
    notes.extend(words::of_subagents(run.subagents));
    match run.remark {
        Some(remark) => notes.push(words::of_remark(remark)),
        None if run.status == Status::Unknown => {
            notes.push("no usage: it failed, was killed, or was sent none".to_owned())
        }
        None => {}
    }
    notes.join("; ")
}

/// What is not in a sum.
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
    fn thousands_stand_apart() {
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
