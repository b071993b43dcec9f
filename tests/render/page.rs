//! What a terminal gets, and what others do.

use crate::harness::filter::{Filter, filter};
use crate::harness::script::{C, F, M, S, T, lines};
use crate::harness::terminal;

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
