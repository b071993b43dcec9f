//! `fake-codex`: a stand-in for the `codex` program, for tests, demos and benches.
//!
//! It takes the command lines of Codex (`exec`, `exec resume ID`, `exec fork ID`, `login status`, `--help`) and
//! replays a script: the JSONL file that `FAKE_CODEX_SCRIPT` names, or without it a small good run. A line with
//! a `step` as first key tells it what to do; every other line goes to stdout just as it stands, so a recorded
//! stream of Codex is a script already:
//!
//! ```text
//! {"type":"thread.started","thread_id":"t1"}
//! {"type":"turn.started"}
//! {"step":"delay","ms":50}
//! {"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"ok"}}
//! {"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}
//! {"step":"exit","status":0}
//! ```
//!
//! All steps are listed at [`step::Step`]. Where a script says nothing else, the whole prompt is read before the
//! first step, and a run that ends with status 0 writes the text of its last `agent_message` to the `-o` file;
//! a run that ends otherwise leaves no such file (as 0.156.1 does). When nobody reads its stdout any more it
//! ends with status 101, as Codex does.
//!
//! | variable | effect |
//! |---|---|
//! | `FAKE_CODEX_SCRIPT` | the script |
//! | `FAKE_CODEX_LOGIN` | `fail`: `login status` says "Not logged in" and exits 1; `hang`: it never ends |
//! | `FAKE_CODEX_HELP_WITHOUT` | options, separated by commas, that this Codex neither lists nor takes |
//! | `FAKE_CODEX_CALLS` | a file to which each call adds its arguments as one line |
#![allow(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout)]

mod calls;
mod descendant;
mod fields;
mod flood;
mod options;
mod play;
mod portrait;
mod step;

use options::Asked;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, step] = arguments.as_slice()
        && let Some(part) = descendant::Part::from_word(word)
    {
        return descendant::live(part, step);
    }
    calls::record(&arguments);
    match options::parse() {
        Asked::Login => calls::login_status(),
        Asked::Run(run) => play::play(run),
    }
}
