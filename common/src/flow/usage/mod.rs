//! The usage of a turn: how many tokens Codex reports, by the name of each field.
//!
//! Codex reports the total of a thread so far (0.79 and later) or of one process (0.77 and earlier). A number that is not
//! known is `None`, never 0.

mod counts;

use super::event;
use super::number;
use super::stream::{LINE_CAP, Line};
pub use counts::{Counts, FIELDS_CAP, INPUT, OUTPUT, TOTAL};
use std::fmt;

/// How many digits of a number that cannot be counted are kept.
const DIGITS_CAP: usize = 40;

/// A part of a usage that cannot be counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsageDefect {
    /// The field with this name has a number that is not a whole one from 0 to 2^64 - 1. Its first 40 digits are kept.
    Number(String, String),
    /// There are more than [`FIELDS_CAP`] fields; the rest is left out.
    TooManyFields,
    /// The line is longer than [`LINE_CAP`].
    LineTooLong,
}

impl fmt::Display for UsageDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UsageDefect::Number(name, digits) => {
                write!(f, "{name}: {digits} is not a whole number from 0 to {}: unknown", u64::MAX)
            }
            UsageDefect::TooManyFields => write!(f, "more than {FIELDS_CAP} fields: the rest is left out"),
            UsageDefect::LineTooLong => write!(f, "on a line of more than {LINE_CAP} bytes: unknown"),
        }
    }
}

/// Reads the usage on `line`, the event of a completed turn: its numbers, and what in it cannot be counted.
pub fn usage_of(line: Line<'_>) -> (Counts, Vec<UsageDefect>) {
    let (mut counts, mut defects) = (Counts::default(), Vec::new());
    match line.text() {
        Some(text) => event::usage_numbers(text, |name, digits| set(&mut counts, &mut defects, name, digits)),
        None => defects.push(UsageDefect::LineTooLong),
    }
    (counts, defects)
}

fn set(counts: &mut Counts, defects: &mut Vec<UsageDefect>, name: &str, digits: &str) {
    // The total is computed here. Should Codex ever report one, it is not a second one.
    if name == TOTAL {
        return;
    }
    let value = number::whole(digits);
    if !counts.set(name, value) {
        if !defects.contains(&UsageDefect::TooManyFields) {
            defects.push(UsageDefect::TooManyFields);
        }
        return;
    }
    // Of a key that is there twice the last value counts.
    defects.retain(|defect| !matches!(defect, UsageDefect::Number(other, _) if other == name));
    if value.is_none() {
        defects.push(UsageDefect::Number(name.to_owned(), digits.chars().take(DIGITS_CAP).collect()));
    }
}
