//! The runs of one thread: what is subtracted from each total, and which runs a difference covers.

use crate::account::Subagents;
use crate::difference::Difference;
use crate::run::{self, Baseline, Basis, Remark, Run, Sum, UsageStatus};
use common::flow::usage::Counts;
use std::rc::Rc;

/// A thread in the ledger.
#[derive(Debug, Default)]
pub struct Thread {
    /// Its id; `None` for a run without one, which is a thread by itself.
    pub id: Option<Rc<str>>,
    /// The sum of its runs.
    pub sum: Sum,
    /// What is subtracted from the next total; `None` when there is nothing to subtract.
    before: Option<(Baseline, Counts)>,
    /// Whether it is a fork of a parent whose total is not known, and has no total of its own yet.
    is_orphan: bool,
    /// The runs since `before` whose own usage is not known.
    pending: Vec<Pending>,
    /// Whether a run on it counted by process, so that the totals in its streams are not those of the thread.
    has_process: bool,
}

/// A run whose own usage is not known.
#[derive(Debug, Clone, Copy)]
struct Pending {
    number: u64,
    basis: Basis,
    is_cut_short: bool,
    subagents: Subagents,
}

impl Thread {
    /// A thread without runs.
    pub fn new(id: Option<Rc<str>>) -> Thread {
        Thread { id, ..Thread::default() }
    }

    /// A thread without runs that was forked from a parent with this total; `None` when the total is not known.
    pub fn forked(id: Option<Rc<str>>, parent: Option<Counts>) -> Thread {
        let is_orphan = parent.is_none();
        Thread { id, is_orphan, before: parent.map(|total| (Baseline::Parent, total)), ..Thread::default() }
    }

    /// The usage of a run without a total.
    pub fn without_total(&mut self, run: Run, is_cut_short: bool) -> Run {
        self.leave_pending(&run, is_cut_short);
        Run { remark: is_cut_short.then_some(Remark::CutShort), ..run }
    }

    fn leave_pending(&mut self, run: &Run, is_cut_short: bool) {
        let Run { number, basis, subagents, .. } = *run;
        self.pending.push(Pending { number, basis, is_cut_short, subagents });
    }

    /// The usage of a run whose total begins at the thread. Codex continues from the total that the run before it
    /// reported, also from one by process (0.171.0 after 0.77.0). `is_recent` is whether its Codex is 0.125 or later.
    pub fn by_difference(&mut self, run: Run, total: &Counts, is_recent: bool) -> Run {
        let (baseline, difference) = match &self.before {
            None => (Baseline::AssumedZero, Difference::Used(total.clone())),
            Some((baseline, before)) => (*baseline, Difference::between(before, total)),
        };
        let cumulative = (!self.has_process).then(|| total.clone());
        let run = Run { cumulative, ..run };
        let run = match difference {
            // The baseline stays as it is, so that a later difference includes this run.
            Difference::None => {
                self.leave_pending(&run, false);
                return Run { remark: Some(Remark::Unchanged), ..run };
            }
            _ if self.is_orphan => Run { remark: Some(Remark::NoParent), ..run },
            _ if self.pending.iter().any(|run| run.basis == Basis::Process) => {
                Run { remark: Some(Remark::NoBaseline), ..run }
            }
            Difference::Backwards(field, from, to) => {
                Run { status: UsageStatus::Reset, remark: Some(Remark::Backwards(field, from, to)), ..run }
            }
            Difference::Used(usage) => {
                // Of a turn that was cut short, the next total includes the requests whose commands had ended, but not
                // the last request (0.156.1, 0.171.0; reported from 0.135 on). In 0.98.0 it includes all of them.
                let is_covered = |run: &Pending| !run.is_cut_short || !is_recent;
                let (covered, cut): (Vec<Pending>, Vec<Pending>) =
                    self.pending.iter().copied().partition(is_covered);
                let may_include = cut.iter().map(|run| run.number).collect();
                self.with_usage(Run { baseline: Some(baseline), may_include, ..run }, usage, &covered)
            }
        };
        self.continue_from(total);
        run
    }

    /// The usage of a run whose total begins at its process.
    pub fn by_itself(&mut self, run: Run, total: &Counts) -> Run {
        self.has_process = true;
        let run = self.with_usage(run, total.clone(), &[]);
        self.continue_from(total);
        run
    }

    /// A run that used `usage` together with the runs in `covered`.
    fn with_usage(&self, run: Run, usage: Counts, covered: &[Pending]) -> Run {
        let subagents = covered.iter().fold(run.subagents, |all, run| all.plus(run.subagents));
        let is_sum_complete = self.has_process && self.sum.unknown + self.sum.reset == 0;
        let sum = is_sum_complete.then(|| run::plus(self.sum.usage.clone(), Some(&usage))).flatten();
        Run {
            status: if subagents == Subagents::None { UsageStatus::Known } else { UsageStatus::Incomplete },
            cumulative: run.cumulative.or(sum),
            usage: Some(usage),
            subagents,
            covers: covered.iter().map(|run| run.number).chain([run.number]).collect(),
            ..run
        }
    }

    fn continue_from(&mut self, total: &Counts) {
        self.before = Some((Baseline::PreviousRun, total.clone()));
        self.is_orphan = false;
        self.pending.clear();
    }
}
