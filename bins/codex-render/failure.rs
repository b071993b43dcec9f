//! What goes wrong in a run, and how it ends.
//!
//! An `error` event is a warning when the run goes on after it, and its failure when nothing comes after it. Which of
//! the two it is shows only in the next event, so it waits for that, as long as the input does not pause.

use crate::page::{Look, Page};
use common::flow::cause::Cause;
use common::flow::event::{Event, FAILURE_CAP, Text};
use common::flow::scan::Scan;
use common::flow::sentinel::ReadSentinel;

/// The last event, when it is an `error`.
#[derive(Debug, Default)]
pub struct Failures {
    last: Option<Last>,
}

#[derive(Debug)]
struct Last {
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
                self.last = Some(Last { message: message.map(str::to_owned), is_shown: false });
            }
            Event::TurnFailed(message) => match self.last.take() {
                // Codex says the reason twice, as an `error` and in the failure itself.
                Some(Last { message: said, .. }) if message.is_none() || said.as_deref() == message => {
                    fail(said.as_deref(), page);
                }
                last => {
                    self.last = last;
                    self.went_on(page);
                    fail(message, page);
                }
            },
            Event::LauncherLine => match ReadSentinel::of(scan) {
                Some(sentinel) => self.sealed(&sentinel, page),
                None => self.went_on(page),
            },
            _ => self.went_on(page),
        }
    }

    /// Whether an `error` waits.
    pub fn awaits_next(&self) -> bool {
        self.last.as_ref().is_some_and(|last| !last.is_shown)
    }

    /// The input pauses: as far as can be told, the run goes on.
    pub fn pause(&mut self, page: &mut Page) {
        if let Some(last) = &mut self.last
            && !last.is_shown
        {
            warn(last, page);
            last.is_shown = true;
        }
    }

    /// A sentinel ends the run, and decides whether it failed.
    fn sealed(&mut self, sentinel: &ReadSentinel<'_>, page: &mut Page) {
        if sentinel.is_completed() {
            self.went_on(page);
            let time = sentinel.elapsed_seconds().map_or(String::new(), |time| format!(" in {time}s"));
            let lingered = if sentinel.lingered() { " (did not end by itself)" } else { "" };
            page.label(Look::Success, &format!("Completed{time}{lingered}"));
            return;
        }
        self.end(page);
        let cause = sentinel.cause();
        let rc = sentinel.rc().map(|rc| format!("status {rc}"));
        let details: Vec<String> = rc.into_iter().chain(cause.map(str::to_owned)).collect();
        let details = match details.join(", ") {
            none if none.is_empty() => none,
            some => format!(" ({some})"),
        };
        let words = format!("{}{details}", sentinel.reason().unwrap_or("no reason given"));
        failed(cause == Some(Cause::Auth.word()), Text::whole(&words), page);
    }

    /// Something came after it.
    fn went_on(&mut self, page: &mut Page) {
        self.pause(page);
        self.last = None;
    }

    /// Nothing comes after it.
    pub fn end(&mut self, page: &mut Page) {
        if let Some(last) = self.last.take() {
            fail(last.message.as_deref(), page);
        }
    }
}

fn warn(last: &Last, page: &mut Page) {
    page.block(Look::Warning, "Warning: ", words(last.message.as_deref()));
}

fn fail(message: Option<&str>, page: &mut Page) {
    let is_sign_in = message.and_then(Cause::named_in) == Some(Cause::Auth);
    failed(is_sign_in, words(message), page);
}

fn failed(is_sign_in: bool, words: Text<'_>, page: &mut Page) {
    let label = if is_sign_in { "Failed (sign-in): " } else { "Failed: " };
    page.block(Look::Failure, label, words);
}

/// A message of a failure. One that may have been cut where it is kept is shown as if it was.
pub fn words(message: Option<&str>) -> Text<'_> {
    const LONGEST_CHARACTER: usize = 4;
    match message {
        None | Some("") => Text::whole("no message"),
        Some(text) => Text { text, whole: text.len() + LONGEST_CHARACTER <= FAILURE_CAP },
    }
}
