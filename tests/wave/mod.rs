//! `wave-watch`, by what it is asked to get right.

mod activity;
mod agents;
mod bad_input;
mod changes;
mod faults;
mod lines;
mod many;
mod output;
mod script;
mod settling;
mod table;
mod writer;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::harness::watcher::{records, settled, settlement, told, watch, without_time};

/// Sentinels as launchers write them.
const DONE: &str = r#"{"type":"handoff.completed","elapsed_seconds":9,"output_tokens":1}"#;
const FAILED: &str =
    r#"{"type":"handoff.failed","reason":"error","rc":1,"elapsed_seconds":3,"cause":"auth"}"#;

/// What stands for the kernel's notices not being there.
const NO_NOTICES: (&str, &str) = ("CODEX_FILTERS_PORTABLE", "1");

fn append(path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
    let path = path.as_ref();
    let file = File::options().create(true).append(true).open(path);
    let mut file = file.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file.write_all(text.as_ref()).expect("writing");
}

/// A `watcher.failed`, with the line if there is one.
fn failed(agent: &str, reason: &str, line: Option<u64>) -> String {
    let line = line.map_or(String::new(), |line| format!(r#","line":{line}"#));
    format!(r#"{{"type":"watcher.failed","agentId":"{agent}","reason":"{reason}","elapsedSeconds":T{line}}}"#)
}
