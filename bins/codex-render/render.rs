//! Each event as a line or a block of text.

use crate::NAME;
use crate::args::Config;
use crate::failure::{self, Failures};
use crate::page::{Look, Page};
use crate::read::{self, EventSink};
use crate::shown::Shown;
use common::face::exit::Status;
use common::face::printed::Printed;
use common::flow::event::{self, Change, Event, Item, Kind, Phase, Text};
use common::flow::stream::Line;
use common::flow::usage;

/// Prints every event as it arrives.
pub fn run(config: &Config) -> Result<Status, Printed> {
    let page = Page::new()?;
    let mut renderer = Renderer {
        page,
        shown: Shown::default(),
        plan: String::new(),
        output_lines: config.output_lines,
        failures: Failures::default(),
    };
    let read = read::events(config, &mut renderer);
    if read.is_ok() {
        renderer.failures.end(&mut renderer.page);
    }
    renderer.page.close()?;
    match read?.fault(&config.source) {
        Some(fault) => Err(Printed::message(NAME, Status::DATA, &fault)),
        None => Ok(Status::DONE),
    }
}

/// Puts events on a page.
struct Renderer {
    page: Page,
    shown: Shown,
    /// The plan as it was shown last.
    plan: String,
    /// How many lines of its output a failed command shows.
    output_lines: usize,
    failures: Failures,
}

impl EventSink for Renderer {
    fn event(&mut self, event: Event<'_>, line: Line<'_>) {
        if !matches!(event, Event::Blank | Event::NotObject | Event::Malformed) {
            self.failures.event(event, line.scan, &mut self.page);
        }
        match event {
            Event::AgentMessage { text: "", .. } => {}
            Event::AgentMessage { text, whole } => self.page.text(Text { text, whole }),
            Event::Item(item) => self.item(item, line),
            Event::TurnCompleted(_) => self.tokens(line),
            // The ids and the plan of another process, in a stream that several of them have written.
            Event::ThreadStarted(_) => {
                self.shown.clear();
                self.plan.clear();
            }
            _ => {}
        }
    }

    fn end_chunk(&mut self) -> bool {
        self.page.flush();
        !self.page.has_failed()
    }

    fn awaits_next(&self) -> bool {
        self.failures.awaits_next()
    }

    fn pause(&mut self) {
        self.failures.pause(&mut self.page);
        self.page.flush();
    }
}

impl Renderer {
    fn item(&mut self, item: Item<'_>, line: Line<'_>) {
        let is_over = item.phase == Phase::Completed;
        let is_first = self.shown.is_first(item.id.unwrap_or_default(), is_over);
        match item.kind {
            Kind::Reasoning(text) if is_over => self.page.block(Look::Aside, "Thinking: ", text),
            Kind::Command { command, status, exit_code } => {
                if is_first {
                    self.command("Using shell", command);
                }
                if is_over && let Some(end) = failed_end(status, exit_code) {
                    self.command(&end, command);
                    self.output(line);
                }
            }
            Kind::ToolCall { server, tool, status } => {
                let name: Vec<&str> = [server, tool].into_iter().flatten().collect();
                let name = if name.is_empty() { "a tool".to_owned() } else { name.join("/") };
                if is_first {
                    self.page.line(Look::Deed, "Using ", Text::whole(&format!("{name}…")));
                }
                if is_over && status == Some("failed") {
                    self.failed_call(&name, reason(line, |text, each| event::tool_failure(text, each)));
                }
            }
            Kind::FileChange { status } if is_over => self.files(status, line),
            Kind::TodoList => self.plan(line),
            Kind::WebSearch if is_first => self.page.label(Look::Deed, "Searching the web…"),
            Kind::CollabCall { tool, status } => {
                if is_first {
                    self.page.label(Look::Deed, "Asking an agent…");
                }
                if is_over && status == Some("failed") {
                    let name = format!("agent/{}", tool.unwrap_or("call"));
                    self.failed_call(&name, reason(line, |text, each| event::agent_messages(text, each)));
                }
            }
            Kind::Error(message) if is_over => {
                self.page.block(Look::Warning, "Warning: ", failure::words(message));
            }
            _ => {}
        }
    }

    fn command(&mut self, what: &str, command: Option<Text<'_>>) {
        match command {
            Some(command) => self.page.line(Look::Deed, &format!("{what} — "), command),
            None => self.page.label(Look::Deed, what),
        }
    }

    /// The end of what a failed command printed. What it is shows by its indentation.
    fn output(&mut self, line: Line<'_>) {
        let Some(text) = line.text() else {
            return self.page.label(Look::Aside, "  (its output is longer than can be shown)");
        };
        event::last_output(text, self.output_lines, |output| {
            for line in output.lines() {
                self.page.line(Look::Aside, "  ", Text::whole(line));
            }
        });
    }

    /// A call that failed, and why.
    fn failed_call(&mut self, name: &str, reason: String) {
        let words =
            if reason.is_empty() { format!("{name} failed") } else { format!("{name} failed: {reason}") };
        self.page.line(Look::Warning, "", Text::whole(&words));
    }

    /// The files of a change that is over. While it is under way nothing has been edited yet.
    fn files(&mut self, status: Option<&str>, line: Line<'_>) {
        let Some(text) = line.text() else {
            return self.page.label(Look::Deed, "Edited more files than can be shown");
        };
        event::changes(text, |Change { path, kind }| {
            let deed = match (status == Some("failed"), kind) {
                (false, Some("add")) => "Added ",
                (false, Some("delete")) => "Deleted ",
                (false, _) => "Edited ",
                (true, Some("add")) => "Could not add ",
                (true, Some("delete")) => "Could not delete ",
                (true, _) => "Could not edit ",
            };
            self.page.line(Look::Deed, deed, path);
        });
    }

    /// A plan is told whenever it may have changed, and shown when it has.
    fn plan(&mut self, line: Line<'_>) {
        let mut plan = String::new();
        match line.text() {
            Some(text) => {
                let mut number = 0;
                event::steps(text, |step| {
                    number += 1;
                    let end = if step.text.whole { "" } else { "…" };
                    let mark = if step.completed { " ✓" } else { "" };
                    plan += &format!(" {number}. {}{end}{mark}", step.text.text);
                });
            }
            None => plan += " more steps than can be shown",
        }
        if plan != self.plan {
            self.page.line(Look::Deed, "Plan:", Text::whole(&plan));
            self.plan = plan;
        }
    }

    /// The total of the thread, as the turn tells it.
    fn tokens(&mut self, line: Line<'_>) {
        let (counts, _) = usage::usage_of(line);
        // A server that sends no usage makes Codex tell zeros.
        if !counts.is_reported() {
            return self.page.line(Look::Aside, "Tokens: ", Text::whole("unknown"));
        }
        let number = |name| counts.get(name).map_or("unknown".to_owned(), |count| count.to_string());
        let cached =
            counts.get("cached_input_tokens").map_or(String::new(), |count| format!(" (cached {count})"));
        let text = format!("in {}{cached}, out {}", number("input_tokens"), number("output_tokens"));
        self.page.line(Look::Aside, "Tokens: ", Text::whole(&text));
    }
}

/// Why a call failed, on one line, as `find` finds it on the line of its event.
fn reason(line: Line<'_>, find: impl FnOnce(&str, &mut dyn FnMut(Text<'_>))) -> String {
    let mut reasons: Vec<String> = Vec::new();
    let mut add =
        |text: Text<'_>| reasons.push(format!("{}{}", text.text.trim(), if text.whole { "" } else { "…" }));
    if let Some(text) = line.text() {
        find(text, &mut add);
    }
    reasons.join("; ")
}

/// How a command ended that did not end well.
fn failed_end(status: Option<&str>, exit_code: Option<i64>) -> Option<String> {
    match (status, exit_code) {
        (_, Some(code)) if code != 0 => Some(format!("Shell failed with status {code}")),
        (Some("failed"), None) => Some("Shell failed".to_owned()),
        (Some("declined"), _) => Some("Shell declined".to_owned()),
        _ => None,
    }
}
