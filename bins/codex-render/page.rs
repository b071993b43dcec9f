//! The page: text on stdout, with control characters escaped and, on a terminal, coloured labels.

use crate::NAME;
use anstyle::{AnsiColor, Effects, Style};
use common::edge::output::Output;
use common::face::printed::Printed;
use common::face::safe;
use common::face::terminal::Target;
use common::flow::event::Text;
use std::borrow::Cow;
use std::io;

/// Size of the text at which it is written, in bytes.
const FLUSH_SIZE: usize = 64 * 1024;

/// How much of a text is escaped at a time, in bytes. Escaped, it can take six times its length.
const ESCAPED_AT_A_TIME: usize = 16 * 1024;

/// The style of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelStyle {
    /// For reasoning, token counts and the output of commands.
    Secondary,
    /// For what the agent does.
    Action,
    /// For errors after which the run goes on.
    Warning,
    /// For the failure of a run.
    Failure,
    /// For its completion.
    Success,
}

impl LabelStyle {
    fn style(self) -> Style {
        match self {
            LabelStyle::Secondary => Style::new().effects(Effects::DIMMED),
            LabelStyle::Action => AnsiColor::Cyan.on_default(),
            LabelStyle::Warning => AnsiColor::Yellow.on_default(),
            LabelStyle::Failure => AnsiColor::Red.on_default().bold(),
            LabelStyle::Success => AnsiColor::Green.on_default().bold(),
        }
    }
}

/// Text for stdout, collected and written together.
#[derive(Debug)]
pub struct Page {
    stdout: Output,
    colours: bool,
    text: String,
    /// The first write error; nothing is written after it.
    failed: Option<io::Error>,
}

impl Page {
    /// An empty page. Labels are coloured on a terminal with colours, unless NO_COLOR (no-color.org) is set.
    ///
    /// # Errors
    /// When the descriptor of stdout cannot be duplicated.
    pub fn new() -> Result<Page, Printed> {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        let colours = Target::stdout() == Target::Terminal && !is_set("NO_COLOR") && !is_dumb;
        let stdout = Output::stdout().map_err(|error| Printed::stdout_failure(NAME, &error))?;
        Ok(Page { stdout, colours, text: String::new(), failed: None })
    }

    /// Adds a text that may have several lines, without a label.
    pub fn text(&mut self, text: Text<'_>) {
        self.lines(without_line_end(text), true);
    }

    /// Adds a line that is only a label.
    pub fn label(&mut self, look: LabelStyle, label: &str) {
        self.line(look, label, Text::whole(""));
    }

    /// Adds a label and a text that may have several lines.
    pub fn block(&mut self, look: LabelStyle, label: &str, text: Text<'_>) {
        self.begin(look, label);
        self.lines(without_line_end(text), false);
    }

    /// Adds a label and a text on one line; line ends in the text are escaped.
    pub fn line(&mut self, look: LabelStyle, label: &str, text: Text<'_>) {
        self.begin(look, label);
        self.escaped(text.text, safe::line);
        self.end(text.whole);
    }

    fn begin(&mut self, look: LabelStyle, label: &str) {
        if self.colours {
            let style = look.style();
            self.text += &format!("{style}{label}{style:#}");
        } else {
            self.text += label;
        }
    }

    /// Adds a text that may have several lines. A line that looks like one of this program is quoted, if it starts where
    /// such a line would; `is_at_start` says so of the first one.
    fn lines(&mut self, text: Text<'_>, mut is_at_start: bool) {
        for line in text.text.split_inclusive('\n') {
            if is_at_start && looks_like_ours(line) {
                self.text += QUOTE;
            }
            self.escaped(line, safe::block);
            is_at_start = true;
        }
        self.end(text.whole);
    }

    fn escaped(&mut self, text: &str, escape: fn(&str) -> Cow<'_, str>) {
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.floor_char_boundary(ESCAPED_AT_A_TIME));
            self.text += &escape(piece);
            rest = behind;
            if self.text.len() >= FLUSH_SIZE {
                self.flush();
            }
        }
    }

    fn end(&mut self, is_whole: bool) {
        self.text += if is_whole { "\n" } else { "…\n" };
    }

    /// Writes the collected text.
    pub fn flush(&mut self) {
        if self.failed.is_none() && !self.text.is_empty() {
            self.failed = self.stdout.bytes(self.text.as_bytes()).err();
        }
        self.text.clear();
    }

    /// Whether writing has failed, so that no more need be added.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Writes the rest of the page.
    ///
    /// # Errors
    /// When not all of the page could be written.
    pub fn close(mut self) -> Result<(), Printed> {
        self.flush();
        self.failed.map_or(Ok(()), |error| Err(Printed::stdout_failure(NAME, &error)))
    }
}

/// Stands before a line of a message that looks like one of this program. No line of this program begins so.
const QUOTE: &str = "> ";

/// The beginnings of this program's lines.
const LABELS: [&str; 15] = [
    "Thinking:",
    "Using ",
    "Shell ",
    "Edited ",
    "Added ",
    "Deleted ",
    "Could not ",
    "Plan:",
    "Searching the web",
    "Asking an agent",
    "Tokens:",
    "Warning:",
    "Failed",
    "Completed",
    "Agent ",
];

/// Whether `line` begins like a line of this program to the eye: invisible characters, and those before the first letter
/// or digit, are skipped.
fn looks_like_ours(line: &str) -> bool {
    const LONGEST: usize = 24;
    let visible = line.chars().filter(|c| matches!(c, ' '..='~')).skip_while(|c| !c.is_ascii_alphanumeric());
    let beginning: String = visible.take(LONGEST).collect();
    let is_failed_call =
        line.split_once(" failed").is_some_and(|(name, _)| name.contains('/') && !name.contains(' '));
    is_failed_call || LABELS.iter().any(|label| beginning.starts_with(label))
}

/// The text without a line end at its end.
fn without_line_end(text: Text<'_>) -> Text<'_> {
    let shorter = if text.whole { text.text.strip_suffix('\n') } else { None };
    Text { text: shorter.unwrap_or(text.text), ..text }
}
