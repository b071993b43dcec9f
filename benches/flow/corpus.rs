//! Two streams as Codex would print them, made anew and the same in every run.
//!
//! Shapes and key orders are those of the samples under `tests/data`; only the texts are made up. Items have one
//! `id` each, although web searches have two in reality: a derived serde struct refuses the second.

use serde_json::{Value, json};

/// Numbers that look random and are the same in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number from `from` up to, without, `to`.
    fn within(&mut self, from: usize, to: usize) -> usize {
        from + (self.next() % (to - from) as u64) as usize
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.within(0, of.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.within(0, 100) < percent
    }
}

const WORDS: &[&str] = &[
    "the",
    "parser",
    "reads",
    "a",
    "line",
    "and",
    "returns",
    "its",
    "first",
    "error",
    "when",
    "tests",
    "fail",
    "we",
    "check",
    "whether",
    "file",
    "exists",
    "before",
    "writing",
    "to",
    "it",
    "buffer",
    "is",
    "flushed",
    "after",
    "each",
    "record",
    "so",
    "that",
    "readers",
    "see",
    "progress",
    "of",
    "run",
    "without",
    "delay",
    "in",
    "src/main.rs",
    "`Scanner`",
    "on",
    "Linux",
    "macOS",
    "now",
    "this",
    "function",
    "should",
    "handle",
    "empty",
    "input",
    "as",
    "well",
];

const FOREIGN: &[&str] =
    &["it’s", "—", "naïve", "café", "“quoted”", "日本語", "проверка", "→", "✓", "🚀", "größer"];

const PATHS: &[&str] = &[
    "/home/dev/repo/src/main.rs",
    "/home/dev/repo/src/parser/mod.rs",
    "/home/dev/repo/tests/cli.rs",
    "/home/dev/repo/README.md",
    "/home/dev/repo/crates/common/src/flow/line.rs",
];

const COMMANDS: &[&str] = &[
    "/bin/bash -lc 'cargo test --workspace'",
    "/bin/bash -lc \"sed -n '1,200p' src/main.rs\"",
    "/bin/bash -lc 'rg -n \"fn main\" -g \"*.rs\"'",
    "/bin/bash -lc 'git status --short && git diff --stat'",
    "/bin/bash -lc \"printf '%s\\n' one two three | sort\"",
    "/bin/bash -lc 'ls -la'",
];

/// About `length` bytes of prose; a fifth of all texts has characters beyond ASCII.
fn prose(dice: &mut Dice, length: usize) -> String {
    let foreign = dice.chance(20);
    let mut text = String::new();
    while text.len() < length {
        let word = if foreign && dice.chance(12) { dice.one(FOREIGN) } else { dice.one(WORDS) };
        text.push_str(word);
        text.push_str(match dice.within(0, 40) {
            0..=2 => ".\n",
            3 => "\n\n- ",
            4 => ", \"as said\", ",
            5 | 6 => ", ",
            _ => " ",
        });
    }
    text
}

/// What commands print, a line of each kind.
#[derive(Clone, Copy)]
enum Output {
    /// A test runner with colours.
    Tests,
    /// Compiler warnings with colours and typographic quotes.
    Warnings,
    /// `git diff` with colours, of code that is indented with tabs.
    Diff,
    /// A JSON document, indented.
    Json,
    /// `rg -n` over code.
    Search,
    /// `ls -l`.
    List,
    /// A table drawn with box characters.
    Table,
    /// A log.
    Log,
    /// A column of numbers.
    Numbers,
    /// Prose, a paragraph a line.
    Prose,
}

const OUTPUTS: [Output; 10] = [
    Output::Tests,
    Output::Warnings,
    Output::Diff,
    Output::Json,
    Output::Search,
    Output::List,
    Output::Table,
    Output::Log,
    Output::Numbers,
    Output::Prose,
];

impl Output {
    fn line(self, dice: &mut Dice) -> String {
        let (path, word, other) = (dice.one(PATHS), dice.one(WORDS), dice.one(WORDS));
        let (line, number) = (dice.within(1, 900), dice.within(1, 60_000));
        match self {
            Output::Tests => {
                format!("test {word}::{other}_{line}_keeps_its_order ... \u{1b}[32mok\u{1b}[0m\n")
            }
            Output::Warnings => format!(
                "{path}:{line}: \u{1b}[1m\u{1b}[33mwarning\u{1b}[0m: unused variable: ‘{word}’ [-Wunused-variable]\n"
            ),
            Output::Diff => {
                format!("\u{1b}[31m-\t\treturn fmt.Errorf(\"reading {word}: %w\", {other})\u{1b}[m\n")
            }
            Output::Json => {
                format!("    \"{word}\": {{\"id\": {number}, \"name\": \"{other}\", \"ok\": true}},\n")
            }
            Output::Search => format!("{path}:{line}:    let {word} = \"{other}\".to_owned();\n"),
            Output::List => format!("-rw-r--r--  1 dev  staff  {number} Jan 31 09:05 {path}\n"),
            Output::Table => format!("│ {word:<10} │ {number:>8} │ {other:<10} │\n"),
            Output::Log => {
                format!(
                    "2026-01-31T09:05:00.{line:03}Z  INFO {word}: took {number} ms, {other} was not needed\n"
                )
            }
            Output::Numbers => format!("{number}\n"),
            Output::Prose => format!("{}\n", prose(dice, 300).replace('\n', " ")),
        }
    }
}

/// About `length` bytes of what one command prints.
fn outputs(dice: &mut Dice, length: usize) -> String {
    let output = OUTPUTS[dice.within(0, OUTPUTS.len())];
    let mut text = String::new();
    while text.len() < length {
        text.push_str(&output.line(dice));
    }
    text
}

/// A member list as JSON in the order given; `json!` would sort the keys.
fn object(members: &[(&str, Value)]) -> String {
    let members: Vec<_> = members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

fn event(kind: &str, members: &[(&str, String)]) -> String {
    let members: String = members.iter().map(|(key, value)| format!(",\"{key}\":{value}")).collect();
    format!("{{\"type\":\"{kind}\"{members}}}\n")
}

fn item(kind: &str, number: usize, of: &str, members: &[(&str, Value)]) -> String {
    let mut all = vec![("id", json!(format!("item_{number}"))), ("type", json!(of))];
    all.extend_from_slice(members);
    event(kind, &[("item", object(&all))])
}

fn thread(dice: &mut Dice) -> String {
    let id = format!("01a228f1-{:04x}-7921-899c-{:012x}", dice.next() >> 48, dice.next() >> 16);
    event("thread.started", &[("thread_id", json!(id).to_string())])
}

fn usage(dice: &mut Dice) -> String {
    let input = dice.within(1_000, 400_000);
    let usage = object(&[
        ("input_tokens", json!(input)),
        ("cached_input_tokens", json!(input / 2)),
        ("cache_write_input_tokens", json!(0)),
        ("output_tokens", json!(dice.within(20, 9_000))),
        ("reasoning_output_tokens", json!(dice.within(0, 4_000))),
    ]);
    event("turn.completed", &[("usage", usage)])
}

/// The lines about one item of a chatty stream.
fn chat(dice: &mut Dice, number: usize, stream: &mut String) {
    let (short, long) = (dice.within(20, 160), dice.within(60, 420));
    match dice.within(0, 20) {
        0..=3 => {
            let text = prose(dice, long);
            stream.push_str(&item("item.completed", number, "agent_message", &[("text", json!(text))]));
        }
        4..=7 => {
            let text = format!("**Looking further**\n\n{}", prose(dice, long));
            stream.push_str(&item("item.completed", number, "reasoning", &[("text", json!(text))]));
        }
        8..=12 => {
            let command = json!(dice.one(COMMANDS));
            let output = json!(outputs(dice, short));
            for (kind, output, code, status) in [
                ("item.started", json!(""), json!(null), "in_progress"),
                ("item.completed", output, json!(usize::from(dice.chance(10))), "completed"),
            ] {
                let members = [
                    ("command", command.clone()),
                    ("aggregated_output", output),
                    ("exit_code", code),
                    ("status", json!(status)),
                ];
                stream.push_str(&item(kind, number, "command_execution", &members));
            }
        }
        13 | 14 => {
            let changes = format!(
                "[{},{}]",
                object(&[("path", json!(dice.one(PATHS))), ("kind", json!("update"))]),
                object(&[("path", json!(dice.one(PATHS))), ("kind", json!("add"))])
            );
            for (kind, status) in [("item.started", "in_progress"), ("item.completed", "completed")] {
                let item = format!(
                    "{{\"id\":\"item_{number}\",\"type\":\"file_change\",\"changes\":{changes},\"status\":\"{status}\"}}"
                );
                stream.push_str(&event(kind, &[("item", item)]));
            }
        }
        15 | 16 => {
            let text = json!(prose(dice, short));
            for (kind, status) in [("item.started", "in_progress"), ("item.completed", "completed")] {
                let result = if kind == "item.started" {
                    json!(null)
                } else {
                    json!({"content": [{"text": text, "type": "text"}], "structured_content": null})
                };
                let members = [
                    ("server", json!("docs")),
                    ("tool", json!("search")),
                    ("arguments", json!({"query": "how lines end", "limit": 10})),
                    ("result", result),
                    ("error", json!(null)),
                    ("status", json!(status)),
                ];
                stream.push_str(&item(kind, number, "mcp_tool_call", &members));
            }
        }
        17 => {
            let query = json!("rust jsonl scanner");
            for kind in ["item.started", "item.completed"] {
                let members =
                    [("query", query.clone()), ("action", json!({"type": "search", "query": query}))];
                stream.push_str(&item(kind, number, "web_search", &members));
            }
        }
        18 => {
            for (kind, done) in
                [("item.started", 0), ("item.updated", 1), ("item.updated", 2), ("item.completed", 3)]
            {
                let steps = ["Read the code", "Change the scanner", "Run the tests"];
                let steps: Vec<_> =
                    (0..3).map(|step| json!({"text": steps[step], "completed": step < done})).collect();
                stream.push_str(&item(kind, number, "todo_list", &[("items", json!(steps))]));
            }
        }
        _ => {
            let prompt = json!(prose(dice, short));
            for (kind, status) in [("item.started", "in_progress"), ("item.completed", "completed")] {
                let members = [
                    ("tool", json!("spawn_agent")),
                    ("sender_thread_id", json!("01a228f1-2944-7921-899c-7f134beee573")),
                    ("receiver_thread_ids", json!([])),
                    ("prompt", prompt.clone()),
                    ("agents_states", json!({})),
                    ("status", json!(status)),
                ];
                stream.push_str(&item(kind, number, "collab_tool_call", &members));
            }
        }
    }
}

/// Runs of many short lines, `size` bytes or a little more.
pub(crate) fn chatty(size: usize) -> String {
    let mut dice = Dice(1);
    let mut stream = String::new();
    while stream.len() < size {
        stream.push_str(&thread(&mut dice));
        let warning = json!("Model metadata for `model` not found. Defaulting to fallback metadata.");
        stream.push_str(&item("item.completed", 0, "error", &[("message", warning)]));
        let mut number = 1;
        for _ in 0..dice.within(1, 4) {
            stream.push_str(&event("turn.started", &[]));
            for _ in 0..dice.within(8, 40) {
                chat(&mut dice, number, &mut stream);
                number += 1;
            }
            if dice.chance(10) {
                let why =
                    json!("stream disconnected before completion: stream closed before response.completed");
                stream.push_str(&event("error", &[("message", why.to_string())]));
                stream.push_str(&event("turn.failed", &[("error", object(&[("message", why)]))]));
            } else {
                stream.push_str(&usage(&mut dice));
            }
        }
    }
    stream
}

/// Runs of commands that print 1 KB to 1 MB each, `size` bytes or a little more.
pub(crate) fn bulky(size: usize) -> String {
    let mut dice = Dice(2);
    let mut stream = String::new();
    stream.push_str(&thread(&mut dice));
    let mut number = 0;
    while stream.len() < size {
        stream.push_str(&event("turn.started", &[]));
        for _ in 0..8 {
            // Each power of two between the bounds is as likely as any other.
            let least = 1_000 << dice.within(0, 10);
            let length = dice.within(least, least * 2).min(1_000_000);
            let members = [
                ("command", json!(dice.one(COMMANDS))),
                ("aggregated_output", json!(outputs(&mut dice, length))),
                ("exit_code", json!(0)),
                ("status", json!("completed")),
            ];
            stream.push_str(&item("item.completed", number, "command_execution", &members));
            number += 1;
        }
        stream.push_str(&usage(&mut dice));
    }
    stream
}
