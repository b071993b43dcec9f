//! Events as lines and blocks of text.

use crate::NAME;
use crate::args::RenderConfig;
use crate::failure::{self, Failures};
use crate::items::ItemsInProgress;
use crate::page::{LabelStyle, Page};
use crate::read::{self, EventSink};
use common::face::exit::Status;
use common::face::printed::Printed;
use common::flow::event::{self, Event, FileChange, Item, ItemKind, ItemPhase, Text};
use common::flow::stream::Line;
use common::flow::usage;

/// Prints each event as it arrives.
pub fn run(config: &RenderConfig) -> Result<Status, Printed> {
    let page = Page::new()?;
    let mut renderer = Renderer {
        page,
        items: ItemsInProgress::default(),
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
    items: ItemsInProgress,
    /// The plan that was shown last.
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
            // The ids and the plan are of another process, when several have written the stream.
            Event::ThreadStarted(_) => {
                self.items.clear();
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
        let is_over = item.phase == ItemPhase::Completed;
        let is_first = self.items.is_first(item.id.unwrap_or_default(), is_over);
        match item.kind {
            ItemKind::Reasoning(text) if is_over => {
                self.page.block(LabelStyle::Secondary, "Thinking: ", text)
            }
            ItemKind::Command { command, status, exit_code } => {
                if is_first {
                    self.command("Using shell", command);
                }
                if is_over && let Some(label) = failure_label(status, exit_code) {
                    self.command(&label, command);
                    self.output(line);
                }
            }
            ItemKind::ToolCall { server, tool, status } => {
                let name: Vec<&str> = [server, tool].into_iter().flatten().collect();
                let name = if name.is_empty() { "a tool".to_owned() } else { name.join("/") };
                if is_first {
                    self.page.line(LabelStyle::Action, "Using ", Text::whole(&format!("{name}…")));
                }
                if is_over && status == Some("failed") {
                    self.failed_call(&name, reason(line, |text, each| event::tool_failure(text, each)));
                }
            }
            ItemKind::FileChange { status } if is_over => self.files(status, line),
            ItemKind::TodoList => self.plan(line),
            ItemKind::WebSearch if is_first => self.page.label(LabelStyle::Action, "Searching the web…"),
            ItemKind::CollabCall { tool, status } => {
                if is_first {
                    self.page.label(LabelStyle::Action, "Asking an agent…");
                }
                if is_over && status == Some("failed") {
                    let name = format!("agent/{}", tool.unwrap_or("call"));
                    self.failed_call(&name, reason(line, |text, each| event::agent_messages(text, each)));
                }
            }
            ItemKind::Error(message) if is_over => {
                self.page.block(LabelStyle::Warning, "Warning: ", failure::message_text(message));
            }
            _ => {}
        }
    }

    fn command(&mut self, what: &str, command: Option<Text<'_>>) {
        match command {
            Some(command) => self.page.line(LabelStyle::Action, &format!("{what} — "), command),
            None => self.page.label(LabelStyle::Action, what),
        }
    }

    /// Shows the end of what a failed command printed, indented.
    fn output(&mut self, line: Line<'_>) {
        let Some(text) = line.text() else {
            return self.page.label(LabelStyle::Secondary, "  (its output is longer than can be shown)");
        };
        event::last_output(text, self.output_lines, |output| {
            for line in output.lines() {
                self.page.line(LabelStyle::Secondary, "  ", Text::whole(line));
            }
        });
    }

    /// Shows that a call failed, and why.
    fn failed_call(&mut self, name: &str, reason: String) {
        let text =
            if reason.is_empty() { format!("{name} failed") } else { format!("{name} failed: {reason}") };
        self.page.line(LabelStyle::Warning, "", Text::whole(&text));
    }

    /// Shows the files of a change that is over. Before that nothing has been edited.
    fn files(&mut self, status: Option<&str>, line: Line<'_>) {
        let Some(text) = line.text() else {
            return self.page.label(LabelStyle::Action, "Edited more files than can be shown");
        };
        event::changes(text, |FileChange { path, kind }| {
            let action = match (status == Some("failed"), kind) {
                (false, Some("add")) => "Added ",
                (false, Some("delete")) => "Deleted ",
                (false, _) => "Edited ",
                (true, Some("add")) => "Could not add ",
                (true, Some("delete")) => "Could not delete ",
                (true, _) => "Could not edit ",
            };
            self.page.line(LabelStyle::Action, action, path);
        });
    }

    /// Shows the plan when it has changed; Codex also reports it unchanged.
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
            self.page.line(LabelStyle::Action, "Plan:", Text::whole(&plan));
            self.plan = plan;
        }
    }

    /// Shows the total of the thread, which the turn reports.
    fn tokens(&mut self, line: Line<'_>) {
        let (counts, _) = usage::usage_of(line);
        // When the server sends no usage, Codex reports zeros.
        if !counts.is_reported() {
            return self.page.line(LabelStyle::Secondary, "Tokens: ", Text::whole("unknown"));
        }
        let number = |name| counts.get(name).map_or("unknown".to_owned(), |count| count.to_string());
        let cached =
            counts.get("cached_input_tokens").map_or(String::new(), |count| format!(" (cached {count})"));
        let text = format!("in {}{cached}, out {}", number("input_tokens"), number("output_tokens"));
        self.page.line(LabelStyle::Secondary, "Tokens: ", Text::whole(&text));
    }
}

/// Why a call failed, on one line. `read` reads the reasons from the line of the event.
fn reason(line: Line<'_>, read: impl FnOnce(&str, &mut dyn FnMut(Text<'_>))) -> String {
    let mut reasons: Vec<String> = Vec::new();
    let mut add =
        |text: Text<'_>| reasons.push(format!("{}{}", text.text.trim(), if text.whole { "" } else { "…" }));
    if let Some(text) = line.text() {
        read(text, &mut add);
    }
    reasons.join("; ")
}

/// The label of a command that failed; `None` when it did not.
fn failure_label(status: Option<&str>, exit_code: Option<i64>) -> Option<String> {
    match (status, exit_code) {
        (_, Some(code)) if code != 0 => Some(format!("Shell failed with status {code}")),
        (Some("failed"), None) => Some("Shell failed".to_owned()),
        (Some("declined"), _) => Some("Shell declined".to_owned()),
        _ => None,
    }
}
