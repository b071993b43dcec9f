//! A run in the ledger, and the sum of runs.

use crate::account::Subagents;
use common::flow::usage::Counts;

/// What the totals of a stream begin at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The beginning of the thread: Codex 0.79 and later.
    Thread,
    /// The beginning of the process: Codex 0.77 and earlier.
    Process,
}

/// How the basis of a run is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// The stream has fields that only a Codex writes whose totals begin at the thread.
    Stream,
    /// An option says it.
    Option,
    /// It is not known; [`Basis::Thread`] is assumed.
    Assumed,
}

/// What was subtracted from a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// The last total of the same thread before the run.
    PreviousRun,
    /// The total of the thread that this one was forked from.
    Parent,
    /// Nothing, at the first run given of a thread: earlier history may be included.
    AssumedZero,
}

/// Whether the usage of a run is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageStatus {
    /// It is known.
    Known,
    /// The usage of its own thread is known; its sub-agents used more.
    Incomplete,
    /// It is not known.
    Unknown,
    /// The total went backwards.
    Reset,
}

/// Why a run has no usage, where the stream shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remark {
    /// This field went backwards from the first to the second number.
    Backwards(&'static str, u64, u64),
    /// A turn completed, and the total did not change.
    Unchanged,
    /// The total of the parent is not known.
    NoParent,
    /// A run between it and the last total counts by process and has no usage, so its baseline is not known.
    NoBaseline,
    /// It ended in the middle of a turn, and the tokens of that turn may be in no total.
    CutShort,
}

/// A run and its usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The index of its thread in [`crate::ledger::Ledger::threads`].
    pub thread: usize,
    /// Its number on its thread, from 1.
    pub number: u64,
    /// What its total begins at.
    pub basis: Basis,
    /// How the basis is known.
    pub evidence: Evidence,
    /// Whether its usage is known.
    pub status: UsageStatus,
    /// What was subtracted from its total; `None` when nothing was.
    pub baseline: Option<Baseline>,
    /// What it used.
    pub usage: Option<Counts>,
    /// The total of its thread at its end.
    pub cumulative: Option<Counts>,
    /// The sub-agents that the runs in `covers` called, or this run when that is empty. Their tokens are not in `usage`.
    pub subagents: Subagents,
    /// The numbers of the runs that `usage` includes: this one, and those before it whose own usage is not known.
    pub covers: Vec<u64>,
    /// The numbers of earlier runs that were cut short; `usage` may include a part of theirs.
    pub may_include: Vec<u64>,
    /// Why there is no usage, where that is known.
    pub remark: Option<Remark>,
}

/// What all runs of a thread used, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many runs there are.
    pub runs: u64,
    /// How many of them have the status [`UsageStatus::Unknown`].
    pub unknown: u64,
    /// How many of them have the status [`UsageStatus::Reset`].
    pub reset: u64,
    /// How many of them have the status [`UsageStatus::Incomplete`].
    pub incomplete: u64,
    /// The usage of the known and incomplete runs; `None` when there are none.
    pub usage: Option<Counts>,
    /// The baseline of the first of these on a thread.
    pub baseline: Option<Baseline>,
}

impl Sum {
    /// Adds a run.
    pub fn add(&mut self, run: &Run) {
        match run.status {
            UsageStatus::Known => {}
            UsageStatus::Incomplete => self.incomplete += 1,
            UsageStatus::Unknown => self.unknown += 1,
            UsageStatus::Reset => self.reset += 1,
        }
        self.usage = plus(self.usage.take(), run.usage.as_ref());
        self.baseline = self.baseline.or(run.baseline);
    }

    /// The sum of this and the sum of another thread.
    pub fn plus(self, other: &Sum) -> Sum {
        Sum {
            runs: self.runs + other.runs,
            unknown: self.unknown + other.unknown,
            reset: self.reset + other.reset,
            incomplete: self.incomplete + other.incomplete,
            usage: plus(self.usage, other.usage.as_ref()),
            baseline: None,
        }
    }
}

/// The sum of two usages, each of which may be missing.
pub fn plus(sum: Option<Counts>, more: Option<&Counts>) -> Option<Counts> {
    match (sum, more) {
        (Some(sum), Some(more)) => Some(sum.plus(more)),
        (sum, more) => sum.or(more.cloned()),
    }
}
