//! Two streams as Codex would print them, made anew and the same in every run.
//!
//! Shapes and key orders are those of the samples under `tests/data`; only the texts are made up. Items have one
//! `id` each, although web searches have two in reality: a derived serde struct refuses the second.

use serde_json::Value;

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

    fn word<'a>(&mut self, of: &'a str) -> &'a str {
        let number = self.within(0, of.split(' ').count());
        of.split(' ').nth(number).expect("it is one of them")
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.within(0, 100) < percent
    }
}

/// Words of the prose.
const WORDS: &str = "the parser reads a line and returns its first error when tests fail we check whether file exists \
    before writing to it buffer is flushed after each record so that readers see progress of run without delay in \
    src/main.rs `Scanner` on Linux macOS now this function should handle empty input as well";

/// Words beyond ASCII.
const FOREIGN: &str = "it’s — naïve café “quoted” 日本語 проверка → ✓ 🚀 größer";

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

/// About `length` bytes of prose with a line break every hundred bytes or so; a fifth of all texts has characters
/// beyond ASCII.
fn prose(dice: &mut Dice, length: usize) -> String {
    let foreign = dice.chance(20);
    let mut text = String::new();
    while text.len() < length {
        let word = if foreign && dice.chance(12) { dice.word(FOREIGN) } else { dice.word(WORDS) };
        text.push_str(word);
        text.push_str(match dice.within(0, 60) {
            0..=3 => ". ",
            4 => ".\n\n",
            5 => "\n- ",
            6 => ", \"as said\", ",
            7 | 8 => ", ",
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
        let (path, word, other) = (dice.one(PATHS), dice.word(WORDS), dice.word(WORDS));
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

/// `text` as a JSON string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// An object with these members, in this order; the values are JSON already.
fn object(members: &[(&str, &str)]) -> String {
    let members: Vec<_> = members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}

/// A line.
fn event(kind: &str, members: &[(&str, &str)]) -> String {
    let kind = quoted(kind);
    format!("{}\n", object(&[&[("type", kind.as_str())], members].concat()))
}

/// A line about an item.
fn item(event_kind: &str, number: usize, kind: &str, members: &[(&str, &str)]) -> String {
    let (id, kind) = (quoted(&format!("item_{number}")), quoted(kind));
    let item = object(&[&[("id", id.as_str()), ("type", kind.as_str())], members].concat());
    event(event_kind, &[("item", &item)])
}

fn thread(dice: &mut Dice) -> String {
    let id = format!("\"01a228f1-{:04x}-7921-899c-{:012x}\"", dice.next() >> 48, dice.next() >> 16);
    event("thread.started", &[("thread_id", &id)])
}

fn usage(dice: &mut Dice) -> String {
    let input = dice.within(1_000, 400_000);
    let usage = object(&[
        ("input_tokens", &input.to_string()),
        ("cached_input_tokens", &(input / 2).to_string()),
        ("cache_write_input_tokens", "0"),
        ("output_tokens", &dice.within(20, 9_000).to_string()),
        ("reasoning_output_tokens", &dice.within(0, 4_000).to_string()),
    ]);
    event("turn.completed", &[("usage", &usage)])
}

const STARTED: (&str, &str) = ("item.started", "\"in_progress\"");
const COMPLETED: (&str, &str) = ("item.completed", "\"completed\"");

/// The lines about one item of a chatty stream.
fn chat(dice: &mut Dice, number: usize) -> String {
    let (short, long) = (dice.within(20, 160), dice.within(60, 420));
    match dice.within(0, 20) {
        0..=3 => item("item.completed", number, "agent_message", &[("text", &quoted(&prose(dice, long)))]),
        4..=7 => {
            let text = format!("**Looking further**\n\n{}", prose(dice, long));
            item("item.completed", number, "reasoning", &[("text", &quoted(&text))])
        }
        8..=12 => {
            let command = quoted(dice.one(COMMANDS));
            let output = quoted(&outputs(dice, short));
            let code = if dice.chance(10) { "1" } else { "0" };
            let ends = [(STARTED, "\"\"", "null"), (COMPLETED, output.as_str(), code)];
            let lines = ends.map(|((kind, status), output, code)| {
                let members = [
                    ("command", command.as_str()),
                    ("aggregated_output", output),
                    ("exit_code", code),
                    ("status", status),
                ];
                item(kind, number, "command_execution", &members)
            });
            lines.concat()
        }
        13 | 14 => {
            let change = |path: &str, kind: &str| object(&[("path", &quoted(path)), ("kind", &quoted(kind))]);
            let changes =
                format!("[{},{}]", change(dice.one(PATHS), "update"), change(dice.one(PATHS), "add"));
            let line = |(kind, status)| {
                item(kind, number, "file_change", &[("changes", changes.as_str()), ("status", status)])
            };
            [STARTED, COMPLETED].map(line).concat()
        }
        15 | 16 => {
            let content = object(&[("type", "\"text\""), ("text", &quoted(&prose(dice, short)))]);
            let result = object(&[("content", &format!("[{content}]")), ("structured_content", "null")]);
            let line = |((kind, status), result)| {
                let members = [
                    ("server", "\"docs\""),
                    ("tool", "\"search\""),
                    ("arguments", "{\"query\":\"how lines end\",\"limit\":10}"),
                    ("result", result),
                    ("error", "null"),
                    ("status", status),
                ];
                item(kind, number, "mcp_tool_call", &members)
            };
            [(STARTED, "null"), (COMPLETED, result.as_str())].map(line).concat()
        }
        17 => {
            let query = "\"rust jsonl scanner\"";
            let action = object(&[("type", "\"search\""), ("query", query)]);
            let line = |(kind, _)| item(kind, number, "web_search", &[("query", query), ("action", &action)]);
            [STARTED, COMPLETED].map(line).concat()
        }
        18 => {
            let updated = ("item.updated", "");
            let lines =
                [STARTED, updated, updated, COMPLETED].into_iter().enumerate().map(|(done, (kind, _))| {
                    let steps = ["Read the code", "Change the scanner", "Run the tests"];
                    let steps = [0, 1, 2].map(|step| {
                        let completed = if step < done { "true" } else { "false" };
                        object(&[("text", &quoted(steps[step])), ("completed", completed)])
                    });
                    item(kind, number, "todo_list", &[("items", &format!("[{}]", steps.join(",")))])
                });
            lines.collect()
        }
        _ => {
            let prompt = quoted(&prose(dice, short));
            let line = |(kind, status)| {
                let members = [
                    ("tool", "\"spawn_agent\""),
                    ("sender_thread_id", "\"01a228f1-2944-7921-899c-7f134beee573\""),
                    ("receiver_thread_ids", "[]"),
                    ("prompt", &prompt),
                    ("agents_states", "{}"),
                    ("status", status),
                ];
                item(kind, number, "collab_tool_call", &members)
            };
            [STARTED, COMPLETED].map(line).concat()
        }
    }
}

/// Runs of many short lines, `size` bytes or a little more.
pub(crate) fn chatty(size: usize) -> String {
    let mut dice = Dice(1);
    let mut stream = String::new();
    while stream.len() < size {
        stream.push_str(&thread(&mut dice));
        let warning = quoted("Model metadata for `model` not found. Defaulting to fallback metadata.");
        stream.push_str(&item("item.completed", 0, "error", &[("message", &warning)]));
        let mut number = 0;
        for _ in 0..dice.within(1, 4) {
            stream.push_str(&event("turn.started", &[]));
            for _ in 0..dice.within(8, 40) {
                number += 1;
                stream.push_str(&chat(&mut dice, number));
            }
            if dice.chance(10) {
                let why =
                    quoted("stream disconnected before completion: stream closed before response.completed");
                stream.push_str(&event("error", &[("message", &why)]));
                stream.push_str(&event("turn.failed", &[("error", &object(&[("message", &why)]))]));
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
    let mut stream = thread(&mut dice);
    let mut number = 0;
    while stream.len() < size {
        stream.push_str(&event("turn.started", &[]));
        for _ in 0..8 {
            // Each power of two between the bounds is as likely as any other.
            let least = 1_000 << dice.within(0, 10);
            let length = dice.within(least, least * 2).min(1_000_000);
            let (command, output) = (quoted(dice.one(COMMANDS)), quoted(&outputs(&mut dice, length)));
            let members = [
                ("command", command.as_str()),
                ("aggregated_output", &output),
                ("exit_code", "0"),
                ("status", "\"completed\""),
            ];
            stream.push_str(&item("item.completed", number, "command_execution", &members));
            number += 1;
        }
        stream.push_str(&usage(&mut dice));
    }
    stream
}
