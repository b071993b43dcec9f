//! Errors, failures and the end of a run.
//!
//! An `error` event is a warning when the run goes on after it, and the failure when it is the last event. The next event
//! shows which, so an error is shown when that has come, or when the input pauses.

use crate::page::{LabelStyle, Page};
use common::flow::cause::Cause;
use common::flow::event::{Event, FAILURE_CAP, Text};
use common::flow::scan::Scan;
use common::flow::sentinel::ReadSentinel;

/// Shows errors and failures.
#[derive(Debug, Default)]
pub struct Failures {
    /// The last event, when it is an `error`.
    last: Option<LastError>,
}

#[derive(Debug)]
struct LastError {
    message: Option<String>,
    /// Whether it was shown, as a warning.
    is_shown: bool,
}

impl Failures {
    /// Takes the next event, whose line is `scan`.
    pub fn event(&mut self, event: Event<'_>, scan: Scan<'_>, page: &mut Page) {
        match event {
            Event::Error(message) => {
                self.went_on(page);
                self.last = Some(LastError { message: message.map(str::to_owned), is_shown: false });
            }
            Event::TurnFailed(message) => match self.last.take() {
                // Codex reports the reason twice, as an `error` and in the failed turn.
                Some(LastError { message: earlier, .. })
                    if message.is_none() || earlier.as_deref() == message =>
                {
                    fail(earlier.as_deref(), page);
                }
                last => {
                    self.last = last;
                    self.went_on(page);
                    fail(message, page);
                }
            },
            Event::LauncherLine => match ReadSentinel::of(scan) {
                Some(sentinel) => self.sentinel(&sentinel, page),
                None => self.went_on(page),
            },
            _ => self.went_on(page),
        }
    }

    /// Whether an `error` waits for the next event.
    pub fn awaits_next(&self) -> bool {
        self.last.as_ref().is_some_and(|last| !last.is_shown)
    }

    /// Shows an `error` that waits as a warning: the input pauses, and the run seems to go on.
    pub fn pause(&mut self, page: &mut Page) {
        if let Some(last) = &mut self.last
            && !last.is_shown
        {
            warn(last, page);
            last.is_shown = true;
        }
    }

    /// Shows how the run ended, as its sentinel says.
    fn sentinel(&mut self, sentinel: &ReadSentinel<'_>, page: &mut Page) {
        if sentinel.is_completed() {
            self.went_on(page);
            let time = sentinel.elapsed_seconds().map_or(String::new(), |time| format!(" in {time}s"));
            let lingered = if sentinel.lingered() { " (did not end by itself)" } else { "" };
            page.label(LabelStyle::Success, &format!("Completed{time}{lingered}"));
            return;
        }
        self.end(page);
        let cause = sentinel.cause();
        let rc = sentinel.rc().map(|rc| format!("status {rc}"));
        let details: Vec<String> = rc.into_iter().chain(cause.map(str::to_owned)).collect();
        let details = match details.join(", ") {
            empty if empty.is_empty() => empty,
            details => format!(" ({details})"),
        };
        let text = format!("{}{details}", sentinel.reason().unwrap_or("no reason given"));
        failed(cause == Some(Cause::Auth.word()), Text::whole(&text), page);
    }

    /// An event came after the error.
    fn went_on(&mut self, page: &mut Page) {
        self.pause(page);
        self.last = None;
    }

    /// Shows an `error` that waits as the failure: the stream ends.
    pub fn end(&mut self, page: &mut Page) {
        if let Some(last) = self.last.take() {
            fail(last.message.as_deref(), page);
        }
    }
}

fn warn(last: &LastError, page: &mut Page) {
    page.block(LabelStyle::Warning, "Warning: ", message_text(last.message.as_deref()));
}

fn fail(message: Option<&str>, page: &mut Page) {
    let is_sign_in = message.and_then(Cause::named_in) == Some(Cause::Auth);
    failed(is_sign_in, message_text(message), page);
}

fn failed(is_sign_in: bool, text: Text<'_>, page: &mut Page) {
    let label = if is_sign_in { "Failed (sign-in): " } else { "Failed: " };
    page.block(LabelStyle::Failure, label, text);
}

/// The text of a failure's message. A message of about the maximum length counts as cut.
pub fn message_text(message: Option<&str>) -> Text<'_> {
    const LONGEST_CHARACTER: usize = 4;
    match message {
        None | Some("") => Text::whole("no message"),
        Some(text) => Text { text, whole: text.len() + LONGEST_CHARACTER <= FAILURE_CAP },
    }
}
