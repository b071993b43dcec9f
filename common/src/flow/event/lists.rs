//! The arrays of an item, and the numbers of a usage.
//!
//! A scanner's wants do not reach into arrays, nor to keys that are not known beforehand. These functions read a whole
//! line again, which only few events need. The line has to be one JSON object by the scanner's verdict.

use super::super::scan::{Found, Scan, Scanner, Value, Want};
use super::inside::{at, elements, key_name, members};
use super::item::{Text, capped_text};
use super::keys::text;
use std::collections::VecDeque;

/// A file of a `file_change`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileChange<'a> {
    /// Its path, up to 4,096 bytes.
    pub path: Text<'a>,
    /// `add`, `delete` or `update`, where it is a text.
    pub kind: Option<&'a str>,
}

/// A step of a `todo_list`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanStep<'a> {
    /// The text of the step, up to 1,024 bytes.
    pub text: Text<'a>,
    /// Whether it is done.
    pub completed: bool,
}

/// Hands each file of the `file_change` on `line` to `each`. One without a path is skipped.
pub fn changes(line: &str, mut each: impl FnMut(FileChange<'_>)) {
    static WANTS: [Want; 2] = [Want { path: &["path"], cap: 4096 }, Want { path: &["kind"], cap: 64 }];
    objects(line, &["item", "changes"], &WANTS, |found| {
        if let Some(path) = capped_text(found, 0) {
            each(FileChange { path, kind: text(found, 1) });
        }
    });
}

/// Hands each step of the `todo_list` on `line` to `each`. One without a text is skipped.
pub fn steps(line: &str, mut each: impl FnMut(PlanStep<'_>)) {
    static WANTS: [Want; 2] = [Want { path: &["text"], cap: 1024 }, Want { path: &["completed"], cap: 0 }];
    objects(line, &["item", "items"], &WANTS, |found| {
        if let Some(text) = capped_text(found, 0) {
            each(PlanStep { text, completed: found.get(1) == Some(Value::Bool(true)) });
        }
    });
}

/// Hands each number in the `usage` on `line` to `each`: its name, and its digits as written. Other values are skipped.
pub fn usage_numbers(line: &str, mut each: impl FnMut(&str, &str)) {
    let Some(usage) = at(line, &["usage"]) else { return };
    for (key, value) in members(usage) {
        if value.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && let Some(name) = key_name(key)
        {
            each(&name, value);
        }
    }
}

/// Hands why the `mcp_tool_call` on `line` failed to `each`, up to 4,096 bytes: its error, else the texts of its result.
pub fn tool_failure(line: &str, mut each: impl FnMut(Text<'_>)) {
    static ERROR: [Want; 1] = [Want { path: &["item", "error", "message"], cap: 4096 }];
    static CONTENT: [Want; 1] = [Want { path: &["text"], cap: 4096 }];
    let mut scanner = Scanner::new(&ERROR);
    scanner.push(line.as_bytes());
    if let Scan::Object(found) = scanner.finish()
        && let Some(text) = capped_text(found, 0)
    {
        return each(text);
    }
    objects(line, &["item", "result", "content"], &CONTENT, |found| {
        if let Some(text) = capped_text(found, 0) {
            each(text);
        }
    });
}

/// Hands the message of each agent of the `collab_tool_call` on `line` to `each`, up to 4,096 bytes.
pub fn agent_messages(line: &str, mut each: impl FnMut(Text<'_>)) {
    static WANTS: [Want; 1] = [Want { path: &["message"], cap: 4096 }];
    let states = at(line, &["item", "agents_states"]).into_iter().flat_map(members).map(|(_, state)| state);
    found_in(states, &WANTS, |found| {
        if let Some(text) = capped_text(found, 0) {
            each(text);
        }
    });
}

/// Hands the last `count` lines of the output of the `command_execution` on `line` to `each`, as one text of up to
/// 16 KiB.
pub fn last_output(line: &str, count: usize, each: impl FnOnce(&str)) {
    static WANTS: [Want; 1] = [Want { path: &["text"], cap: 16 * 1024 }];
    let output = at(line, &["item", "aggregated_output"])
        .and_then(|output| output.strip_prefix('"')?.strip_suffix('"'));
    let Some(output) = output else { return };
    let mut scanner = Scanner::new(&WANTS);
    for part in [r#"{"text":""#, last_lines(output, count), "\"}"] {
        scanner.push(part.as_bytes());
    }
    if let Scan::Object(found) = scanner.finish()
        && let Some(Text { text, .. }) = capped_text(found, 0)
    {
        each(text);
    }
}

/// The last `count` lines of a text in JSON, with its escapes: an LF is `\n`.
fn last_lines(text: &str, count: usize) -> &str {
    let mut starts = VecDeque::from([0]);
    let mut at = 0;
    while let Some(escape) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
        at += escape + 2;
        let is_end = text.as_bytes().get(at - 1) == Some(&b'n') && at < text.len();
        if is_end {
            starts.push_back(at);
            if starts.len() > count {
                starts.pop_front();
            }
        }
    }
    if count == 0 { "" } else { &text[starts[0]..] }
}

/// Hands the id of each agent in the `collab_tool_call` on `line` to `each`, some of them twice. Returns true when there
/// must be an agent and there is no id: of some agents, a stream of Codex 0.162 and later has only the `wait`.
pub fn agents(line: &str, mut each: impl FnMut(&str)) -> bool {
    let mut has_id = false;
    let receivers = at(line, &["item", "receiver_thread_ids"]).into_iter().flat_map(elements);
    let states = at(line, &["item", "agents_states"]).into_iter().flat_map(members).map(|(key, _)| key);
    for id in receivers.chain(states).filter_map(key_name) {
        has_id = true;
        each(&id);
    }
    let status = at(line, &["item", "status"]).and_then(key_name);
    !has_id && !matches!(status.as_deref(), Some("in_progress" | "failed"))
}

/// Hands what `wants` find in each object of the array at `path` to `each`.
fn objects(line: &str, path: &[&str], wants: &'static [Want], each: impl FnMut(Found<'_>)) {
    found_in(at(line, path).into_iter().flat_map(elements), wants, each);
}

/// Hands what `wants` find in each of `objects` to `each`.
fn found_in<'a>(
    objects: impl Iterator<Item = &'a str>,
    wants: &'static [Want],
    mut each: impl FnMut(Found<'_>),
) {
    let mut scanner = Scanner::new(wants);
    for element in objects {
        scanner.push(element.as_bytes());
        if let Scan::Object(found) = scanner.finish() {
            each(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes_of(line: &str) -> Vec<(String, Option<String>)> {
        let mut all = Vec::new();
        changes(line, |change| all.push((change.path.text.to_owned(), change.kind.map(str::to_owned))));
        all
    }

    #[test]
    fn the_files_of_a_change_are_found() {
        let line = r#"{"type":"item.completed","item":{"id":"item_0","type":"file_change","changes":[{"path":"/a","kind":"update"},{"kind":"add","path":"\/b \ud83d"},{"path":null},7,{"path":"c","kind":{"x":1}}],"status":"completed"}}"#;
        let kind = |kind: &str| Some(kind.to_owned());
        assert_eq!(
            changes_of(line),
            [("/a".into(), kind("update")), ("/b \u{fffd}".into(), kind("add")), ("c".into(), None)]
        );
        for line in [
            r#"{"item":{"changes":[]}}"#,
            r#"{"item":{"changes":null}}"#,
            r#"{"item":{}}"#,
            r#"{"item":[]}"#,
            "{}",
        ] {
            assert_eq!(changes_of(line), []);
        }
    }

    #[test]
    fn the_steps_of_a_list_are_found() {
        let line = r#"{"item":{"type":"todo_list","items":[{"text":"Read","completed":true},{"text":"Edit, \"it\"","completed":false},{"text":"Test"},{"completed":true}]}}"#;
        let mut all = Vec::new();
        steps(line, |step| all.push((step.text.text.to_owned(), step.completed)));
        assert_eq!(all, [("Read".into(), true), ("Edit, \"it\"".into(), false), ("Test".into(), false)]);
    }

    #[test]
    fn the_last_lines_of_an_output_are_found() {
        for (output, count, expected) in [
            (r"one\ntwo\nthree\n", 2, "two\nthree\n"),
            (r"one\ntwo\nthree", 2, "two\nthree"),
            (r"one\\ntwo\nthree", 2, "one\\ntwo\nthree"),
            (r"one\ntwo", 5, "one\ntwo"),
            (r"one\n\ud83d\u001b\n", 1, "\u{fffd}\u{1b}\n"),
            (r"\n\n", 1, "\n"),
            (r"one\ntwo", 0, ""),
            ("", 3, ""),
        ] {
            let line = format!(r#"{{"item":{{"aggregated_output":"{output}"}}}}"#);
            let mut all = None;
            last_output(&line, count, |text| all = Some(text.to_owned()));
            assert_eq!(all.as_deref(), Some(expected), "{output} {count}");
        }
        last_output(r#"{"item":{"aggregated_output":null}}"#, 3, |_| panic!("none"));
    }

    #[test]
    fn the_reason_of_a_failed_call_is_found() {
        let reason = |item: &str| {
            let mut all = Vec::new();
            tool_failure(&format!(r#"{{"item":{item}}}"#), |text| all.push(text.text.to_owned()));
            all.join("|")
        };
        assert_eq!(reason(r#"{"error":{"message":"no"},"result":null}"#), "no");
        let content = r#"[{"type":"text","text":"it"},{"type":"image"},{"text":"broke"}]"#;
        assert_eq!(reason(&format!(r#"{{"error":null,"result":{{"content":{content}}}}}"#)), "it|broke");
        assert_eq!(reason(r#"{"error":null,"result":null}"#), "");
    }

    #[test]
    fn the_agents_of_a_call_are_found() {
        for (item, ids, is_unnamed) in [
            (r#"{"receiver_thread_ids":["a","b"],"agents_states":{"b":{},"c":{}}}"#, "a b b c", false),
            (r#"{"receiver_thread_ids":[],"agents_states":{},"status":"in_progress"}"#, "", false),
            (r#"{"receiver_thread_ids":[],"agents_states":{},"status":"failed"}"#, "", false),
            (r#"{"tool":"wait","status":"completed"}"#, "", true),
            (r#"{"receiver_thread_ids":null,"agents_states":7}"#, "", true),
        ] {
            let mut all = Vec::new();
            let line = format!(r#"{{"type":"item.completed","item":{item}}}"#);
            assert_eq!(agents(&line, |id| all.push(id.to_owned())), is_unnamed, "{item}");
            assert_eq!(all.join(" "), ids, "{item}");
        }
    }

    #[test]
    fn each_number_of_a_usage_is_found() {
        let line = r#"{"usage":{"input_tokens":1},"type":"turn.completed","usage":{"input_tokens":18446744073709551616,"cached_input_tokens":null,"output_tokens":1.8e4,"new_\u0061":-1,"x":"7","y":[1],"z":{"n":2},"input_tokens":3}}"#;
        let mut all = Vec::new();
        usage_numbers(line, |name, digits| all.push((name.to_owned(), digits.to_owned())));
        let expected = [
            ("input_tokens", "18446744073709551616"),
            ("output_tokens", "1.8e4"),
            ("new_a", "-1"),
            ("input_tokens", "3"),
        ];
        assert_eq!(all, expected.map(|(name, digits)| (name.to_owned(), digits.to_owned())));
    }
}
