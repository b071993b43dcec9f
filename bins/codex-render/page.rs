//! What people read: text made harmless for their terminal, coloured where there is one.

use crate::NAME;
use anstyle::{AnsiColor, Effects, Style};
use common::edge::output::Output;
use common::face::printed::Printed;
use common::face::safe;
use common::face::terminal::Target;
use common::flow::event::Text;
use std::borrow::Cow;
use std::io;

/// How much waits for more before it is written.
const ENOUGH: usize = 64 * 1024;

/// How much of a text is made harmless at a time: escaped, it can take six times its length.
const PIECE: usize = 16 * 1024;

/// How the beginning of a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// What the agent thinks, and the count of its tokens.
    Aside,
    /// What it does.
    Deed,
    /// What went wrong without harm.
    Warning,
    /// What went wrong.
    Failure,
    /// That all is well.
    Success,
}

impl Look {
    fn style(self) -> Style {
        match self {
            Look::Aside => Style::new().effects(Effects::DIMMED),
            Look::Deed => AnsiColor::Cyan.on_default(),
            Look::Warning => AnsiColor::Yellow.on_default(),
            Look::Failure => AnsiColor::Red.on_default().bold(),
            Look::Success => AnsiColor::Green.on_default().bold(),
        }
    }
}

/// Standard output, as a page.
#[derive(Debug)]
pub struct Page {
    stdout: Output,
    colours: bool,
    text: String,
    /// The first failure; nothing is written after it.
    failed: Option<io::Error>,
}

impl Page {
    /// An empty page. It has colours on a terminal that knows them, unless NO_COLOR (no-color.org) is set.
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

    /// A text that may have several lines, and nothing around it.
    pub fn text(&mut self, text: Text<'_>) {
        self.lines(unended(text), true);
    }

    /// A line of nothing but `label`.
    pub fn label(&mut self, look: Look, label: &str) {
        self.line(look, label, Text::whole(""));
    }

    /// `label` and a text that may have several lines.
    pub fn block(&mut self, look: Look, label: &str, text: Text<'_>) {
        self.begin(look, label);
        self.lines(unended(text), false);
    }

    /// `label` and a text that stays on its line, whatever is in it.
    pub fn line(&mut self, look: Look, label: &str, text: Text<'_>) {
        self.begin(look, label);
        self.piece(text.text, safe::line);
        self.end(text.whole);
    }

    fn begin(&mut self, look: Look, label: &str) {
        if self.colours {
            let style = look.style();
            self.text += &format!("{style}{label}{style:#}");
        } else {
            self.text += label;
        }
    }

    /// A text that may have several lines. One that could be taken for a line of this program is quoted, if it begins
    /// where such a line would (`is_at_start` for the first one).
    fn lines(&mut self, text: Text<'_>, mut is_at_start: bool) {
        for line in text.text.split_inclusive('\n') {
            if is_at_start && looks_like_ours(line) {
                self.text += QUOTE;
            }
            self.piece(line, safe::block);
            is_at_start = true;
        }
        self.end(text.whole);
    }

    fn piece(&mut self, text: &str, harmless: fn(&str) -> Cow<'_, str>) {
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE));
            self.text += &harmless(piece);
            rest = behind;
            if self.text.len() >= ENOUGH {
                self.flush();
            }
        }
    }

    fn end(&mut self, is_whole: bool) {
        self.text += if is_whole { "\n" } else { "…\n" };
    }

    /// Writes what waits.
    pub fn flush(&mut self) {
        if self.failed.is_none() && !self.text.is_empty() {
            self.failed = self.stdout.bytes(self.text.as_bytes()).err();
        }
        self.text.clear();
    }

    /// Whether nothing more can be written.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// When not all of the page could be written.
    pub fn close(mut self) -> Result<(), Printed> {
        self.flush();
        self.failed.map_or(Ok(()), |error| Err(Printed::stdout_failure(NAME, &error)))
    }
}

/// What stands before a line that somebody said and that looks like one of this program. No line of it begins so.
const QUOTE: &str = "> ";

/// How the lines of this program begin.
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

/// Whether `line` begins like a line of this program. What is invisible, or no letter before the first one, makes no
/// difference to the eye.
fn looks_like_ours(line: &str) -> bool {
    const LONGEST: usize = 24;
    let visible = line.chars().filter(|c| matches!(c, ' '..='~')).skip_while(|c| !c.is_ascii_alphanumeric());
    let beginning: String = visible.take(LONGEST).collect();
    let is_failed_call =
        line.split_once(" failed").is_some_and(|(name, _)| name.contains('/') && !name.contains(' '));
    is_failed_call || LABELS.iter().any(|label| beginning.starts_with(label))
}

/// The text without the line end that it may have of its own.
fn unended(text: Text<'_>) -> Text<'_> {
    let shorter = if text.whole { text.text.strip_suffix('\n') } else { None };
    Text { text: shorter.unwrap_or(text.text), ..text }
}
