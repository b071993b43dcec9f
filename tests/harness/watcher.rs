//! `wave-watch` as tests start it, and its records.

use serde_json::Value;

use super::filter::{Filter, filter};
use super::running::Running;
use super::scratch::Scratch;
use super::wait::{SOON, wait_until};

/// A watcher in `scratch` of agents with a budget of 1200 s, each named as its file is.
pub(crate) fn watch(scratch: &Scratch, files: &[&str]) -> Filter {
    let watcher = filter("wave-watch").dir(scratch.dir());
    files.iter().fold(watcher, |watcher, file| watcher.args(["--agent", file, "1200", file]))
}

/// Records as they were printed, but for times: `"elapsedSeconds"` and `"quietSeconds"` are T. Each is asserted to be
/// a number with up to three decimals, and none to be less than the one before.
#[track_caller]
pub(crate) fn records(stdout: impl AsRef<[u8]>) -> Vec<String> {
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
pub(crate) fn without_time(line: &str, key: &str) -> Option<(String, f64)> {
    let (before, after) = line.split_once(key)?;
    let end = after.find([',', '}'])?;
    let (time, after) = after.split_at(end);
    let decimals = time.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    assert!(decimals <= 3 && !(time.contains('.') && time.ends_with('0')), "{time}");
    Some((format!("{before}{key}T{after}"), time.parse().expect("a number")))
}

/// Waits until a record has `text`, and gives it.
#[track_caller]
pub(crate) fn told(running: &Running, text: &str) -> String {
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
pub(crate) fn settled(agent: &str, events: u64, sentinel: &str, settled: usize, total: usize) -> [String; 2] {
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

pub(crate) fn settlement(settled: usize, total: usize) -> String {
    let part = settled as f64 / total as f64;
    let percentage = (part * 100.0 + 0.5).floor();
    let full = (part * 10.0 + 0.5).floor() as usize;
    let bar = "█".repeat(full) + &"░".repeat(10 - full);
    format!(
        r#"{{"type":"watcher.settlement","elapsedSeconds":T,"settled":{settled},"total":{total},"settledPercentage":{percentage},"bar":"{bar}"}}"#
    )
}
