//! The report on a run: what the launcher prints on stderr at its end.

use crate::NAME;
use crate::finish::ending::{Ending, Failure};
use crate::finish::output_errors::OutputErrors;
use crate::prepare::check::Refusal;
use crate::run::supervise::{Cut, Descendant, Leftovers, Over};
use common::face::exit::Status;
use common::face::say;
use common::flow::cause::Cause;
use common::flow::sentinel::Verdict;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// How much of a message is printed, in bytes.
const SHOWN: usize = 4000;

/// How many processes are named in one line.
const NAMED: usize = 10;

/// What the report says beyond the ending.
#[derive(Debug)]
pub struct Report {
    /// What the stream said.
    pub verdict: Verdict,
    /// The number of lines that were noise.
    pub noise: u64,
    /// The end of stderr and noise.
    pub stderr_and_noise: String,
    /// How the processes ended, and what was asked for of those that Codex left.
    pub over: Option<(Over, Leftovers)>,
    /// The processes that are or may be alive, a line each.
    pub left: Vec<String>,
}

impl Report {
    /// The report on a run whose Codex was not started.
    pub fn of_nothing(verdict: Verdict) -> Report {
        Report { verdict, noise: 0, stderr_and_noise: String::new(), over: None, left: Vec::new() }
    }

    /// Prints it on stderr. On failure it begins with the reason, the last message or failure that Codex reported, and the
    /// end of stderr. Then comes what else went wrong, and always, as the last line, the time.
    pub fn print(&self, ending: &Ending, output_errors: &OutputErrors, elapsed: Duration) {
        if matches!(ending, Ending::Failed(_)) {
            self.failure(ending);
        }
        // The first output error is the reason of such a failure, and is printed already.
        let is_reason =
            matches!(ending, Ending::Failed(Failure { cause: Some(Cause::Io | Cause::Tampered), .. }));
        output_errors.lines().skip(usize::from(is_reason)).for_each(|line| say::line(NAME, line));
        match self.noise {
            0 => {}
            1 => say::line(NAME, "stdout: 1 line of codex was not an event"),
            lines => say::line(NAME, &format!("stdout: {lines} lines of codex were not events")),
        }
        if let Some((over, leftovers)) = &self.over {
            processes(ending, over, *leftovers);
        }
        left(&self.left);
        self::elapsed(elapsed);
    }

    fn failure(&self, ending: &Ending) {
        failure(ending);
        let message = || self.verdict.message().map(|message| message.text.as_str());
        if let Some(last) = self.verdict.failure().or_else(message) {
            quote("codex said last: ", &beginning(last));
        }
        if !self.stderr_and_noise.trim().is_empty() {
            quote("the end of codex's stderr:\n| ", &self.stderr_and_noise);
        }
    }
}

/// Prints the report on a run whose progress file is a pipe that nobody reads, with the sentinel that it did not take.
pub fn unread(status: Status, ending: &Ending, started: Instant) -> Refusal {
    failure(ending);
    let time = started.elapsed();
    unsealed(&ending.sentinel(time.as_secs(), None).line());
    elapsed(time);
    Refusal::Said(status)
}

fn processes(ending: &Ending, over: &Over, leftovers: Leftovers) {
    let has_completed = matches!(ending, Ending::Completed { .. });
    if over.ended.cut == Some(Cut::Lingered) || matches!(ending, Ending::Completed { lingered: true }) {
        say::line(NAME, "codex did not end behind its completed turn, and was ended");
    }
    let are_named = has_completed || leftovers != Leftovers::Grace(Duration::ZERO);
    if are_named && !over.leftovers.is_empty() {
        let names = names(&over.leftovers);
        let line = match leftovers {
            Leftovers::Keep => format!("left behind: lives on, as --keep-leftovers asks for: {names}"),
            Leftovers::Grace(Duration::ZERO) => format!("left behind: ended at once: {names}"),
            Leftovers::Grace(grace) => {
                format!("left behind: ended after {}s: {names}", grace.as_secs_f64())
            }
        };
        say::line(NAME, &line);
    }
}

/// The processes by number and program, up to [`NAMED`] of them.
fn names(processes: &[Descendant]) -> String {
    let shown: Vec<String> =
        processes.iter().take(NAMED).map(|process| format!("{} {}", process.pid, process.name)).collect();
    let more = match processes.len() - shown.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    shown.join(", ") + &more
}

/// Prints the lines about processes that are left alive.
pub fn left(lines: &[String]) {
    lines.iter().for_each(|line| say::line(NAME, line));
}

/// Prints the time, as the last line.
pub fn elapsed(elapsed: Duration) {
    say::line(NAME, &format!("elapsed={}s", elapsed.as_secs()));
}

/// Prints why a run failed, in one line.
pub fn failure(ending: &Ending) {
    if let Ending::Failed(failure) = ending {
        let cause = failure.cause.map_or(String::new(), |cause| format!(" ({})", cause.word()));
        say::line(NAME, &format!("failed: {}{cause}", failure.words));
    }
}

/// Prints a sentinel that the progress file did not take.
pub fn unsealed(sentinel: &str) {
    say::line(NAME, "progress file: the sentinel could not be written, and is:");
    say::block(sentinel.trim_end());
}

/// Prints a text of Codex, after `words`. Each further line begins with a mark that no line of the launcher has, because a
/// text can contain anything that the launcher prints.
fn quote(words: &str, text: &str) {
    let text = text.strip_suffix('\n').unwrap_or(text).replace('\n', "\n| ");
    say::block(&format!("{NAME}: {words}{text}"));
}

fn beginning(text: &str) -> Cow<'_, str> {
    if text.len() <= SHOWN {
        return text.into();
    }
    format!("{}…", &text[..text.floor_char_boundary(SHOWN)]).into()
}
