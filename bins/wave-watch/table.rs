//! The live table on stderr: an agent a line, the wave's bar below.
//!
//! Drawn with `console`, the layer below indicatif: lines that are painted over are all that a table of changing
//! length needs. indicatif is made for bars, and draws nothing where stderr is no terminal, also when it is asked to;
//! ratatui asks the terminal where its cursor is, by way of stdout, which belongs to the records here.

use crate::wave::{Member, State, Wave};
use common::face::safe;
use common::flow::activity::Activity;
use console::{Term, measure_text_width, truncate_str};
use std::time::Duration;

/// From one picture to the next.
const STEP: Duration = Duration::from_millis(250);

/// The widest id and state that are shown whole.
const ID_WIDTH: usize = 24;
const STATE_WIDTH: usize = 9;

/// What was drawn, and when it will be drawn again.
#[derive(Debug)]
pub struct Table {
    term: Term,
    lines: usize,
    next: Duration,
}

impl Table {
    /// A table that is not drawn yet.
    pub fn new() -> Table {
        Table { term: Term::buffered_stderr(), lines: 0, next: Duration::ZERO }
    }

    /// When it is to be drawn next.
    pub fn next(&self) -> Duration {
        self.next
    }

    /// Draws it when it is time.
    pub fn draw_if_due(&mut self, wave: &Wave, now: Duration) {
        if self.next <= now {
            self.draw(wave, now);
        }
    }

    /// Draws it over what was drawn before. A terminal that is gone is nobody to tell.
    pub fn draw(&mut self, wave: &Wave, now: Duration) {
        let (height, width) = self.term.size();
        let lines = picture(wave, now, height.into(), width.into());
        let _ = self.term.clear_last_lines(self.lines);
        for line in &lines {
            let _ = self.term.write_line(line);
        }
        let _ = self.term.flush();
        self.lines = lines.len();
        self.next = now + STEP;
    }
}

/// The lines of the table, at most as many as fit. Where not all agents do, those at work come first.
fn picture(wave: &Wave, now: Duration, height: usize, width: usize) -> Vec<String> {
    let agents = wave.agents();
    // The last row of a terminal holds the cursor.
    let room = height.saturating_sub(2).max(1);
    let is_working = |agent: &&Member| matches!(agent.state(), State::Working(_));
    let mut lines: Vec<String> = if agents.len() <= room {
        agents.iter().map(|agent| row(agent, now)).collect()
    } else {
        let others = agents.iter().filter(|agent| !is_working(agent));
        let first = agents.iter().filter(is_working).chain(others).take(room - 1);
        let more = format!("and {} more", agents.len() - (room - 1));
        first.map(|agent| row(agent, now)).chain([more]).collect()
    };
    let tally = wave.tally();
    lines.push(format!(
        "{} {}% {} of {} settled",
        tally.bar(),
        tally.percentage(),
        tally.settled,
        tally.total
    ));
    // A line as wide as the terminal may wrap.
    lines.iter().map(|line| truncate_str(line, width.saturating_sub(1), "…").into_owned()).collect()
}

fn row(agent: &Member, now: Duration) -> String {
    let (state, elapsed) = match agent.state() {
        State::Working(_) => ("working", now),
        State::Settled { completed: true, at } => ("completed", *at),
        State::Settled { completed: false, at } => ("failed", *at),
        State::Out(fault, at) => (fault.reason(), *at),
    };
    let activity = agent.last_activity().map_or(String::new(), activity);
    format!(
        "{} {} {:>6}s of {}s {:>6} events  {}",
        cell(&safe::line(agent.id()), ID_WIDTH),
        cell(state, STATE_WIDTH),
        elapsed.as_secs(),
        agent.budget().as_secs_f64(),
        agent.events(),
        safe::line(&activity)
    )
}

/// `text` as wide as a column, or cut to that.
fn cell(text: &str, width: usize) -> String {
    let text = truncate_str(text, width, "…");
    let rest = width.saturating_sub(measure_text_width(&text));
    format!("{text}{}", " ".repeat(rest))
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
    use crate::reader::{Reader, Spare};
    use crate::wave::Happening;
    use common::flow::manifest::Agent;

    /// A wave of agents called `ids`, of which each has run this command.
    fn wave(ids: &[&str], command: &str) -> Wave {
        let rules = Rules { digest: Duration::MAX, grace: Duration::ZERO, keep_going: false };
        let agent = |id: &&str| Agent::new(id, Duration::from_secs(60), id.into()).unwrap();
        let mut wave = Wave::new(&ids.iter().map(agent).collect::<Vec<_>>(), rules);
        let item = serde_json::json!({"type": "command_execution", "command": command, "status": "failed"});
        let line = serde_json::json!({"type": "item.completed", "item": item}).to_string() + "\n";
        for agent in 0..ids.len() {
            Reader::default().push(&mut Spare::default(), line.as_bytes(), |line| {
                wave.observe(agent, Happening::Line(line), Duration::ZERO, &mut String::new());
            });
        }
        wave
    }

    fn settle(wave: &mut Wave, agent: usize) {
        wave.expire(agent, Duration::from_secs(7), &mut String::new());
    }

    #[test]
    fn an_agent_has_a_line_and_the_wave_its_bar() {
        let mut wave = wave(&["A1", "\u{6f22}\u{5b57}"], "ls");
        settle(&mut wave, 0);
        assert_eq!(
            picture(&wave, Duration::from_secs(8), 24, 100),
            [
                "A1                       failed         7s of 60s      1 events  command_execution failed ls",
                "\u{6f22}\u{5b57}                     working        8s of 60s      1 events  command_execution failed ls",
                "█████░░░░░ 50% 1 of 2 settled"
            ]
        );
    }

    #[test]
    fn where_not_all_fit_those_at_work_come_first() {
        let mut wave = wave(&["A1", "A2", "A3", "A4", "A5"], "ls");
        settle(&mut wave, 0);
        settle(&mut wave, 2);
        let lines = picture(&wave, Duration::from_secs(8), 6, 100);
        let words: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(words, ["A2", "A4", "A5", "and", "████░░░░░░"]);
        assert_eq!(lines[3], "and 2 more");
        for height in 0..9 {
            assert!(picture(&wave, Duration::ZERO, height, 100).len() < height.max(3));
        }
    }

    #[test]
    fn nothing_drives_the_terminal_whatever_its_width() {
        let command = "\x1b]52;c;eA==\x07\x1b[2J\x1b[A\r\u{202e}\u{9b}漢字 👩\u{200d}🚀 — x\ny";
        let wave = wave(&["A\x1b[2J\u{2066}1", "漢字漢字漢字漢字漢字漢字漢字漢字"], command);
        for width in 0..200 {
            for line in picture(&wave, Duration::ZERO, 24, width) {
                assert!(measure_text_width(&line) <= width.saturating_sub(1).max(1), "{width}: {line}");
                assert!(matches!(safe::line(&line), std::borrow::Cow::Borrowed(_)), "{width}: {line}");
            }
        }
    }
}
