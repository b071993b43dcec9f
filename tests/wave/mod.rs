//! `wave-watch`, by what it is asked to get right.

mod activity;
mod agents;
mod bad_input;
mod changes;
mod faults;
mod lines;
mod many;
mod output;
mod real_codex;
mod script;
mod settling;
mod table;
mod writer;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use crate::harness::filter::{Filter, filter};
use crate::harness::running::Running;
use crate::harness::scratch::Scratch;
use crate::harness::wait::{SOON, wait_until};

/// Sentinels as launchers write them.
const DONE: &str = r#"{"type":"handoff.completed","elapsed_seconds":9,"output_tokens":1}"#;
const FAILED: &str =
    r#"{"type":"handoff.failed","reason":"error","rc":1,"elapsed_seconds":3,"cause":"auth"}"#;

/// A watcher in `scratch` of agents with a budget of 1200 s, each named as its file is.
fn watch(scratch: &Scratch, files: &[&str]) -> Filter {
    let watcher = filter("wave-watch").dir(scratch.dir());
    files.iter().fold(watcher, |watcher, file| watcher.args(["--agent", file, "1200", file]))
}

/// What stands for the kernel's notices not being there.
const NO_NOTICES: (&str, &str) = ("CODEX_FILTERS_PORTABLE", "1");

fn append(path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
    let path = path.as_ref();
    let file = File::options().create(true).append(true).open(path);
    let mut file = file.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file.write_all(text.as_ref()).expect("writing");
}

/// Records as they were printed, but for times: `"elapsedSeconds"` and `"quietSeconds"` are T. Each is asserted to be
/// a number with up to three decimals, and none to be less than the one before.
#[track_caller]
fn records(stdout: impl AsRef<[u8]>) -> Vec<String> {
    let text = std::str::from_utf8(stdout.as_ref()).expect("records in UTF-8");
    assert!(text.is_empty() || text.ends_with('\n'), "the last record is torn\n{text}");
    let mut last = 0.0;
    let lines = text.lines().map(|line| {
        let (line, elapsed) = without_time(line, "\"elapsedSeconds\":").expect("a time");
        assert!(elapsed >= last, "time went backwards\n{text}");
        last = elapsed;
        without_time(&line, "\"quietSeconds\":").map_or(line, |(line, _)| line)
    });
    lines.collect()
}

/// `line` with T for the time behind `key`, and the time.
#[track_caller]
fn without_time(line: &str, key: &str) -> Option<(String, f64)> {
    let (before, after) = line.split_once(key)?;
    let end = after.find([',', '}'])?;
    let (time, after) = after.split_at(end);
    let decimals = time.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    assert!(decimals <= 3 && !(time.contains('.') && time.ends_with('0')), "{time}");
    Some((format!("{before}{key}T{after}"), time.parse().expect("a number")))
}

/// Waits until a record has `text`, and gives it.
#[track_caller]
fn told(running: &Running, text: &str) -> String {
    let find = || {
        let stdout = String::from_utf8_lossy(&running.stdout()).into_owned();
        stdout
            .split_inclusive('\n')
            .find(|line| line.ends_with('\n') && line.contains(text))
            .map(str::to_owned)
    };
    wait_until(&format!("a record has {text}"), SOON, || find().is_some());
    find().expect("it was there")
}

/// A `watcher.sentinel` of an agent with a budget of 1200 s, and the settlement after it.
fn settled(agent: &str, events: u64, sentinel: &str, settled: usize, total: usize) -> [String; 2] {
    let value: Value = serde_json::from_str(sentinel).expect("a sentinel");
    let status = if value["type"] == "handoff.completed" { "completed" } else { "failed" };
    let reason = &value["reason"];
    [
        format!(
            r#"{{"type":"watcher.sentinel","agentId":"{agent}","status":"{status}","reason":{reason},"elapsedSeconds":T,"budgetSeconds":1200,"eventCount":{events},"sentinel":{sentinel}}}"#
        ),
        settlement(settled, total),
    ]
}

fn settlement(settled: usize, total: usize) -> String {
    let part = settled as f64 / total as f64;
    let percentage = (part * 100.0 + 0.5).floor();
    let full = (part * 10.0 + 0.5).floor() as usize;
    let bar = "█".repeat(full) + &"░".repeat(10 - full);
    format!(
        r#"{{"type":"watcher.settlement","elapsedSeconds":T,"settled":{settled},"total":{total},"settledPercentage":{percentage},"bar":"{bar}"}}"#
    )
}

/// A `watcher.failed`, with the line if there is one.
fn failed(agent: &str, reason: &str, line: Option<u64>) -> String {
    let line = line.map_or(String::new(), |line| format!(r#","line":{line}"#));
    format!(r#"{{"type":"watcher.failed","agentId":"{agent}","reason":"{reason}","elapsedSeconds":T{line}}}"#)
}
