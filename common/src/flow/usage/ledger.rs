//! The runs of threads, one after the other, and what each of them used.

use super::account::Said;
use super::counts::{Counts, Difference};
use std::collections::HashMap;
use std::rc::Rc;

/// What the totals of a stream begin at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// At the beginning of the thread: Codex 0.98.0 and later.
    Thread,
    /// At the beginning of the process: Codex 0.66.0 and earlier.
    Process,
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
}

/// A run in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The place of its thread among [`Ledger::threads`].
    pub thread: usize,
    /// Its number on its thread, from 1.
    pub number: u64,
    /// Whether its usage is known.
    pub status: Status,
    /// What was subtracted to know it; `None` when nothing was.
    pub baseline: Option<Baseline>,
    /// What it used.
    pub usage: Option<Counts>,
    /// The total of its thread at its end.
    pub cumulative: Option<Counts>,
    /// The numbers of the runs whose usage that is: its own, and those before it that are not known by themselves.
    pub covers: Vec<u64>,
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
    /// What the others used; `None` when there are none.
    pub usage: Option<Counts>,
    /// What was subtracted from the first of these on a thread.
    pub baseline: Option<Baseline>,
}

/// Sets the accounts of runs side by side, in the order in which they are entered.
#[derive(Debug)]
pub struct Ledger {
    basis: Basis,
    /// What the first thread that is not its own was forked from, until that comes.
    parent: Option<Said>,
    threads: Vec<Thread>,
    /// The place of each thread that has an id. A run without one is a thread by itself.
    places: HashMap<Rc<str>, usize>,
}

#[derive(Debug, Default)]
struct Thread {
    /// Its place among the threads.
    place: usize,
    id: Option<Rc<str>>,
    /// What the next total is compared with; `None` when that is nothing.
    before: Option<(Baseline, Counts)>,
    /// Whether it is a fork of a parent whose total is not known, and no total of its own has come yet.
    is_orphan: bool,
    /// The runs that are not known since `before`.
    pending: Vec<u64>,
    /// By process: the total so far, until a run is not known.
    added_up: Option<Counts>,
    sum: Sum,
}

impl Ledger {
    /// An empty ledger. From `parent`, if there is one, the first thread was forked that comes and is not its own: the
    /// runs before the fork may be entered, too.
    pub fn new(basis: Basis, parent: Option<Said>) -> Ledger {
        Ledger { basis, parent, threads: Vec::new(), places: HashMap::new() }
    }

    /// Enters a run.
    pub fn enter(&mut self, said: &Said) -> Run {
        let place = self.place(said.thread.as_deref());
        let thread = &mut self.threads[place];
        thread.sum.runs += 1;
        let number = thread.sum.runs;
        let run = match (&said.total, self.basis) {
            (None, _) => thread.unknown(number),
            (Some(total), Basis::Thread) => thread.by_difference(number, total),
            (Some(total), Basis::Process) => thread.by_itself(number, total),
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
        self.threads.push(Thread { place, id, before, is_orphan, ..Thread::default() });
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
            usage: add(all.usage, sum.usage.as_ref()),
            baseline: None,
        })
    }
}

impl Thread {
    fn unknown(&mut self, number: u64) -> Run {
        self.pending.push(number);
        Run {
            thread: self.place,
            number,
            status: Status::Unknown,
            baseline: None,
            usage: None,
            cumulative: None,
            covers: Vec::new(),
            remark: None,
        }
    }

    /// The usage of a run whose total is one of the thread.
    fn by_difference(&mut self, number: u64, total: &Counts) -> Run {
        let (baseline, difference) = match &self.before {
            None => (Baseline::AssumedZero, Difference::Known(total.clone())),
            Some((baseline, before)) => (*baseline, total.since(before)),
        };
        let unknown = Run { cumulative: Some(total.clone()), ..self.unknown(number) };
        let run = match difference {
            // The baseline stays what it is, so a later difference takes this run in.
            Difference::None => return Run { remark: Some(Remark::Still), ..unknown },
            _ if self.is_orphan => Run { remark: Some(Remark::NoParent), ..unknown },
            Difference::Backwards(field, from, to) => {
                let remark = Some(Remark::Backwards(field, from, to));
                Run { status: Status::Reset, remark, ..unknown }
            }
            Difference::Known(usage) => Run {
                status: Status::Known,
                baseline: Some(baseline),
                usage: Some(usage),
                covers: std::mem::take(&mut self.pending),
                ..unknown
            },
        };
        self.before = Some((Baseline::PreviousRun, total.clone()));
        self.is_orphan = false;
        self.pending.clear();
        run
    }

    /// The usage of a run whose total is its own.
    fn by_itself(&mut self, number: u64, total: &Counts) -> Run {
        let so_far = if self.sum.unknown == 0 { add(self.added_up.take(), Some(total)) } else { None };
        self.added_up.clone_from(&so_far);
        Run {
            thread: self.place,
            number,
            status: Status::Known,
            baseline: None,
            usage: Some(total.clone()),
            cumulative: so_far,
            covers: vec![number],
            remark: None,
        }
    }
}

impl Sum {
    fn enter(&mut self, run: &Run) {
        match run.status {
            Status::Known => {}
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
        Said { thread: Some(thread.to_owned()), total, turn_completed: true, ..Said::default() }
    }

    /// The input of each run of thread t1 with these inputs, 0 for none, and what is said of it.
    fn entered(ledger: &mut Ledger, inputs: &[u64]) -> Vec<(Status, Option<u64>, Vec<u64>)> {
        let run = |input: &u64| {
            let run = ledger.enter(&said("t1", *input));
            (run.status, run.usage.and_then(|usage| usage.get("input_tokens")), run.covers)
        };
        inputs.iter().map(run).collect()
    }

    use Status::{Known, Reset, Unknown};

    #[test]
    fn a_difference_covers_the_runs_that_are_not_known_before_it() {
        let mut ledger = Ledger::new(Basis::Thread, None);
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
        let mut ledger = Ledger::new(Basis::Thread, None);
        let runs = entered(&mut ledger, &[100, 220, 0, 200, 240]);
        assert_eq!(runs[3..], [(Reset, None, vec![]), (Known, Some(40), vec![5])]);
        assert_eq!(ledger.total().reset, 1);
    }

    #[test]
    fn a_parent_is_the_baseline_of_the_first_thread_that_is_not_its_own() {
        let mut ledger = Ledger::new(Basis::Thread, Some(said("t0", 300)));
        assert_eq!(ledger.enter(&said("t0", 100)).baseline, Some(Baseline::AssumedZero));
        assert!(ledger.has_parent_left());
        let first = ledger.enter(&said("t1", 400));
        assert_eq!((first.baseline, first.covers), (Some(Baseline::Parent), vec![1]));
        assert!(!ledger.has_parent_left());
        assert_eq!(ledger.enter(&said("t2", 400)).baseline, Some(Baseline::AssumedZero));
        assert_eq!(ledger.enter(&said("t1", 500)).baseline, Some(Baseline::PreviousRun));
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
        let mut ledger = Ledger::new(Basis::Thread, Some(said("t0", 0)));
        let first = ledger.enter(&said("t1", 400));
        assert_eq!((first.status, first.remark), (Unknown, Some(Remark::NoParent)));
        assert_eq!(entered(&mut ledger, &[500]), [(Known, Some(100), vec![2])]);
    }

    #[test]
    fn by_process_each_run_stands_for_itself() {
        let mut ledger = Ledger::new(Basis::Process, None);
        let runs: Vec<Run> =
            [100, 90, 0, 100].iter().map(|input| ledger.enter(&said("t1", *input))).collect();
        let input = |counts: &Option<Counts>| counts.as_ref().and_then(|counts| counts.get("input_tokens"));
        let usage: Vec<_> = runs.iter().map(|run| input(&run.usage)).collect();
        let cumulative: Vec<_> = runs.iter().map(|run| input(&run.cumulative)).collect();
        assert_eq!(usage, [Some(100), Some(90), None, Some(100)]);
        assert_eq!(cumulative, [Some(100), Some(190), None, None]);
        assert!(runs.iter().all(|run| run.baseline.is_none()));
    }

    #[test]
    fn runs_without_a_thread_are_threads_by_themselves() {
        let mut ledger = Ledger::new(Basis::Thread, None);
        for _ in 0..2 {
            let run = ledger.enter(&Said { total: Some(Counts::of_output(7)), ..Said::default() });
            assert_eq!((run.number, run.baseline), (1, Some(Baseline::AssumedZero)));
        }
        assert_eq!(ledger.threads().count(), 2);
    }
}
