//! The rows of the table: an agent each, failures first, and the wave last.

use super::width::{cell, cut};
use crate::activity::Activity;
use crate::wave::{State, WatchedAgent, Wave};
use anstyle::{AnsiColor, Style};
use common::face::safe;
use console::measure_text_width;
use std::time::Duration;

/// The widest id that is shown whole, as a part of the terminal's width.
const ID_PART: usize = 4;

/// The width of a state.
const STATE_WIDTH: usize = 9;

/// A row, no wider than the terminal.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) text: String,
    style: Style,
}

impl Row {
    pub(super) fn drawn(&self, colours: bool) -> String {
        match colours && self.style != Style::new() {
            true => format!("{}{}{}", self.style.render(), self.text, self.style.render_reset()),
            false => self.text.clone(),
        }
    }
}

/// The rows of the table: up to `room` for the agents, one for the wave. Those that failed come first, then those at
/// work, then those that completed.
pub(super) fn rows(wave: &Wave, now: Duration, room: usize, width: usize) -> Vec<Row> {
    let agents = wave.agents();
    let rank = |agent: &&WatchedAgent| match agent.state() {
        State::Failed { .. } | State::Faulty(..) => 0,
        State::Working(_) => 1,
        State::Completed(_) => 2,
    };
    let mut sorted: Vec<&WatchedAgent> = agents.iter().collect();
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
pub(super) fn failures(wave: &Wave) -> usize {
    let is_failure =
        |agent: &&WatchedAgent| matches!(agent.state(), State::Failed { .. } | State::Faulty(..));
    wave.agents().iter().filter(is_failure).count()
}

fn style(state: &State) -> Style {
    match state {
        State::Failed { .. } | State::Faulty(..) => AnsiColor::Red.on_default(),
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
    fn of(agents: &[&WatchedAgent], width: usize) -> Columns {
        let widest = |text: fn(&WatchedAgent) -> String| {
            agents.iter().map(|agent| measure_text_width(&text(agent))).max().unwrap_or_default()
        };
        Columns {
            id: widest(id).min((width / ID_PART).max(8)),
            budget: widest(budget),
            events: widest(events),
        }
    }

    fn row(&self, agent: &WatchedAgent, now: Duration) -> String {
        let (state, why, at) = match agent.state() {
            State::Working(_) => ("working", "", now),
            State::Completed(at) => ("completed", "", *at),
            State::Failed { why, at } => ("failed", &**why, *at),
            State::Faulty(fault, at) => ("failed", fault.reason(), *at),
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

fn id(agent: &WatchedAgent) -> String {
    safe::line(agent.id()).into_owned()
}

fn budget(agent: &WatchedAgent) -> String {
    agent.budget().as_secs_f64().to_string()
}

fn events(agent: &WatchedAgent) -> String {
    agent.events().to_string()
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
    use crate::wave::FileEvent;

    /// A wave of agents called `ids`, of which each has run this command.
    fn wave(ids: &[&str], command: &str) -> Wave {
        let rules = Rules { digest: Duration::MAX, grace: Duration::ZERO, start: None, keep_going: false };
        let agent = |id: &&str| Agent::new(id, Duration::from_secs(60), id.into()).unwrap();
        let mut wave = Wave::new(&ids.iter().map(agent).collect::<Vec<_>>(), rules);
        let item = serde_json::json!({"type": "command_execution", "command": command, "status": "failed"});
        let line = serde_json::json!({"type": "item.completed", "item": item}).to_string() + "\n";
        for agent in 0..ids.len() {
            FileReader::default().push(&mut SpareReader::default(), line.as_bytes(), |line| {
                wave.observe(agent, FileEvent::Line(line), Duration::ZERO, &mut String::new());
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
            .push(&mut SpareReader::default(), sentinel.as_bytes(), |line| happens(FileEvent::Line(line)));
        happens(FileEvent::Pause);
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
