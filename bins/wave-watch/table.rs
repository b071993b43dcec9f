//! The live table on stderr: an agent a line, failures first, the wave's bar below.
//!
//! Drawn with `console`, the layer below indicatif: lines that are painted over are all that a table of changing
//! length needs. indicatif is made for bars, and draws nothing where stderr is no terminal, also when it is asked to;
//! ratatui asks the terminal where its cursor is, by way of stdout, which belongs to the records here.
//!
//! Terminals do not agree on how wide a text is: soft hyphens, fillers, joined emoji, and letters that an East Asian one
//! draws twice as wide. So a row is cut by the widest that any of them draws it, and the terminal is told not to wrap
//! (DECAWM) while it is drawn. A row that wrapped would put what an agent wrote at the beginning of the next one.

mod rows;
mod width;

use crate::wave::Wave;
use console::Term;
use rows::{Row, failures, rows};
use std::time::Duration;

/// From one picture to the next.
const STEP: Duration = Duration::from_millis(250);

/// Ends and begins the wrapping of rows that are too long (DECAWM, of the VT100 and all since).
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";

/// What was drawn, and when it will be drawn again.
#[derive(Debug)]
pub struct Table {
    term: Term,
    lines: usize,
    next: Duration,
    /// Whether records come to a terminal too, which is this one.
    shares: bool,
    colours: bool,
}

impl Table {
    /// A table that is not drawn yet; `shares` is whether records come to a terminal too.
    pub fn new(shares: bool) -> Table {
        let term = Term::buffered_stderr();
        let colours = has_colours(&term);
        Table { term, lines: 0, next: Duration::ZERO, shares, colours }
    }

    /// When it is to be drawn next.
    pub fn next(&self) -> Duration {
        self.next
    }

    /// Takes the table away where records are about to come to its terminal. It is drawn again below them.
    pub fn make_way(&mut self) {
        if self.shares {
            let _ = self.term.clear_last_lines(self.lines);
            let _ = self.term.flush();
            self.lines = 0;
            self.next = Duration::ZERO;
        }
    }

    /// Draws it when it is time.
    pub fn draw_if_due(&mut self, wave: &Wave, now: Duration) {
        if self.next <= now {
            let (height, width) = self.term.size();
            // The last row of a terminal holds the cursor, the one above it the bar.
            let room = usize::from(height).saturating_sub(2).max(1);
            self.draw(&rows(wave, now, room, width.into()));
            self.next = now + STEP;
        }
    }

    /// Draws it for the last time, with all failures, however many they are.
    pub fn draw_last(&mut self, wave: &Wave, now: Duration) {
        let (height, width) = self.term.size();
        let room = usize::from(height).saturating_sub(2).max(failures(wave) + 1);
        self.draw(&rows(wave, now, room, width.into()));
    }

    /// Draws over what was drawn before. A terminal that is gone is nobody to tell. All of it is one write, so that
    /// there is no end of this program at which rows do not wrap any more.
    fn draw(&mut self, rows: &[Row]) {
        let _ = self.term.clear_last_lines(self.lines);
        let text: String = rows.iter().map(|row| row.drawn(self.colours) + "\n").collect();
        let text = if self.term.is_term() { format!("{NO_WRAP}{text}{WRAP}") } else { text };
        let _ = self.term.write_str(&text);
        let _ = self.term.flush();
        self.lines = rows.len();
    }
}

/// Whether `term` shows colours and its user wants any: see no-color.org.
fn has_colours(term: &Term) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    term.is_term() && !is_set("NO_COLOR") && !is_dumb
}
