//! The ledger: the runs of all threads in the order in which they are given, and the usage of each.

use crate::account::StreamUsage;
use crate::run::{Basis, Evidence, Run, Sum, UsageStatus};
use crate::thread::Thread;
use common::flow::usage::Counts;
use std::collections::HashMap;
use std::rc::Rc;

/// The fields that Codex writes since 0.125 and since 0.145. A stream with one of them has totals that begin at the thread.
const RECENT_FIELDS: [&str; 2] = ["reasoning_output_tokens", "cache_write_input_tokens"];

/// Computes the usage of each run from what the runs before it reported.
#[derive(Debug)]
pub struct Ledger {
    /// The parent of the first thread that is not the parent's own, until that thread comes.
    parent: Option<StreamUsage>,
    threads: Vec<Thread>,
    /// The index of each thread that has an id.
    indices: HashMap<Rc<str>, usize>,
}

impl Ledger {
    /// An empty ledger. The first thread that is not the one of `parent` was forked from it; runs of the parent's own thread
    /// may be entered, too.
    pub fn new(parent: Option<StreamUsage>) -> Ledger {
        Ledger { parent, threads: Vec::new(), indices: HashMap::new() }
    }

    /// Enters a run. `basis` is what an option says about its total; what the stream shows takes precedence.
    pub fn enter(&mut self, usage: &StreamUsage, basis: Option<Basis>) -> Run {
        let index = self.index_of(usage.thread_id.as_deref());
        let thread = &mut self.threads[index];
        thread.sum.runs += 1;
        let is_recent = usage.total.as_ref().is_some_and(is_recent);
        let (basis, evidence) = match basis {
            _ if is_recent => (Basis::Thread, Evidence::Stream),
            Some(basis) => (basis, Evidence::Option),
            None => (Basis::Thread, Evidence::Assumed),
        };
        let run = Run {
            thread: index,
            number: thread.sum.runs,
            basis,
            evidence,
            status: UsageStatus::Unknown,
            baseline: None,
            usage: None,
            cumulative: None,
            subagents: usage.subagents,
            covers: Vec::new(),
            may_include: Vec::new(),
            remark: None,
        };
        let run = match (&usage.total, basis) {
            (None, _) => thread.without_total(run, usage.is_cut_short),
            (Some(total), Basis::Thread) => thread.by_difference(run, total, is_recent),
            (Some(total), Basis::Process) => thread.by_itself(run, total),
        };
        thread.sum.add(&run);
        run
    }

    /// The index of the thread with this id, which is added when it is new.
    fn index_of(&mut self, id: Option<&str>) -> usize {
        if let Some(index) = id.and_then(|id| self.indices.get(id)) {
            return *index;
        }
        let index = self.threads.len();
        let id: Option<Rc<str>> = id.map(Rc::from);
        if let Some(id) = &id {
            self.indices.insert(Rc::clone(id), index);
        }
        let is_fork = |parent: &mut StreamUsage| id.is_none() || parent.thread_id.as_deref() != id.as_deref();
        self.threads.push(match self.parent.take_if(is_fork) {
            Some(parent) => Thread::forked(id, parent.total),
            None => Thread::new(id),
        });
        index
    }

    /// Whether there is a parent, and no thread came that could have been forked from it.
    pub fn has_unused_parent(&self) -> bool {
        self.parent.is_some()
    }

    /// Each thread with its sum, in the order in which they came.
    pub fn threads(&self) -> impl Iterator<Item = (Option<&str>, &Sum)> {
        self.threads.iter().map(|thread| (thread.id.as_deref(), &thread.sum))
    }

    /// The sum of all threads.
    pub fn total(&self) -> Sum {
        self.threads.iter().fold(Sum::default(), |all, thread| all.plus(&thread.sum))
    }
}

/// Whether a usage is from Codex 0.125 or later.
fn is_recent(counts: &Counts) -> bool {
    RECENT_FIELDS.iter().any(|name| counts.has(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Subagents;
    use crate::difference::tests::counts;
    use crate::run::{Baseline, Remark};

    fn usage(thread: &str, input: u64) -> StreamUsage {
        let total = (input > 0).then(|| counts(input, 0, 1));
        StreamUsage { thread_id: Some(thread.to_owned()), total, ..StreamUsage::default() }
    }

    /// The input of each run of thread t1 with these inputs, 0 for none, and what is said of it.
    fn entered(ledger: &mut Ledger, inputs: &[u64]) -> Vec<(UsageStatus, Option<u64>, Vec<u64>)> {
        let run = |input: &u64| {
            let run = ledger.enter(&usage("t1", *input), None);
            (run.status, run.usage.and_then(|usage| usage.get("input_tokens")), run.covers)
        };
        inputs.iter().map(run).collect()
    }

    use UsageStatus::{Known, Reset, Unknown};

    fn input(counts: &Option<Counts>) -> Option<u64> {
        counts.as_ref().and_then(|counts| counts.get("input_tokens"))
    }

    #[test]
    fn a_difference_covers_the_runs_that_are_not_known_before_it() {
        let mut ledger = Ledger::new(None);
        let runs = entered(&mut ledger, &[50, 0, 90, 90, 0, 95]);
        assert_eq!(
            runs,
            [
                (Known, Some(50), vec![1]),
                (Unknown, None, vec![]),
                (Known, Some(40), vec![2, 3]),
                (Unknown, None, vec![]),
                (Unknown, None, vec![]),
                (Known, Some(5), vec![4, 5, 6]),
            ]
        );
        let total = ledger.total();
        assert_eq!((total.runs, total.unknown, total.reset), (6, 3, 0));
        assert_eq!(total.usage.and_then(|usage| usage.get("input_tokens")), Some(95));
    }

    #[test]
    fn a_total_that_goes_backwards_is_a_new_baseline() {
        let mut ledger = Ledger::new(None);
        let runs = entered(&mut ledger, &[100, 220, 0, 200, 240]);
        assert_eq!(runs[3..], [(Reset, None, vec![]), (Known, Some(40), vec![5])]);
        assert_eq!(ledger.total().reset, 1);
    }

    #[test]
    fn a_parent_is_the_baseline_of_the_first_thread_that_is_not_its_own() {
        let mut ledger = Ledger::new(Some(usage("t0", 300)));
        assert_eq!(ledger.enter(&usage("t0", 100), None).baseline, Some(Baseline::AssumedZero));
        assert!(ledger.has_unused_parent());
        let first = ledger.enter(&usage("t1", 400), None);
        assert_eq!((first.baseline, first.covers), (Some(Baseline::Parent), vec![1]));
        assert!(!ledger.has_unused_parent());
        assert_eq!(ledger.enter(&usage("t2", 400), None).baseline, Some(Baseline::AssumedZero));
        assert_eq!(ledger.enter(&usage("t1", 500), None).baseline, Some(Baseline::PreviousRun));
        let threads: Vec<_> = ledger.threads().map(|(id, sum)| (id, sum.runs, sum.baseline)).collect();
        let expected = [
            (Some("t0"), 1, Some(Baseline::AssumedZero)),
            (Some("t1"), 2, Some(Baseline::Parent)),
            (Some("t2"), 1, Some(Baseline::AssumedZero)),
        ];
        assert_eq!(threads, expected);
    }

    #[test]
    fn without_the_total_of_the_parent_the_first_run_is_not_known() {
        let mut ledger = Ledger::new(Some(usage("t0", 0)));
        let first = ledger.enter(&usage("t1", 400), None);
        assert_eq!((first.status, first.remark), (Unknown, Some(Remark::NoParent)));
        assert_eq!(entered(&mut ledger, &[500]), [(Known, Some(100), vec![2])]);
    }

    #[test]
    fn by_process_each_run_stands_for_itself() {
        let mut ledger = Ledger::new(None);
        let runs: Vec<Run> = [100, 90, 0, 100]
            .iter()
            .map(|input| ledger.enter(&usage("t1", *input), Some(Basis::Process)))
            .collect();
        let usage: Vec<_> = runs.iter().map(|run| input(&run.usage)).collect();
        let cumulative: Vec<_> = runs.iter().map(|run| input(&run.cumulative)).collect();
        assert_eq!(usage, [Some(100), Some(90), None, Some(100)]);
        assert_eq!(cumulative, [Some(100), Some(190), None, None]);
        assert!(runs.iter().all(|run| run.baseline.is_none()));
    }

    /// A run of thread t1 as Codex 0.125 and later tell it.
    fn recent(input: u64) -> StreamUsage {
        let mut said = usage("t1", input);
        said.total.as_mut().map(|total| total.set("reasoning_output_tokens", Some(0)));
        said
    }

    #[test]
    fn a_thread_that_outlives_an_upgrade_goes_on_from_the_last_total_that_was_told() {
        let mut ledger = Ledger::new(None);
        let old = [10, 20].map(|input| ledger.enter(&usage("t1", input), Some(Basis::Process)));
        let new = [30, 40].map(|input| ledger.enter(&recent(input), Some(Basis::Process)));
        let runs: Vec<_> =
            old.iter().chain(&new).map(|run| (run.basis, run.evidence, input(&run.usage))).collect();
        let old = |used| (Basis::Process, Evidence::Option, Some(used));
        let new = |used| (Basis::Thread, Evidence::Stream, Some(used));
        assert_eq!(runs, [old(10), old(20), new(10), new(10)]);
        let last = ledger.enter(&recent(45), None);
        assert_eq!((input(&last.usage), input(&last.cumulative)), (Some(5), Some(55)));
    }

    #[test]
    fn behind_a_run_by_process_without_usage_nothing_is_known() {
        let mut ledger = Ledger::new(None);
        for input in [10, 0] {
            ledger.enter(&usage("t1", input), Some(Basis::Process));
        }
        let run = ledger.enter(&recent(30), None);
        assert_eq!((run.status, run.remark), (Unknown, Some(Remark::NoBaseline)));
        let run = ledger.enter(&recent(40), None);
        assert_eq!((run.status, input(&run.usage), run.cumulative), (Known, Some(10), None));
    }

    #[test]
    fn a_difference_does_not_cover_a_run_that_was_cut_short() {
        let cut = || StreamUsage { is_cut_short: true, ..usage("t1", 0) };
        let covers = |last: StreamUsage| {
            let mut ledger = Ledger::new(None);
            ledger.enter(&usage("t1", 10), None);
            assert_eq!(ledger.enter(&cut(), None).remark, Some(Remark::CutShort));
            ledger.enter(&usage("t1", 0), None);
            let run = ledger.enter(&last, None);
            (run.covers, run.may_include)
        };
        assert_eq!(covers(recent(30)), (vec![3, 4], vec![2]));
        assert_eq!(covers(usage("t1", 30)), (vec![2, 3, 4], vec![]));
    }

    #[test]
    fn a_run_that_called_other_agents_is_not_simply_known() {
        let mut ledger = Ledger::new(None);
        let with = |input, subagents| StreamUsage { subagents, ..usage("t1", input) };
        let run = ledger.enter(&with(10, Subagents::Some(2)), None);
        assert_eq!(
            (run.status, input(&run.usage), run.subagents),
            (UsageStatus::Incomplete, Some(10), Subagents::Some(2))
        );
        let run = ledger.enter(&with(0, Subagents::Some(1)), None);
        assert_eq!((run.status, run.subagents), (Unknown, Subagents::Some(1)));
        let run = ledger.enter(&with(30, Subagents::Uncounted), None);
        assert_eq!((run.status, run.subagents), (UsageStatus::Incomplete, Subagents::Uncounted));
        assert_eq!(ledger.enter(&with(40, Subagents::None), None).status, Known);
        assert_eq!((ledger.total().incomplete, ledger.total().unknown), (2, 1));
    }

    #[test]
    fn runs_without_a_thread_are_threads_by_themselves() {
        let mut ledger = Ledger::new(None);
        for _ in 0..2 {
            let run =
                ledger.enter(&StreamUsage { total: Some(counts(7, 0, 1)), ..StreamUsage::default() }, None);
            assert_eq!((run.number, run.baseline), (1, Some(Baseline::AssumedZero)));
        }
        assert_eq!(ledger.threads().count(), 2);
    }
}
