//! What a terminal gets, and what others do.

use crate::harness::filter::{Filter, filter};
use crate::harness::script::{C, F, M, S, T, lines};
use crate::harness::terminal;

use super::{completed, message};

const ITEMS: [&str; 3] = [
    r#"{"type":"item.completed","item":{"type":"reasoning","text":"hm"}}"#,
    r#"{"type":"item.completed","item":{"type":"command_execution","command":"ls","exit_code":0}}"#,
    r#"{"type":"item.completed","item":{"type":"error","message":"careful"}}"#,
];

/// What a terminal gets from a filter.
fn on_a_terminal(filter: Filter) -> String {
    terminal::on_a_terminal(filter).1
}

fn render() -> Filter {
    filter("codex-render").env("TERM", "xterm").stdin(lines([T, S]) + &lines(ITEMS) + &lines([M, C, F]))
}

const PLAIN: &str =
    "Thinking: hm\nUsing shell — ls\nWarning: careful\nok\nTokens: in 1 (cached 0), out 1\nFailed: x\n";

#[test]
fn a_terminal_gets_colours() {
    let expected = "\u{1b}[2mThinking: \u{1b}[0mhm\n\u{1b}[36mUsing shell — \u{1b}[0mls\n\
                    \u{1b}[33mWarning: \u{1b}[0mcareful\nok\n\
                    \u{1b}[2mTokens: \u{1b}[0min 1 (cached 0), out 1\n\u{1b}[1m\u{1b}[31mFailed: \u{1b}[0mx\n";
    assert_eq!(on_a_terminal(render()), expected);
    assert_eq!(on_a_terminal(render().env("NO_COLOR", "")), expected);
}

#[test]
fn no_color_and_a_dumb_terminal_are_respected() {
    assert_eq!(on_a_terminal(render().env("NO_COLOR", "1")), PLAIN);
    assert_eq!(on_a_terminal(render().env("TERM", "dumb")), PLAIN);
    render().run().exits(0).stdout_is(PLAIN);
}

#[test]
fn a_message_that_looks_like_a_line_of_the_filter_is_quoted() {
    let text =
        r"Done.\nCompleted in 3s\n\u200b Failed: timeout\nUsing no tool, as usual\ndemo/boom failed: x";
    let stream = message(text) + &completed(r#""type":"reasoning","text":"hm\nCompleted in 3s""#);
    let sentinel = "{\"type\":\"handoff.completed\",\"elapsed_seconds\":3}\n";
    let expected = "Done.\n> Completed in 3s\n> \u{200b} Failed: timeout\n> Using no tool, as usual\n\
                    > demo/boom failed: x\nThinking: hm\n> Completed in 3s\nCompleted in 3s\n";
    filter("codex-render").stdin(stream.clone() + sentinel).run().exits(0).stdout_is(expected);
    let answer = text.replace(r"\n", "\n").replace(r"\u200b", "\u{200b}") + "\n";
    filter("codex-render").arg("--answer").stdin(stream + sentinel).run().exits(0).stdout_is(answer);
}

#[test]
fn a_failed_command_shows_the_end_of_its_output_and_a_failed_call_its_reason() {
    let output: String = (1..=9).map(|n| format!("line {n}\\n")).collect();
    let stream = completed(&format!(
        r#""type":"command_execution","command":"ls","aggregated_output":"{output}","exit_code":2,"status":"failed""#
    )) + &completed(
        r#""type":"mcp_tool_call","server":"demo","tool":"boom","result":{"content":[{"type":"text","text":"it broke"}]},"error":null,"status":"failed""#,
    ) + &completed(
        r#""type":"mcp_tool_call","server":"demo","tool":"dead","error":{"message":"timed\nout"},"status":"failed""#,
    ) + &completed(
        r#""type":"collab_tool_call","tool":"spawn_agent","agents_states":{"a":{"status":"errored","message":"no room"}},"status":"failed""#,
    );
    let shown = |last: &str| {
        format!(
            "Using shell — ls\nShell failed with status 2 — ls\n{last}Using demo/boom…\ndemo/boom failed: it broke\n\
             Using demo/dead…\ndemo/dead failed: timed\\nout\nAsking an agent…\nagent/spawn_agent failed: no room\n"
        )
    };
    let lines = |from: usize| (from..=9).map(|n| format!("  line {n}\n")).collect::<String>();
    let render = || filter("codex-render").stdin(stream.as_str());
    render().run().exits(0).stdout_is(shown(&lines(5)));
    render().args(["--output", "1"]).run().exits(0).stdout_is(shown(&lines(9)));
    render().args(["--output", "0"]).run().exits(0).stdout_is(shown(""));
}

#[test]
fn a_file_without_events_and_a_wrong_option_are_named() {
    let said = |stdin: &str, what: &str| {
        let ran = filter("codex-render").stdin(stdin).run();
        ran.exits(65).stdout_is("").stderr_has(&format!("standard input: {what}"));
    };
    said("some\ntext\n", "not JSONL: none of its lines is a JSON object");
    said("{\"a\":1}\n", "no event of codex exec --json in it");
    filter("codex-render").stdin("").run().exits(0);
    filter("codex-render").args(["--follow", ""]).run().exits(64).stderr_has("the name of a file is empty");
    filter("codex-render").arg("--folow").run().exits(64).stderr_has("did you mean '--follow'?");
}
