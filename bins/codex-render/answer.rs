//! The final answer of a run.

use crate::NAME;
use crate::args::RenderConfig;
use crate::read::{self, EventSink};
use common::edge::output::Output;
use common::face::exit::Status;
use common::face::printed::Printed;
use common::face::say;
use common::face::terminal::Target;
use common::flow::event::{Event, MESSAGE_CAP};
use common::flow::sentinel::{Decision, Message, ReadSentinel, Rule, Verdict};
use common::flow::stream::Line;

/// Prints the last message. The status says whether there is one and the run succeeded.
pub fn run(config: &RenderConfig) -> Result<Status, Printed> {
    let mut sink = AnswerSink(Verdict::new());
    let counts = read::events(config, &mut sink)?;
    // Without an event there is no answer, which is status 1.
    counts.fault(&config.source).iter().for_each(|fault| say::line(NAME, fault));
    let AnswerSink(verdict) = sink;
    match verdict.message() {
        Some(Message { whole: false, .. }) => {
            say::line(NAME, &format!("answer: longer than {MESSAGE_CAP} bytes: not kept"));
            Ok(Status::NO)
        }
        Some(Message { text, .. }) if verdict.has_message() => {
            print(text)?;
            Ok(match verdict.decide(Rule::NoFailureLast, true) {
                Decision::Completed => Status::DONE,
                _ => Status::NO,
            })
        }
        _ => Ok(Status::NO),
    }
}

/// Judges the run by its events.
struct AnswerSink(Verdict);

impl EventSink for AnswerSink {
    fn event(&mut self, event: Event<'_>, line: Line<'_>) {
        self.0.observe(&event);
        if let Some(sentinel) = ReadSentinel::of(line.scan) {
            self.0.observe_sentinel(sentinel.is_completed());
        }
    }
}

/// Prints the exact text to a file or a pipe, and with escapes to a terminal; both end in LF.
fn print(text: &str) -> Result<(), Printed> {
    let text = Target::stdout().text(text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = Output::stdout().and_then(|mut stdout| stdout.bytes(format!("{text}{end}").as_bytes()));
    written.map_err(|error| Printed::stdout_failure(NAME, &error))
}
