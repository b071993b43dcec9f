//! The final answer of a run.

use crate::NAME;
use crate::args::Config;
use crate::read::{self, Listener};
use common::edge::output::Output;
use common::face::exit::Status;
use common::face::say;
use common::face::terminal::Target;
use common::flow::event::{Event, MESSAGE_CAP};
use common::flow::sentinel::Reading;
use common::flow::stream::Line;
use common::flow::verdict::{Message, Verdict};

/// Prints the last message, and gives the verdict as the status.
pub fn run(config: &Config) -> Result<Status, Status> {
    let mut judge = Judge(Verdict::new());
    read::events(config, &mut judge)?;
    let Judge(verdict) = judge;
    match verdict.message() {
        Some(Message { whole: false, .. }) => {
            say::line(NAME, &format!("answer: longer than {MESSAGE_CAP} bytes: not kept"));
            Ok(Status::NO)
        }
        Some(Message { text, .. }) if !text.trim().is_empty() => {
            print(text)?;
            Ok(if verdict.ends_in_failure() { Status::NO } else { Status::DONE })
        }
        _ => Ok(Status::NO),
    }
}

struct Judge(Verdict);

impl Listener for Judge {
    fn event(&mut self, event: Event<'_>, line: Line<'_>) {
        self.0.observe(&event);
        if let Some(reading) = Reading::of(line.scan) {
            self.0.settle(reading.is_completed());
        }
    }
}

/// To a file or a pipe goes the exact text, to a terminal what does it no harm; both end in LF.
fn print(text: &str) -> Result<(), Status> {
    let text = Target::stdout().text(text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = Output::stdout().and_then(|mut stdout| stdout.bytes(format!("{text}{end}").as_bytes()));
    written.map_err(|error| say::lost_stdout(NAME, &error))
}
