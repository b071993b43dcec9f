//! The state machine of a supervised run: when to send INT, TERM and KILL, and when the run is over.
//!
//! Time is a duration since the program was started, and comes in as an argument.

use std::time::Duration;

/// Most time between TERM and KILL for the processes that a program leaves. It is short because the run is over and its
/// caller waits for the answer. It is not zero, so that a server can act on TERM and remove its socket.
const CLEARING: Duration = Duration::from_millis(200);

/// Time between two KILLs while a process is still there: one may have forked while the processes were listed. It is short,
/// since most processes die at once.
const LOOK: Duration = Duration::from_millis(5);

/// Time after which processes that do not die of KILL are given up. Only a system call can hold one that long, such as on a
/// disk or a network file system that does not answer.
const GIVE_UP: Duration = Duration::from_secs(10);

/// Time after the end of a program in which its output may still say that its work is done: the last of it may not have
/// been read yet.
const DOUBT: Duration = Duration::from_secs(1);

/// The limits of a run.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// From the start to the first signal.
    pub time: Duration,
    /// From INT to TERM, and again from TERM to KILL.
    pub grace: Duration,
    /// How long a program whose work is done may go on without any output.
    pub linger: Duration,
    /// What becomes of the processes that a program leaves whose work is done.
    pub leftovers: Leftovers,
    /// Whether a program that ended with another status than 0 has failed, whatever its output says.
    pub status_counts: bool,
}

/// What becomes of the processes that a program leaves whose work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftovers {
    /// They have so long to end by themselves; then they are ended.
    Grace(Duration),
    /// They live on.
    Keep,
}

/// Why a run was cut short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The time limit.
    Timeout,
    /// The user's signal.
    Cancelled(i32),
    /// What it printed.
    Halted,
    /// The death of the guardian, which would finish it.
    Abandoned,
    /// Its work was done, and it did not end by itself.
    Lingered,
}

/// How a run came to its end. `E` is how the program itself ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended<E> {
    /// How the program ended; `None` when even KILL did not end it.
    pub exit: Option<E>,
    /// Why it was cut short, if it was.
    pub cut: Option<Cut>,
    /// Whether a process was left that did not die of KILL.
    pub left: bool,
}

/// What can happen. `E` is how the program ended, which decides nothing here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Happening<E> {
    /// Time went by.
    Tick,
    /// The output says that the work is done, and since when nothing has come; or `None`, that the work goes on.
    Done(Option<Duration>),
    /// The user sent a signal.
    User(i32),
    /// What the program printed shows that it must end.
    Halt,
    /// The guardian is dead, which would finish the run if this process died.
    Abandon,
    /// The program ended, and left nothing.
    Gone(E),
    /// The program ended; it is not known yet whether it left anything.
    Exited(E),
    /// The program ended with a status that says that it failed; it is not known yet whether it left anything.
    Failed(E),
    /// Nothing that the run started is left; known only after the program ended.
    Alone,
}

/// What can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// INT to the program's group.
    Interrupt,
    /// TERM to the program's group.
    Terminate,
    /// KILL to the program's group and to everything that the run started.
    Kill,
    /// TERM to everything that the program left behind.
    TerminateLeftovers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State<E> {
    /// The program runs, and was sent no signal.
    Running,
    /// It was sent INT, and has until then.
    Interrupted(Duration),
    /// It was sent TERM, and has until then.
    Terminated(Duration),
    /// It was sent KILL; again at the first time, no longer than to the second.
    Killed(Duration, Duration),
    /// It ended at the first time; what it left may end by itself until the second, if the work was done.
    Leaving(E, Duration, Duration),
    /// It ended; what it left was sent TERM and has until then.
    EndingLeftovers(E, Duration),
    /// It ended; what it left was sent KILL, again at the first time, no longer than to the second.
    KillingLeftovers(E, Duration, Duration),
    /// It is over; `None` when KILL did not end the program, `true` when something is left.
    Over(Option<E>, bool),
}

/// The decisions of one run.
#[derive(Debug)]
pub(super) struct Plan<E> {
    limits: Limits,
    state: State<E>,
    cut: Option<Cut>,
    /// Since when nothing has come of a program whose work is done.
    done: Option<Duration>,
}

impl<E: Copy> Plan<E> {
    pub(super) fn new(limits: Limits) -> Plan<E> {
        Plan { limits, state: State::Running, cut: None, done: None }
    }

    /// When the next tick is due.
    pub(super) fn due(&self) -> Duration {
        match self.state {
            State::Running => self.limits.time.min(self.lingers_until()),
            State::Leaving(_, exited, until) => {
                if self.done.is_some() {
                    until
                } else {
                    exited + DOUBT
                }
            }
            State::Interrupted(until) | State::Terminated(until) => until,
            State::Killed(again, _) | State::KillingLeftovers(_, again, _) => again,
            State::EndingLeftovers(_, until) => until,
            State::Over(..) => Duration::MAX,
        }
    }

    /// Whether the program has ended and it is time to look for what it left.
    pub(super) fn is_looking(&self) -> bool {
        matches!(self.state, State::Leaving(..) | State::EndingLeftovers(..) | State::KillingLeftovers(..))
    }

    /// Whether what was left may still end by itself.
    pub(super) fn is_leaving(&self) -> bool {
        matches!(self.state, State::Leaving(..))
    }

    /// Whether what was left is being ended, behind a program that nothing cut short.
    pub(super) fn is_clearing(&self) -> bool {
        let is_ending = matches!(self.state, State::EndingLeftovers(..) | State::KillingLeftovers(..));
        is_ending && matches!(self.cut, None | Some(Cut::Lingered))
    }

    /// Whether the output says that the work is done.
    pub(super) fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// When a program whose work is done has gone on for too long.
    fn lingers_until(&self) -> Duration {
        self.done.map_or(Duration::MAX, |since| since.saturating_add(self.limits.linger))
    }

    /// How the run ended, once it has.
    pub(super) fn ended(&self) -> Option<Ended<E>> {
        match self.state {
            State::Over(exit, left) => Some(Ended { exit, cut: self.cut, left }),
            _ => None,
        }
    }

    /// Takes what happened at `now` and says what to do.
    pub(super) fn step(&mut self, happening: Happening<E>, now: Duration) -> Option<Action> {
        if let Happening::Done(since) = happening {
            // Output of other processes after the end of the program does not undo its work.
            self.done = since.or(self.done.filter(|_| self.is_leaving()));
            return None;
        }
        let due = now >= self.due();
        match (self.state, happening) {
            (State::Over(..), _) => None,
            (_, Happening::Gone(exit)) => self.over(Some(exit), false),
            (
                State::Leaving(exit, ..)
                | State::EndingLeftovers(exit, _)
                | State::KillingLeftovers(exit, ..),
                Happening::Alone,
            ) => self.over(Some(exit), false),
            (State::Killed(..), Happening::Exited(exit) | Happening::Failed(exit)) => {
                self.kill_descendants(exit, now)
            }
            (State::Running, Happening::Exited(exit)) => self.leave(exit, now),
            (_, Happening::Exited(exit) | Happening::Failed(exit)) if self.cut == Some(Cut::Lingered) => {
                self.leave(exit, now)
            }
            (_, Happening::Exited(exit) | Happening::Failed(exit)) => self.clear(exit, now),
            (State::Running, Happening::Tick) if now >= self.lingers_until() => self.cut(Cut::Lingered, now),
            (State::Running, Happening::Tick) if due => self.cut(Cut::Timeout, now),
            (State::Running, Happening::User(signal)) => self.cut(Cut::Cancelled(signal), now),
            (State::Running, Happening::Abandon) => self.cut(Cut::Abandoned, now),
            // Not INT: Codex loses one that comes within 0.1 s of `thread.started` and ignores those behind it (0.156.1
            // and 0.171.0), and a wrong thread must not work on until TERM.
            (State::Running, Happening::Halt) => {
                self.cut = Some(Cut::Halted);
                self.kill(now)
            }
            (State::Interrupted(_), Happening::Tick) if due => {
                self.state = State::Terminated(now + self.limits.grace);
                Some(Action::Terminate)
            }
            (State::Terminated(_), Happening::Tick) if due => self.kill(now),
            (State::Interrupted(_) | State::Terminated(_), Happening::User(_)) => self.kill(now),
            (State::Leaving(exit, ..), Happening::Tick)
                if self.is_done() && self.limits.leftovers == Leftovers::Keep =>
            {
                self.over(Some(exit), false)
            }
            (State::Leaving(exit, ..), Happening::Tick) if due => self.clear(exit, now),
            (State::Leaving(exit, ..), Happening::User(_)) => self.clear(exit, now),
            (State::EndingLeftovers(exit, _), Happening::Tick) if due => self.kill_descendants(exit, now),
            (State::EndingLeftovers(exit, _), Happening::User(_)) => self.kill_descendants(exit, now),
            (State::Killed(_, end), Happening::Tick) if now >= end => self.over(None, true),
            (State::KillingLeftovers(exit, _, end), Happening::Tick) if now >= end => {
                self.over(Some(exit), true)
            }
            (State::Killed(_, end), Happening::Tick) if due => {
                self.state = State::Killed(now + LOOK, end);
                Some(Action::Kill)
            }
            (State::KillingLeftovers(exit, _, end), Happening::Tick) if due => {
                self.state = State::KillingLeftovers(exit, now + LOOK, end);
                Some(Action::Kill)
            }
            _ => None,
        }
    }

    fn cut(&mut self, cut: Cut, now: Duration) -> Option<Action> {
        self.cut = Some(cut);
        if self.limits.grace.is_zero() {
            return self.kill(now);
        }
        self.state = State::Interrupted(now + self.limits.grace);
        Some(Action::Interrupt)
    }

    fn kill(&mut self, now: Duration) -> Option<Action> {
        self.state = State::Killed(now + LOOK, now + GIVE_UP);
        Some(Action::Kill)
    }

    fn leave(&mut self, exit: E, now: Duration) -> Option<Action> {
        if self.cut == Some(Cut::Lingered) {
            // It was done when it was asked to end, whatever it has said since.
            self.done = self.done.or(Some(now));
        }
        let until = match self.limits.leftovers {
            Leftovers::Grace(grace) if grace.is_zero() => return self.clear(exit, now),
            Leftovers::Grace(grace) => now.saturating_add(grace),
            Leftovers::Keep => Duration::MAX,
        };
        self.state = State::Leaving(exit, now, until);
        None
    }

    fn clear(&mut self, exit: E, now: Duration) -> Option<Action> {
        let grace = self.limits.grace.min(CLEARING);
        if grace.is_zero() {
            return self.kill_descendants(exit, now);
        }
        self.state = State::EndingLeftovers(exit, now + grace);
        Some(Action::TerminateLeftovers)
    }

    fn over(&mut self, exit: Option<E>, left: bool) -> Option<Action> {
        self.state = State::Over(exit, left);
        None
    }

    fn kill_descendants(&mut self, exit: E, now: Duration) -> Option<Action> {
        self.state = State::KillingLeftovers(exit, now + LOOK, now + GIVE_UP);
        Some(Action::Kill)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn plan() -> Plan<i32> {
        Plan::new(limits())
    }

    fn limits() -> Limits {
        Limits {
            time: 10 * SECOND,
            grace: 2 * SECOND,
            linger: 3 * SECOND,
            leftovers: Leftovers::Grace(2 * SECOND),
            status_counts: true,
        }
    }

    fn done(since: u64) -> Happening<i32> {
        Happening::Done(Some(at(since)))
    }

    /// Runs the happenings through a plan and gives what it wanted done.
    fn actions(plan: &mut Plan<i32>, steps: &[(Happening<i32>, u64)]) -> Vec<Option<Action>> {
        steps.iter().map(|&(happening, millis)| plan.step(happening, at(millis))).collect()
    }

    #[test]
    fn a_run_that_ends_well_and_leaves_nothing_is_over() {
        let mut plan = plan();
        actions(&mut plan, &[(Happening::Tick, 5000), (Happening::Gone(0), 6000)]);
        assert_eq!(plan.ended(), Some(Ended { exit: Some(0), cut: None, left: false }));
    }

    #[test]
    fn the_limit_climbs_the_ladder() {
        let mut plan = plan();
        let steps = [9_999, 10_000, 11_999, 12_000, 13_999, 14_000, 14_005].map(|t| (Happening::Tick, t));
        assert_eq!(
            actions(&mut plan, &steps),
            [
                None,
                Some(Action::Interrupt),
                None,
                Some(Action::Terminate),
                None,
                Some(Action::Kill),
                Some(Action::Kill)
            ]
        );
        actions(&mut plan, &[(Happening::Exited(9), 14_006), (Happening::Alone, 14_006)]);
        assert_eq!(plan.ended(), Some(Ended { exit: Some(9), cut: Some(Cut::Timeout), left: false }));
    }

    #[test]
    fn an_abandoned_run_climbs_it_too_and_is_not_killed_for_what_was_asked_before() {
        let mut plan = plan();
        let steps = [(Happening::Abandon, 100), (Happening::Abandon, 200), (Happening::Tick, 2_100)];
        assert_eq!(actions(&mut plan, &steps), [Some(Action::Interrupt), None, Some(Action::Terminate)]);
        plan.step(Happening::Gone(9), at(2_200));
        assert_eq!(plan.ended(), Some(Ended { exit: Some(9), cut: Some(Cut::Abandoned), left: false }));
        let mut plan = super::tests::plan();
        let steps = [(Happening::User(15), 100), (Happening::Abandon, 200)];
        assert_eq!(actions(&mut plan, &steps), [Some(Action::Interrupt), None]);
    }

    #[test]
    fn a_second_signal_goes_straight_to_kill() {
        let mut plan = plan();
        assert_eq!(
            actions(&mut plan, &[(Happening::User(15), 100), (Happening::User(15), 150)]),
            [Some(Action::Interrupt), Some(Action::Kill)]
        );
        actions(&mut plan, &[(Happening::Exited(9), 151), (Happening::Alone, 151)]);
        assert_eq!(plan.ended(), Some(Ended { exit: Some(9), cut: Some(Cut::Cancelled(15)), left: false }));
    }

    #[test]
    fn leftovers_of_a_failure_get_term_and_soon_after_kill() {
        let mut plan = plan();
        assert_eq!(
            actions(
                &mut plan,
                &[
                    (Happening::Failed(1), 500),
                    (Happening::Tick, 600),
                    (Happening::Tick, 700),
                    (Happening::Tick, 705)
                ]
            ),
            [Some(Action::TerminateLeftovers), None, Some(Action::Kill), Some(Action::Kill)]
        );
        actions(&mut plan, &[(Happening::Alone, 706)]);
        assert_eq!(plan.ended(), Some(Ended { exit: Some(1), cut: None, left: false }));
    }

    #[test]
    fn what_does_not_die_of_kill_is_left_after_ten_seconds() {
        let mut plan = plan();
        actions(&mut plan, &[(Happening::Failed(1), 0), (Happening::Tick, 200)]);
        assert_eq!(plan.ended(), None);
        actions(&mut plan, &[(Happening::Tick, 10_200)]);
        assert_eq!(plan.ended(), Some(Ended { exit: Some(1), cut: None, left: true }));
        let mut plan = super::tests::plan();
        actions(&mut plan, &[(Happening::Halt, 0), (Happening::User(2), 1), (Happening::Tick, 10_001)]);
        assert_eq!(plan.ended(), Some(Ended { exit: None, cut: Some(Cut::Halted), left: true }));
    }

    #[test]
    fn what_must_not_go_on_is_killed_at_once() {
        let mut plan = plan();
        assert_eq!(plan.step(Happening::<i32>::Halt, at(50)), Some(Action::Kill));
        assert_eq!(plan.step(Happening::Gone(9), at(51)), None);
        assert_eq!(plan.ended(), Some(Ended { exit: Some(9), cut: Some(Cut::Halted), left: false }));
    }

    #[test]
    fn without_grace_kill_comes_first() {
        let mut plan = Plan::new(Limits { time: SECOND, grace: Duration::ZERO, ..limits() });
        assert_eq!(plan.step(Happening::<i32>::Tick, SECOND), Some(Action::Kill));
        assert_eq!(plan.step(Happening::Exited(9), SECOND), Some(Action::Kill));
    }

    #[test]
    fn a_signal_after_the_end_changes_nothing_but_the_pace() {
        let mut plan = plan();
        actions(&mut plan, &[(Happening::Failed(1), 500)]);
        assert_eq!(plan.step(Happening::User(2), at(501)), Some(Action::Kill));
        plan.step(Happening::Alone, at(502));
        assert_eq!(plan.ended(), Some(Ended { exit: Some(1), cut: None, left: false }));
    }

    #[test]
    fn a_program_whose_work_is_done_may_linger_until_nothing_has_come_for_a_while() {
        let mut plan = plan();
        let steps = [
            (done(1_000), 1_000),
            (Happening::Tick, 3_999),
            (done(3_999), 3_999),
            (Happening::Tick, 4_000),
            (Happening::Done(None), 5_000),
            (Happening::Tick, 9_000),
            (done(6_500), 9_000),
            (Happening::Tick, 9_499),
        ];
        assert_eq!(actions(&mut plan, &steps), [None; 8]);
        assert_eq!(plan.due(), at(9_500));
        assert_eq!(plan.step(Happening::Tick, at(9_500)), Some(Action::Interrupt));
        // What it says of being asked to end does not undo what it had done.
        assert_eq!(
            actions(&mut plan, &[(Happening::Done(None), 9_600), (Happening::Tick, 11_500)]),
            [None, Some(Action::Terminate)]
        );
        actions(&mut plan, &[(Happening::Failed(1), 11_600)]);
        assert!(plan.is_leaving() && plan.is_done());
        actions(&mut plan, &[(Happening::Alone, 11_700)]);
        assert_eq!(plan.ended(), Some(Ended { exit: Some(1), cut: Some(Cut::Lingered), left: false }));
    }

    #[test]
    fn one_that_is_never_quiet_meets_the_limit() {
        let mut plan = plan();
        let chatter = (1..10).map(|second| (done(second * 1_000), second * 1_000));
        actions(&mut plan, &chatter.collect::<Vec<_>>());
        assert_eq!(plan.step(Happening::Tick, at(10_000)), Some(Action::Interrupt));
        plan.step(Happening::Gone(9), at(10_001));
        assert_eq!(plan.ended(), Some(Ended { exit: Some(9), cut: Some(Cut::Timeout), left: false }));
    }

    #[test]
    fn leftovers_of_work_that_is_done_have_a_grace_and_then_get_term_and_kill() {
        let mut plan = plan();
        let steps = [
            (Happening::Exited(0), 500),
            // What it printed last is read after its end.
            (done(499), 600),
            (Happening::Tick, 2_499),
            (Happening::Tick, 2_500),
            (Happening::Tick, 2_700),
        ];
        assert_eq!(
            actions(&mut plan, &steps),
            [None, None, None, Some(Action::TerminateLeftovers), Some(Action::Kill)]
        );
        let mut plan = super::tests::plan();
        actions(&mut plan, &[(Happening::Exited(0), 500), (Happening::Alone, 900)]);
        assert_eq!(plan.ended(), Some(Ended { exit: Some(0), cut: None, left: false }));
    }

    #[test]
    fn leftovers_of_work_that_is_not_done_have_none() {
        let mut plan = plan();
        assert_eq!(
            actions(&mut plan, &[(Happening::Exited(0), 500), (Happening::Tick, 1_500)]),
            [None, Some(Action::TerminateLeftovers)]
        );
        let mut plan = super::tests::plan();
        assert_eq!(plan.step(Happening::Failed(3), at(500)), Some(Action::TerminateLeftovers));
    }

    #[test]
    fn leftovers_can_be_kept_when_the_work_is_done_and_only_then() {
        let keep = || Plan::new(Limits { leftovers: Leftovers::Keep, ..limits() });
        let mut plan = keep();
        let steps = [(Happening::Exited(0), 500), (Happening::Tick, 510), (done(499), 520)];
        assert_eq!(actions(&mut plan, &steps), [None; 3]);
        assert_eq!(plan.ended(), None);
        assert_eq!(plan.step(Happening::Tick, at(530)), None);
        assert_eq!(plan.ended(), Some(Ended { exit: Some(0), cut: None, left: false }));
        let mut plan = keep();
        assert_eq!(
            actions(&mut plan, &[(Happening::Exited(0), 500), (Happening::Tick, 1_500)]),
            [None, Some(Action::TerminateLeftovers)]
        );
    }
}
