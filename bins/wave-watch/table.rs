//! The live table on stderr: an agent a line, failures first, the wave's bar below.
//!
//! Drawn with `console`, the layer below indicatif: lines that are painted over are all that a table of changing
//! length needs. indicatif is made for bars, and draws nothing where stderr is no terminal, also when it is asked to;
//! ratatui asks the terminal where its cursor is, by way of stdout, which belongs to the records here.
//!
//! Terminals do not agree on how wide a text is: soft hyphens, fillers, joined emoji, and letters that an East Asian one
//! draws twice as wide. So a row is cut by the widest that any of them draws it, and the terminal is told not to wrap
//! (DECAWM) while it is drawn. A row that wrapped would put what an agent wrote at the beginning of the next one.

use crate::activity::Activity;
use crate::wave::{Member, State, Wave};
use anstyle::{AnsiColor, Style};
use common::face::safe;
use console::{Term, measure_text_width, truncate_str};
use std::time::Duration;

/// From one picture to the next.
const STEP: Duration = Duration::from_millis(250);

/// The widest id that is shown whole, as a part of the terminal's width.
const ID_PART: usize = 4;

/// The width of a state.
const STATE_WIDTH: usize = 9;

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

/// A row, no wider than the terminal.
#[derive(Debug)]
struct Row {
    text: String,
    style: Style,
}

impl Row {
    fn drawn(&self, colours: bool) -> String {
        match colours && self.style != Style::new() {
            true => format!("{}{}{}", self.style.render(), self.text, self.style.render_reset()),
            false => self.text.clone(),
        }
    }
}

/// The rows of the table: up to `room` for the agents, one for the wave. Those that failed come first, then those at
/// work, then those that completed.
fn rows(wave: &Wave, now: Duration, room: usize, width: usize) -> Vec<Row> {
    let agents = wave.agents();
    let rank = |agent: &&Member| match agent.state() {
        State::Failed { .. } | State::Out(..) => 0,
        State::Working(_) => 1,
        State::Completed(_) => 2,
    };
    let mut sorted: Vec<&Member> = agents.iter().collect();
    sorted.sort_by_key(rank);
    let shown = if agents.len() <= room { agents.len() } else { room - 1 };
    let columns = Columns::of(&sorted[..shown], width);
    // A row as wide as the terminal may wrap.
    let most = width.saturating_sub(1);
    let cut = |text: &str, style| Row { text: cut(text, most), style };
    let mut rows: Vec<Row> =
        sorted[..shown].iter().map(|agent| cut(&columns.row(agent, now), style(agent.state()))).collect();
    if shown < agents.len() {
        rows.push(cut(&format!("and {} more", agents.len() - shown), Style::new()));
    }
    rows.push(cut(&summary(wave), Style::new()));
    rows
}

/// How far the wave has come, and how much of it failed.
fn summary(wave: &Wave) -> String {
    let tally = wave.tally();
    let failed = match failures(wave) {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    format!("{} {}% {} of {} settled{failed}", tally.bar(), tally.percentage(), tally.settled, tally.total)
}

/// How many agents failed, or are out because their files broke the rules.
fn failures(wave: &Wave) -> usize {
    let is_failure = |agent: &&Member| matches!(agent.state(), State::Failed { .. } | State::Out(..));
    wave.agents().iter().filter(is_failure).count()
}

fn style(state: &State) -> Style {
    match state {
        State::Failed { .. } | State::Out(..) => AnsiColor::Red.on_default(),
        State::Completed(_) => AnsiColor::Green.on_default(),
        State::Working(_) => Style::new(),
    }
}

/// How wide the columns are whose width depends on what is in them.
#[derive(Debug)]
struct Columns {
    id: usize,
    budget: usize,
    events: usize,
}

impl Columns {
    fn of(agents: &[&Member], width: usize) -> Columns {
        let widest = |text: fn(&Member) -> String| {
            agents.iter().map(|agent| measure_text_width(&text(agent))).max().unwrap_or_default()
        };
        Columns {
            id: widest(id).min((width / ID_PART).max(8)),
            budget: widest(budget),
            events: widest(events),
        }
    }

    fn row(&self, agent: &Member, now: Duration) -> String {
        let (state, why, at) = match agent.state() {
            State::Working(_) => ("working", "", now),
            State::Completed(at) => ("completed", "", *at),
            State::Failed { why, at } => ("failed", &**why, *at),
            State::Out(fault, at) => ("failed", fault.reason(), *at),
        };
        let activity = agent.last_activity().map_or(String::new(), activity);
        let rest =
            [why, &activity].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("  ");
        let row = format!(
            "{} {} {:>6}s of {:>budget$}s {:>events$} events  {}",
            cell(&id(agent), self.id),
            cell(state, STATE_WIDTH),
            at.as_secs(),
            agent.budget().as_secs_f64(),
            agent.events(),
            safe::line(&rest),
            budget = self.budget,
            events = self.events,
        );
        row.trim_end().to_owned()
    }
}

fn id(agent: &Member) -> String {
    safe::line(agent.id()).into_owned()
}

fn budget(agent: &Member) -> String {
    agent.budget().as_secs_f64().to_string()
}

fn events(agent: &Member) -> String {
    agent.events().to_string()
}

/// `text` as wide as a column, or cut to that.
fn cell(text: &str, width: usize) -> String {
    let text = truncate_str(text, width, "…");
    let rest = width.saturating_sub(measure_text_width(&text));
    format!("{text}{}", " ".repeat(rest))
}

/// `text`, or as much of its beginning and an ellipsis as no terminal draws wider than `width` cells.
fn cut(text: &str, width: usize) -> String {
    let whole = prefix(text, width);
    if whole.len() == text.len() {
        return whole.to_owned();
    }
    let ellipsis = prefix("…", width);
    format!("{}{ellipsis}", prefix(text, width.saturating_sub(ellipsis.chars().map(most_cells).sum())))
}

/// The beginning of `text` that no terminal draws wider than `width` cells.
fn prefix(text: &str, width: usize) -> &str {
    let mut left = width;
    let end = text.char_indices().find(|(_, c)| match left.checked_sub(most_cells(*c)) {
        Some(rest) => {
            left = rest;
            false
        }
        None => true,
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// How many cells a character takes at most. ASCII takes one in all terminals; no character takes more than two in any.
fn most_cells(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

fn activity(activity: &Activity) -> String {
    let words: [&Option<Box<str>>; 3] = match activity {
        Activity::FileChange { status } => [status, &None, &None],
        Activity::Command { command, status } => [status, command, &None],
        Activity::ToolCall { server, tool, status } => [status, server, tool],
        Activity::CollabCall { tool, status } => [status, tool, &None],
        _ => [&None; 3],
    };
    let words = words.iter().filter_map(|word| word.as_deref());
    [activity.name()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Rules;
    use crate::manifest::Agent;
    use crate::reader::{FileReader, SpareReader};
    use crate::wave::Happening;

    /// A wave of agents called `ids`, of which each has run this command.
    fn wave(ids: &[&str], command: &str) -> Wave {
        let rules = Rules { digest: Duration::MAX, grace: Duration::ZERO, start: None, keep_going: false };
        let agent = |id: &&str| Agent::new(id, Duration::from_secs(60), id.into()).unwrap();
        let mut wave = Wave::new(&ids.iter().map(agent).collect::<Vec<_>>(), rules);
        let item = serde_json::json!({"type": "command_execution", "command": command, "status": "failed"});
        let line = serde_json::json!({"type": "item.completed", "item": item}).to_string() + "\n";
        for agent in 0..ids.len() {
            FileReader::default().push(&mut SpareReader::default(), line.as_bytes(), |line| {
                wave.observe(agent, Happening::Line(line), Duration::ZERO, &mut String::new());
            });
        }
        wave
    }

    fn settle(wave: &mut Wave, agent: usize) {
        wave.expire(agent, Duration::from_secs(7), &mut String::new());
    }

    fn finish(wave: &mut Wave, agent: usize, sentinel: &str) {
        let mut happens =
            |happening| wave.observe(agent, happening, Duration::from_secs(7), &mut String::new());
        FileReader::default()
            .push(&mut SpareReader::default(), sentinel.as_bytes(), |line| happens(Happening::Line(line)));
        happens(Happening::Pause);
    }

    fn texts(wave: &Wave, room: usize, width: usize) -> Vec<String> {
        rows(wave, Duration::from_secs(8), room, width).into_iter().map(|row| row.text).collect()
    }

    #[test]
    fn an_agent_has_a_line_with_failures_first_and_the_wave_its_bar() {
        let mut wave = wave(&["A1", "A2", "\u{6f22}\u{5b57}", "A4"], "ls");
        finish(&mut wave, 0, "{\"type\":\"handoff.completed\",\"elapsed_seconds\":7}\n");
        settle(&mut wave, 2);
        let error = r#"{"type":"handoff.failed","reason":"error","rc":1,"elapsed_seconds":7,"cause":"auth"}"#;
        finish(&mut wave, 3, &format!("{error}\n"));
        let ls = "command_execution failed ls";
        assert_eq!(
            texts(&wave, 22, 100),
            [
                format!("\u{6f22}\u{5b57} failed         7s of 60s 1 events  no-sentinel  {ls}"),
                format!("A4   failed         7s of 60s 1 events  error: auth  {ls}"),
                format!("A2   working        8s of 60s 1 events  {ls}"),
                format!("A1   completed      7s of 60s 1 events  {ls}"),
                "████████░░ 75% 3 of 4 settled, 2 failed".to_owned()
            ]
        );
        let red = rows(&wave, Duration::ZERO, 22, 100)[0].drawn(true);
        assert!(red.starts_with("\x1b[31m\u{6f22}") && red.ends_with("ls\x1b[0m"), "{red}");
        assert!(!rows(&wave, Duration::ZERO, 22, 100)[0].drawn(false).contains('\x1b'));
    }

    #[test]
    fn where_not_all_fit_those_that_failed_and_those_at_work_come_first() {
        let mut wave = wave(&["A1", "A2", "A3", "A4", "A5"], "ls");
        finish(&mut wave, 0, "{\"type\":\"handoff.completed\"}\n");
        settle(&mut wave, 2);
        let lines = texts(&wave, 4, 100);
        let words: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(words, ["A3", "A2", "A4", "and", "████░░░░░░"]);
        assert_eq!(lines[3], "and 2 more");
        for room in 1..9 {
            assert!(texts(&wave, room, 100).len() <= room + 1);
        }
    }

    #[test]
    fn columns_are_as_wide_as_what_is_in_them() {
        let long = "a-long-name-of-an-agent-in-a-wave";
        let wave = wave(&["A1", long], "ls");
        let lines = texts(&wave, 22, 200);
        assert!(lines[1].starts_with(&format!("{long} working ")), "{}", lines[1]);
        assert_eq!(lines[0].find("working"), lines[1].find("working"));
        // In a narrow terminal, too, there is room for more than the name.
        assert!(
            texts(&wave, 22, 60)[1].starts_with("a-long-name-of… working "),
            "{}",
            texts(&wave, 22, 60)[1]
        );
    }

    #[test]
    fn no_row_is_too_wide_for_any_terminal_and_nothing_drives_it() {
        for said in [
            "\x1b]52;c;eA==\x07\x1b[2J\x1b[A\r\u{202e}\u{9b}漢字 👩\u{200d}🚀 — x\ny",
            &"\u{ad}".repeat(300),
            &"\u{3164}\u{115f}\u{1160}\u{ffa0}".repeat(99),
            &"👩\u{200d}👩\u{200d}👧\u{fe0f}🏳\u{fe0f}\u{200d}🌈🇩🇪".repeat(20),
            &"e\u{301}\u{200b}\u{2060}\u{feff}".repeat(99),
            &"漢字".repeat(99),
        ] {
            let wave = wave(&["A\x1b[2J\u{2066}1", "\u{ad}漢\u{3164}字👩\u{200d}🚀"], said);
            for width in 0..200 {
                for line in texts(&wave, 22, width) {
                    let most: usize = line.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
                    assert!(most <= width.saturating_sub(1), "{width}: {line}");
                    assert!(matches!(safe::line(&line), std::borrow::Cow::Borrowed(_)), "{width}: {line}");
                }
            }
        }
    }
}
