//! How a run ended: one table, from what happened to sentinel, status and reason.

use crate::finish::answer::Answer;
use crate::finish::output_errors::OutputErrors;
use crate::prepare::args::Decide;
use crate::run::supervise::{Cut, Ended, Exit};
use common::face::exit::Status;
use common::flow::cause::Cause;
use common::flow::event::MESSAGE_CAP;
use common::flow::sentinel::{Decision, Reason, Rule, Sentinel, Turn, Verdict};
use std::time::Duration;

/// What happened.
#[derive(Debug)]
pub struct Facts<'a> {
    /// How Codex ended, and why it was cut short.
    pub ended: Ended<Exit>,
    /// What its stream said.
    pub verdict: &'a Verdict,
    /// What it left as its answer.
    pub answer: &'a Answer,
    /// The end of its stderr.
    pub stderr: &'a str,
    /// What success is.
    pub decide: Decide,
    /// The wall limit.
    pub limit: Duration,
}

impl Facts<'_> {
    /// Whether the run completed by its stream and its answer.
    fn is_completed(&self) -> bool {
        self.decision(Rule::TurnCompleted) == Decision::Completed
    }

    fn decision(&self, rule: Rule) -> Decision {
        self.verdict.decide(rule, matches!(self.answer, Answer::Text(_)))
    }
}

/// How the run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It completed; `lingered` when Codex had to be ended behind that.
    Completed {
        /// Whether Codex did not end by itself.
        lingered: bool,
    },
    /// It failed.
    Failed(Failure),
}

/// How a run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The launcher's exit status.
    pub status: Status,
    /// Which of the three reasons.
    pub kind: Kind,
    /// The cause, where it is known.
    pub cause: Option<Cause>,
    /// The reason in words.
    pub words: String,
}

/// The reasons of a failed sentinel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Timeout,
    Cancelled,
    Error,
}

/// What the caller sees of a launcher whose first process was killed: nothing but KILL ends that one.
pub const ABANDONED: Status = Status::KILLED;

impl Ending {
    /// Decides. Time limit, cancel and wrong thread come first: they say why the run was cut short, whatever Codex
    /// made of the signals it got. A Codex that was ended because it lingered is judged by what it had done before. Where
    /// the stream alone decides, so is one that had completed when its time was up.
    pub fn of(facts: &Facts<'_>) -> Ending {
        match (facts.ended.cut, facts.decide) {
            (Some(Cut::Lingered), _) => by_answer(facts, None),
            (Some(Cut::Timeout), Decide::Stream) if facts.is_completed() => by_answer(facts, None),
            (Some(cut), _) => Ending::cut(cut, facts.limit),
            (None, Decide::Status) => by_status(facts),
            (None, Decide::Stream) => by_stream(facts),
        }
    }

    /// The ending of a run that was cut short.
    pub fn cut(cut: Cut, limit: Duration) -> Ending {
        match cut {
            Cut::Lingered => Ending::Completed { lingered: true },
            Cut::Timeout => {
                let words = format!("timed out after {}s", limit.as_secs_f64());
                fail(Status::TIMEOUT, Kind::Timeout, None, words)
            }
            Cut::Cancelled(signal) => fail(
                Status::signal(signal),
                Kind::Cancelled,
                None,
                format!("cancelled by {}", signal_name(signal)),
            ),
            Cut::Halted => {
                let words = "codex began another thread than the one to resume";
                error(Status::LAUNCHER, Some(Cause::WrongThread), words)
            }
            Cut::Abandoned => Ending::lost(ABANDONED, None),
        }
    }

    /// The ending, with `status`, of a run whose progress file has a reader that takes nothing.
    pub fn unread(status: Status) -> Ending {
        let words = "progress file: its reader takes nothing";
        if status == Status::IO {
            return Ending::unwritten(words);
        }
        fail(status, Kind::Cancelled, None, words.to_owned())
    }

    /// The ending of a run whose program could not be started.
    pub fn not_started(why: &str) -> Ending {
        error(Status::CANNOT_EXECUTE, Some(Cause::Spawn), &format!("codex cannot be executed: {why}"))
    }

    /// The ending of a run that one of the launcher's two processes did not live to see; `signal` killed it.
    pub fn lost(status: Status, signal: Option<i32>) -> Ending {
        let by = signal.map_or(String::new(), |signal| format!(" by {}", signal_name(signal)));
        error(status, Some(Cause::Lost), &format!("one of the launcher's two processes was killed{by}"))
    }

    /// The ending of a run whose user lost drain_deadline with the reader of the answer.
    pub fn given_up(status: Status) -> Ending {
        fail(status, Kind::Cancelled, None, "cancelled while nobody took the answer".to_owned())
    }

    /// This ending, or a failure when a file of the run could not be written. A run that failed has failed of its
    /// own reason.
    pub fn unless_lost(self, output_errors: &OutputErrors) -> Ending {
        match (self, output_errors.first()) {
            (Ending::Completed { .. }, Some((line, cause))) => error(Status::IO, Some(cause), line),
            (ending, _) => ending,
        }
    }

    /// The ending of a run of which something could not be written.
    fn unwritten(what: &str) -> Ending {
        error(Status::IO, Some(Cause::Io), what)
    }

    /// The sentinel of this ending where the progress file itself loses something.
    pub fn sentinel_if_lost(&self, elapsed_seconds: u64, output_tokens: Option<u64>) -> Sentinel {
        match self {
            Ending::Completed { .. } => Ending::unwritten("").sentinel(elapsed_seconds, None),
            ending => ending.sentinel(elapsed_seconds, output_tokens),
        }
    }

    /// The launcher's exit status.
    pub fn status(&self) -> Status {
        match self {
            Ending::Completed { .. } => Status::DONE,
            Ending::Failed(failure) => failure.status,
        }
    }

    /// The sentinel that says so.
    pub fn sentinel(&self, elapsed_seconds: u64, output_tokens: Option<u64>) -> Sentinel {
        match self {
            Ending::Completed { lingered } => {
                Sentinel::Completed { elapsed_seconds, output_tokens, lingered: *lingered }
            }
            Ending::Failed(failure) => {
                let reason = match failure.kind {
                    Kind::Timeout => Reason::Timeout,
                    Kind::Cancelled => Reason::Cancelled,
                    Kind::Error => Reason::Error { rc: failure.status.code() },
                };
                Sentinel::Failed { reason, elapsed_seconds, cause: failure.cause }
            }
        }
    }
}

fn by_status(facts: &Facts<'_>) -> Ending {
    match facts.ended.exit {
        Some(Exit::Code(0)) => {
            let named = match facts.decision(Rule::TurnCompleted) {
                Decision::Completed | Decision::NoAnswer => return by_answer(facts, None),
                Decision::Failed => facts.verdict.failure().and_then(Cause::named_in),
                Decision::Incomplete => None,
            };
            let cause = named.unwrap_or(Cause::Incomplete);
            error(Status::NO_RESULT, Some(cause), "codex ended with status 0 and no completed turn")
        }
        Some(Exit::Code(code)) => {
            error(Status::of_program(code), named_cause(facts), &format!("codex ended with status {code}"))
        }
        Some(Exit::Signal(signal)) => {
            let words = format!("codex was killed by {}", signal_name(signal));
            error(Status::signal(signal), Some(Cause::Killed), &words)
        }
        // Only a run that was cut short can have a Codex that KILL did not end.
        None => error(Status::LAUNCHER, None, "codex does not end"),
    }
}

fn by_stream(facts: &Facts<'_>) -> Ending {
    if facts.decision(Rule::NoFailedTurn) == Decision::Failed {
        return error(Status::NO, named_cause(facts), "the turn failed");
    }
    by_answer(facts, named_cause(facts))
}

fn by_answer(facts: &Facts<'_>, cause: Option<Cause>) -> Ending {
    let words = match facts.answer {
        Answer::Text(_) => return Ending::Completed { lingered: facts.ended.cut.is_some() },
        Answer::Nothing => "codex left no answer".to_owned(),
        Answer::NotJson => "the answer is not one JSON value, as --output-schema asks for".to_owned(),
        Answer::Torn => {
            return Ending::unwritten(&format!(
                "the answer file is not whole, and its message is over {MESSAGE_CAP} bytes"
            ));
        }
        Answer::TooLong => {
            format!(
                "the answer is too long: a file over 64 MiB, or a message over {MESSAGE_CAP} bytes and no file"
            )
        }
    };
    error(Status::NO_RESULT, cause.or(Some(Cause::NoResult)), &words)
}

/// The cause that the last failure message names or, where the stream does not tell how its turn ended, the end of
/// stderr. Texts of items never count: a command may print anything.
fn named_cause(facts: &Facts<'_>) -> Option<Cause> {
    match (facts.verdict.failure(), facts.verdict.turn()) {
        (Some(failure), _) => Cause::named_in(failure),
        (None, Turn::None | Turn::Open) => Cause::named_on_stderr(facts.stderr),
        (None, Turn::Completed | Turn::Failed) => None,
    }
}

fn error(status: Status, cause: Option<Cause>, words: &str) -> Ending {
    fail(status, Kind::Error, cause, words.to_owned())
}

fn fail(status: Status, kind: Kind, cause: Option<Cause>, words: String) -> Ending {
    Ending::Failed(Failure { status, kind, cause, words })
}

/// A signal as people know it.
fn signal_name(signal: i32) -> String {
    nix::sys::signal::Signal::try_from(signal)
        .map_or(format!("signal {signal}"), |name| name.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::flow::event::Event;

    const S: Event<'_> = Event::TurnStarted;
    const M: Event<'_> = Event::AgentMessage { text: "ok", whole: true };
    const C: Event<'_> = Event::TurnCompleted(Some(1));
    const F: Event<'_> = Event::TurnFailed(Some("unexpected status 401 Unauthorized"));
    const E: Event<'_> = Event::Error(Some("Reconnecting... 2/5 (stream disconnected)"));

    fn full() -> OutputErrors {
        let mut output_errors = OutputErrors::new();
        output_errors.note("progress file", Some(std::io::ErrorKind::StorageFull.into()));
        output_errors
    }

    /// Status and cause of a run of `events` that ended with `exit`; the answer is the text `ok` when there is a
    /// message.
    fn ending(events: &[Event<'_>], exit: Exit, decide: Decide) -> (u8, Option<&'static str>) {
        let mut verdict = Verdict::new();
        events.iter().for_each(|event| verdict.observe(event));
        let answer = Answer::of(Err(std::io::ErrorKind::NotFound.into()), &verdict, false);
        let facts = Facts {
            ended: Ended { exit: Some(exit), cut: None, left: false },
            verdict: &verdict,
            answer: &answer,
            stderr: "a command said: context window",
            decide,
            limit: Duration::from_secs(1),
        };
        match Ending::of(&facts) {
            Ending::Completed { .. } => (0, None),
            Ending::Failed(failure) => (failure.status.code(), failure.cause.map(Cause::word)),
        }
    }

    #[test]
    fn status_and_stream_must_both_say_so() {
        for (events, exit, expected) in [
            (&[S, M, C][..], Exit::Code(0), (0, None)),
            (&[S, E, M, C], Exit::Code(0), (0, None)),
            (&[S], Exit::Code(0), (70, Some("incomplete"))),
            (&[], Exit::Code(0), (70, Some("incomplete"))),
            (&[S, M, C, S], Exit::Code(0), (70, Some("incomplete"))),
            (&[S, E, M, E], Exit::Code(0), (70, Some("incomplete"))),
            (&[S, F], Exit::Code(0), (70, Some("auth"))),
            (&[S, C], Exit::Code(0), (70, Some("no-result"))),
            (&[S, E, F], Exit::Code(1), (1, Some("auth"))),
            (&[S, E], Exit::Code(1), (1, Some("transport"))),
            (&[S], Exit::Code(1), (1, Some("context-full"))),
            (&[S, M, C], Exit::Code(101), (101, None)),
            (&[S, M, C], Exit::Signal(9), (137, Some("killed"))),
        ] {
            assert_eq!(ending(events, exit, Decide::Status), expected, "{events:?} {exit:?}");
        }
    }

    #[test]
    fn the_stream_alone_can_decide() {
        for (events, exit, expected) in [
            (&[S, M, C][..], Exit::Code(1), (0, None)),
            (&[S, M], Exit::Signal(9), (0, None)),
            (&[S, M, E], Exit::Code(1), (0, None)),
            (&[S, M, F], Exit::Code(0), (1, Some("auth"))),
            (&[S, C], Exit::Code(0), (70, Some("no-result"))),
            (&[S, E], Exit::Code(1), (70, Some("transport"))),
        ] {
            assert_eq!(ending(events, exit, Decide::Stream), expected, "{events:?} {exit:?}");
        }
    }

    #[test]
    fn a_cut_comes_before_all_else() {
        let verdict = Verdict::new();
        let cut = |cut| {
            let facts = Facts {
                ended: Ended { exit: Some(Exit::Code(0)), cut: Some(cut), left: false },
                verdict: &verdict,
                answer: &Answer::Text(b"ok".to_vec()),
                stderr: "",
                decide: Decide::Stream,
                limit: Duration::from_millis(1500),
            };
            Ending::of(&facts).unless_lost(&full())
        };
        let failed = |status, kind, cause, words: &str| {
            Ending::Failed(Failure { status, kind, cause, words: words.to_owned() })
        };
        assert_eq!(cut(Cut::Timeout), failed(Status::TIMEOUT, Kind::Timeout, None, "timed out after 1.5s"));
        assert_eq!(
            cut(Cut::Cancelled(15)),
            failed(Status::signal(15), Kind::Cancelled, None, "cancelled by SIGTERM")
        );
        assert_eq!(
            cut(Cut::Halted),
            failed(
                Status::LAUNCHER,
                Kind::Error,
                Some(Cause::WrongThread),
                "codex began another thread than the one to resume"
            )
        );
    }

    #[test]
    fn a_codex_that_lingered_is_judged_by_what_it_had_done() {
        let after = |events: &[Event<'_>], cut, decide| {
            let mut verdict = Verdict::new();
            events.iter().for_each(|event| verdict.observe(event));
            let answer = Answer::of(Err(std::io::ErrorKind::NotFound.into()), &verdict, false);
            let facts = Facts {
                ended: Ended { exit: Some(Exit::Signal(9)), cut: Some(cut), left: false },
                verdict: &verdict,
                answer: &answer,
                stderr: "",
                decide,
                limit: Duration::from_secs(1),
            };
            Ending::of(&facts)
        };
        let completed = Ending::Completed { lingered: true };
        for decide in [Decide::Status, Decide::Stream] {
            // What it makes of being asked to end counts for nothing.
            for events in [&[S, M, C][..], &[S, M, C, S], &[S, M, C, F]] {
                assert_eq!(after(events, Cut::Lingered, decide), completed);
            }
        }
        assert_eq!(after(&[S, M, C], Cut::Timeout, Decide::Stream), completed);
        for (events, cut, decide) in [
            (&[S, M, C][..], Cut::Timeout, Decide::Status),
            (&[S, M, C], Cut::Cancelled(15), Decide::Stream),
            (&[S, M], Cut::Timeout, Decide::Stream),
            (&[S, M, C, S], Cut::Timeout, Decide::Stream),
            (&[S, C], Cut::Timeout, Decide::Stream),
        ] {
            assert!(matches!(after(events, cut, decide), Ending::Failed(_)), "{events:?} {cut:?}");
        }
    }

    #[test]
    fn a_lost_file_fails_only_what_completed() {
        assert_eq!(
            Ending::Completed { lingered: false }.unless_lost(&full()),
            Ending::Failed(Failure {
                status: Status::IO,
                kind: Kind::Error,
                cause: Some(Cause::Io),
                words: "progress file: write: no storage space".to_owned(),
            })
        );
        let completed = Ending::Completed { lingered: true };
        assert_eq!(completed.clone().unless_lost(&OutputErrors::new()), completed);
    }
}
