//! The runs of threads, one after the other, and what each of them used.

use super::account::{Said, Subagents};
use super::counts::{Counts, Difference};
use std::collections::HashMap;
use std::rc::Rc;

/// What the totals of a stream begin at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// At the beginning of the thread: Codex 0.79 and later.
    Thread,
    /// At the beginning of the process: Codex 0.77 and earlier.
    Process,
}

/// How the basis of a run is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// By fields that only a Codex writes whose totals are those of the thread.
    Stream,
    /// It was said.
    Option,
    /// Not at all: [`Basis::Thread`] is assumed.
    Assumed,
}

/// What was subtracted from a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// The total of the last run before it, on the same thread, that has one.
    PreviousRun,
    /// The total of the thread that this one was forked from.
    Parent,
    /// Nothing, for want of anything better: history before the first run given may be included.
    AssumedZero,
}

/// Whether it is known what a run used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It is.
    Known,
    /// What its own thread used is; other agents that it called used more.
    Incomplete,
    /// It is not.
    Unknown,
    /// The total went backwards.
    Reset,
}

/// What is to be said about a run beyond its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remark {
    /// This field went backwards from the first to the second number.
    Backwards(&'static str, u64, u64),
    /// A turn completed, and the total stood still.
    Still,
    /// The total of the parent is not known.
    NoParent,
    /// A run between it and the last known one counts by process and has no usage, so what its total begins at is not
    /// known.
    NoBaseline,
    /// It ended in the middle of a turn, and what that turn used may be in no total.
    Cut,
}

/// A run in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The place of its thread among [`Ledger::threads`].
    pub thread: usize,
    /// Its number on its thread, from 1.
    pub number: u64,
    /// What its total begins at.
    pub basis: Basis,
    /// How that is known.
    pub evidence: Evidence,
    /// Whether its usage is known.
    pub status: Status,
    /// What was subtracted to know it; `None` when nothing was.
    pub baseline: Option<Baseline>,
    /// What it used.
    pub usage: Option<Counts>,
    /// The total of its thread at its end.
    pub cumulative: Option<Counts>,
    /// Other agents that the runs in `covers` called, or this one when that is empty: their tokens are not in `usage`.
    pub subagents: Subagents,
    /// The numbers of the runs whose usage that is: its own, and those before it that are not known by themselves.
    pub covers: Vec<u64>,
    /// The numbers of runs that were cut short before it: a part of what they used may be in `usage`.
    pub may_include: Vec<u64>,
    /// What else is to be said.
    pub remark: Option<Remark>,
}

/// What all runs of a thread used, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many runs there are.
    pub runs: u64,
    /// How many of them have no usage of their own.
    pub unknown: u64,
    /// How many of them went backwards.
    pub reset: u64,
    /// How many of them called other agents, whose tokens are not in `usage`.
    pub incomplete: u64,
    /// What the others used; `None` when there are none.
    pub usage: Option<Counts>,
    /// What was subtracted from the first of these on a thread.
    pub baseline: Option<Baseline>,
}

/// Sets the accounts of runs side by side, in the order in which they are entered.
#[derive(Debug)]
pub struct Ledger {
    /// What the first thread that is not its own was forked from, until that comes.
    parent: Option<Said>,
    threads: Vec<Thread>,
    /// The place of each thread that has an id. A run without one is a thread by itself.
    places: HashMap<Rc<str>, usize>,
}

#[derive(Debug, Default)]
struct Thread {
    id: Option<Rc<str>>,
    /// What the next total is compared with; `None` when that is nothing.
    before: Option<(Baseline, Counts)>,
    /// Whether it is a fork of a parent whose total is not known, and no total of its own has come yet.
    is_orphan: bool,
    /// The runs that are not known since `before`.
    pending: Vec<Pending>,
    /// Whether a run on it counted by process: the totals in its streams are not those of the thread then.
    has_process: bool,
    sum: Sum,
}

/// A run that is not known by itself.
#[derive(Debug, Clone, Copy)]
struct Pending {
    number: u64,
    basis: Basis,
    is_cut: bool,
    subagents: Subagents,
}

impl Ledger {
    /// An empty ledger. From `parent`, if there is one, the first thread was forked that comes and is not its own: the
    /// runs before the fork may be entered, too.
    pub fn new(parent: Option<Said>) -> Ledger {
        Ledger { parent, threads: Vec::new(), places: HashMap::new() }
    }

    /// Enters a run. `basis` is what its total begins at, as far as that was said; what its stream shows counts more.
    pub fn enter(&mut self, said: &Said, basis: Option<Basis>) -> Run {
        let place = self.place(said.thread.as_deref());
        let thread = &mut self.threads[place];
        thread.sum.runs += 1;
        let (basis, evidence) = match basis {
            _ if said.total.as_ref().is_some_and(Counts::is_recent) => (Basis::Thread, Evidence::Stream),
            Some(basis) => (basis, Evidence::Option),
            None => (Basis::Thread, Evidence::Assumed),
        };
        let run = Run {
            thread: place,
            number: thread.sum.runs,
            basis,
            evidence,
            status: Status::Unknown,
            baseline: None,
            usage: None,
            cumulative: None,
            subagents: said.subagents,
            covers: Vec::new(),
            may_include: Vec::new(),
            remark: None,
        };
        let run = match (&said.total, basis) {
            (None, _) => thread.unknown(run, said.is_cut),
            (Some(total), Basis::Thread) => thread.by_difference(run, total),
            (Some(total), Basis::Process) => thread.by_itself(run, total),
        };
        thread.sum.enter(&run);
        run
    }

    fn place(&mut self, id: Option<&str>) -> usize {
        if let Some(place) = id.and_then(|id| self.places.get(id)) {
            return *place;
        }
        let place = self.threads.len();
        let id: Option<Rc<str>> = id.map(Rc::from);
        if let Some(id) = &id {
            self.places.insert(Rc::clone(id), place);
        }
        let parent = self.parent.take_if(|parent| id.is_none() || parent.thread.as_deref() != id.as_deref());
        let is_orphan = parent.as_ref().is_some_and(|parent| parent.total.is_none());
        let before = parent.and_then(|parent| parent.total).map(|total| (Baseline::Parent, total));
        self.threads.push(Thread { id, before, is_orphan, ..Thread::default() });
        place
    }

    /// Whether there is a parent, and no thread came that could have been forked from it.
    pub fn has_parent_left(&self) -> bool {
        self.parent.is_some()
    }

    /// Each thread with its sum, in the order in which they came.
    pub fn threads(&self) -> impl Iterator<Item = (Option<&str>, &Sum)> {
        self.threads.iter().map(|thread| (thread.id.as_deref(), &thread.sum))
    }

    /// The sum of all threads.
    pub fn total(&self) -> Sum {
        self.threads.iter().fold(Sum::default(), |all, Thread { sum, .. }| Sum {
            runs: all.runs + sum.runs,
            unknown: all.unknown + sum.unknown,
            reset: all.reset + sum.reset,
            incomplete: all.incomplete + sum.incomplete,
            usage: add(all.usage, sum.usage.as_ref()),
            baseline: None,
        })
    }
}

impl Thread {
    /// A run without a total. `is_cut` is [`Said::is_cut`].
    fn unknown(&mut self, run: Run, is_cut: bool) -> Run {
        self.leave_pending(&run, is_cut);
        Run { remark: is_cut.then_some(Remark::Cut), ..run }
    }

    fn leave_pending(&mut self, run: &Run, is_cut: bool) {
        let Run { number, basis, subagents, .. } = *run;
        self.pending.push(Pending { number, basis, is_cut, subagents });
    }

    /// The usage of a run whose total is one of the thread. Codex goes on from the total that the run before it told,
    /// also from one by process (0.171.0 after 0.77.0).
    fn by_difference(&mut self, run: Run, total: &Counts) -> Run {
        let (baseline, difference) = match &self.before {
            None => (Baseline::AssumedZero, Difference::Known(total.clone())),
            Some((baseline, before)) => (*baseline, total.since(before)),
        };
        let cumulative = (!self.has_process).then(|| total.clone());
        let run = Run { cumulative, ..run };
        let run = match difference {
            // The baseline stays what it is, so a later difference takes this run in.
            Difference::None => {
                self.leave_pending(&run, false);
                return Run { remark: Some(Remark::Still), ..run };
            }
            _ if self.is_orphan => Run { remark: Some(Remark::NoParent), ..run },
            _ if self.pending.iter().any(|run| run.basis == Basis::Process) => {
                Run { remark: Some(Remark::NoBaseline), ..run }
            }
            Difference::Backwards(field, from, to) => {
                Run { status: Status::Reset, remark: Some(Remark::Backwards(field, from, to)), ..run }
            }
            Difference::Known(usage) => {
                // The requests of a turn that was cut short whose commands had ended are in the next total, the last
                // one is not (0.156.1, 0.171.0; others say from 0.135 on). In 0.98.0 all of them are.
                let is_covered = |run: &Pending| !run.is_cut || !total.is_recent();
                let (covered, cut): (Vec<Pending>, Vec<Pending>) =
                    self.pending.iter().copied().partition(is_covered);
                let may_include = cut.iter().map(|run| run.number).collect();
                self.known(Run { baseline: Some(baseline), may_include, ..run }, usage, &covered)
            }
        };
        self.go_on_from(total);
        run
    }

    /// The usage of a run whose total is its own.
    fn by_itself(&mut self, run: Run, total: &Counts) -> Run {
        self.has_process = true;
        let run = self.known(run, total.clone(), &[]);
        self.go_on_from(total);
        run
    }

    /// A run that used `usage`, together with those in `covered`.
    fn known(&self, run: Run, usage: Counts, covered: &[Pending]) -> Run {
        let subagents = covered.iter().fold(run.subagents, |all, run| all.plus(run.subagents));
        let is_added_up = self.has_process && self.sum.unknown + self.sum.reset == 0;
        let added_up = is_added_up.then(|| add(self.sum.usage.clone(), Some(&usage))).flatten();
        Run {
            status: if subagents == Subagents::None { Status::Known } else { Status::Incomplete },
            cumulative: run.cumulative.or(added_up),
            usage: Some(usage),
            subagents,
            covers: covered.iter().map(|run| run.number).chain([run.number]).collect(),
            ..run
        }
    }

    fn go_on_from(&mut self, total: &Counts) {
        self.before = Some((Baseline::PreviousRun, total.clone()));
        self.is_orphan = false;
        self.pending.clear();
    }
}

impl Sum {
    fn enter(&mut self, run: &Run) {
        match run.status {
            Status::Known => {}
            Status::Incomplete => self.incomplete += 1,
            Status::Unknown => self.unknown += 1,
            Status::Reset => self.reset += 1,
        }
        self.usage = add(self.usage.take(), run.usage.as_ref());
        self.baseline = self.baseline.or(run.baseline);
    }
}

fn add(sum: Option<Counts>, more: Option<&Counts>) -> Option<Counts> {
    match (sum, more) {
        (Some(sum), Some(more)) => Some(sum.plus(more)),
        (sum, more) => sum.or(more.cloned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::counts::tests::counts;
    use super::*;

    fn said(thread: &str, input: u64) -> Said {
        let total = (input > 0).then(|| counts(input, 0, 1));
        Said { thread: Some(thread.to_owned()), total, ..Said::default() }
    }

    /// The input of each run of thread t1 with these inputs, 0 for none, and what is said of it.
    fn entered(ledger: &mut Ledger, inputs: &[u64]) -> Vec<(Status, Option<u64>, Vec<u64>)> {
        let run = |input: &u64| {
            let run = ledger.enter(&said("t1", *input), None);
            (run.status, run.usage.and_then(|usage| usage.get("input_tokens")), run.covers)
        };
        inputs.iter().map(run).collect()
    }

    use Status::{Known, Reset, Unknown};

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
        let mut ledger = Ledger::new(Some(said("t0", 300)));
        assert_eq!(ledger.enter(&said("t0", 100), None).baseline, Some(Baseline::AssumedZero));
        assert!(ledger.has_parent_left());
        let first = ledger.enter(&said("t1", 400), None);
        assert_eq!((first.baseline, first.covers), (Some(Baseline::Parent), vec![1]));
        assert!(!ledger.has_parent_left());
        assert_eq!(ledger.enter(&said("t2", 400), None).baseline, Some(Baseline::AssumedZero));
        assert_eq!(ledger.enter(&said("t1", 500), None).baseline, Some(Baseline::PreviousRun));
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
        let mut ledger = Ledger::new(Some(said("t0", 0)));
        let first = ledger.enter(&said("t1", 400), None);
        assert_eq!((first.status, first.remark), (Unknown, Some(Remark::NoParent)));
        assert_eq!(entered(&mut ledger, &[500]), [(Known, Some(100), vec![2])]);
    }

    #[test]
    fn by_process_each_run_stands_for_itself() {
        let mut ledger = Ledger::new(None);
        let runs: Vec<Run> = [100, 90, 0, 100]
            .iter()
            .map(|input| ledger.enter(&said("t1", *input), Some(Basis::Process)))
            .collect();
        let usage: Vec<_> = runs.iter().map(|run| input(&run.usage)).collect();
        let cumulative: Vec<_> = runs.iter().map(|run| input(&run.cumulative)).collect();
        assert_eq!(usage, [Some(100), Some(90), None, Some(100)]);
        assert_eq!(cumulative, [Some(100), Some(190), None, None]);
        assert!(runs.iter().all(|run| run.baseline.is_none()));
    }

    /// A run of thread t1 as Codex 0.125 and later tell it.
    fn recent(input: u64) -> Said {
        let mut said = said("t1", input);
        said.total.as_mut().map(|total| total.set("reasoning_output_tokens", Some(0)));
        said
    }

    #[test]
    fn a_thread_that_outlives_an_upgrade_goes_on_from_the_last_total_that_was_told() {
        let mut ledger = Ledger::new(None);
        let old = [10, 20].map(|input| ledger.enter(&said("t1", input), Some(Basis::Process)));
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
            ledger.enter(&said("t1", input), Some(Basis::Process));
        }
        let run = ledger.enter(&recent(30), None);
        assert_eq!((run.status, run.remark), (Unknown, Some(Remark::NoBaseline)));
        let run = ledger.enter(&recent(40), None);
        assert_eq!((run.status, input(&run.usage), run.cumulative), (Known, Some(10), None));
    }

    #[test]
    fn a_difference_does_not_cover_a_run_that_was_cut_short() {
        let cut = || Said { is_cut: true, ..said("t1", 0) };
        let covers = |last: Said| {
            let mut ledger = Ledger::new(None);
            ledger.enter(&said("t1", 10), None);
            assert_eq!(ledger.enter(&cut(), None).remark, Some(Remark::Cut));
            ledger.enter(&said("t1", 0), None);
            let run = ledger.enter(&last, None);
            (run.covers, run.may_include)
        };
        assert_eq!(covers(recent(30)), (vec![3, 4], vec![2]));
        assert_eq!(covers(said("t1", 30)), (vec![2, 3, 4], vec![]));
    }

    #[test]
    fn a_run_that_called_other_agents_is_not_simply_known() {
        let mut ledger = Ledger::new(None);
        let with = |input, subagents| Said { subagents, ..said("t1", input) };
        let run = ledger.enter(&with(10, Subagents::Some(2)), None);
        assert_eq!(
            (run.status, input(&run.usage), run.subagents),
            (Status::Incomplete, Some(10), Subagents::Some(2))
        );
        let run = ledger.enter(&with(0, Subagents::Some(1)), None);
        assert_eq!((run.status, run.subagents), (Unknown, Subagents::Some(1)));
        let run = ledger.enter(&with(30, Subagents::Uncounted), None);
        assert_eq!((run.status, run.subagents), (Status::Incomplete, Subagents::Uncounted));
        assert_eq!(ledger.enter(&with(40, Subagents::None), None).status, Known);
        assert_eq!((ledger.total().incomplete, ledger.total().unknown), (2, 1));
    }

    #[test]
    fn runs_without_a_thread_are_threads_by_themselves() {
        let mut ledger = Ledger::new(None);
        for _ in 0..2 {
            let run = ledger.enter(&Said { total: Some(Counts::of_output(7)), ..Said::default() }, None);
            assert_eq!((run.number, run.baseline), (1, Some(Baseline::AssumedZero)));
        }
        assert_eq!(ledger.threads().count(), 2);
    }
}
