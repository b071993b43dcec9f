//! What stderr is told at the end of a run.

use crate::NAME;
use crate::finish::ending::{Ending, Failure};
use crate::finish::output_errors::OutputErrors;
use crate::run::supervise::{Cut, Descendant, Leftovers, Over};
use common::face::say;
use common::flow::cause::Cause;
use common::flow::sentinel::Verdict;
use std::borrow::Cow;
use std::time::Duration;

/// How much of a message is shown.
const SHOWN: usize = 4000;

/// How many processes are named.
const NAMED: usize = 10;

/// What there is to tell beyond the ending.
#[derive(Debug)]
pub struct Details<'a> {
    /// What the stream said.
    pub verdict: &'a Verdict,
    /// The end of stderr, noise included.
    pub stderr: &'a str,
    /// How many lines were noise.
    pub noise: u64,
    /// What could not be written, and why.
    pub output_errors: &'a OutputErrors,
    /// How its processes ended, and what was asked for of those that it left.
    pub over: Option<(&'a Over, Leftovers)>,
    /// What is known to be alive, or may be.
    pub left: &'a [String],
    /// The time since Codex started.
    pub elapsed: Duration,
}

/// Tells it: on failure the reason, the last message or failure that Codex reported and the end of its stderr; what
/// else went wrong; and always, last, the time it took.
pub fn tell(ending: &Ending, details: &Details<'_>) {
    if matches!(ending, Ending::Failed(_)) {
        tell_failure(ending, details);
    }
    let told = matches!(ending, Ending::Failed(Failure { cause: Some(Cause::Io | Cause::Tampered), .. }));
    details.output_errors.lines().skip(usize::from(told)).for_each(|line| say::line(NAME, line));
    match details.noise {
        0 => {}
        1 => say::line(NAME, "stdout: 1 line of codex was not an event"),
        lines => say::line(NAME, &format!("stdout: {lines} lines of codex were not events")),
    }
    if let Some((over, leftovers)) = details.over {
        tell_over(ending, over, leftovers);
    }
    left(details.left);
    elapsed(details.elapsed);
}

fn tell_over(ending: &Ending, over: &Over, leftovers: Leftovers) {
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

/// Processes by number and program, as many as a line holds.
fn names(processes: &[Descendant]) -> String {
    let shown: Vec<String> =
        processes.iter().take(NAMED).map(|process| format!("{} {}", process.pid, process.name)).collect();
    let more = match processes.len() - shown.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    shown.join(", ") + &more
}

/// Tells what is left alive.
pub fn left(lines: &[String]) {
    lines.iter().for_each(|line| say::line(NAME, line));
}

/// Tells the time, as the last line.
pub fn elapsed(elapsed: Duration) {
    say::line(NAME, &format!("elapsed={}s", elapsed.as_secs()));
}

/// Tells why a run failed, in one line.
pub fn failure(ending: &Ending) {
    if let Ending::Failed(failure) = ending {
        let cause = failure.cause.map_or(String::new(), |cause| format!(" ({})", cause.word()));
        say::line(NAME, &format!("failed: {}{cause}", failure.words));
    }
}

/// Tells a sentinel that the progress file did not take, so that it is said at all.
pub fn unsealed(sentinel: &str) {
    say::line(NAME, "progress file: the sentinel could not be written, and is:");
    say::block(sentinel.trim_end());
}

fn tell_failure(ending: &Ending, details: &Details<'_>) {
    failure(ending);
    let last = details.verdict.failure().or(details.verdict.message().map(|message| message.text.as_str()));
    if let Some(last) = last {
        quote("codex said last: ", &beginning(last));
    }
    if !details.stderr.trim().is_empty() {
        quote("the end of codex's stderr:\n| ", details.stderr);
    }
}

/// Tells what Codex said behind the words that say so. Each further line has a mark that no line of the launcher has: a
/// message can hold anything that a launcher would say.
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
