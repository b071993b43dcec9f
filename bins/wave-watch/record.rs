//! The records of a watcher: one line each, with its LF, the keys in the order that is promised.
//!
//! A record is made of ids that the user gave, numbers, words of closed lists, [`Activity`] and [`WatchedSentinel`]; no text of
//! a stream fits in.

use crate::activity::Activity;
use crate::sentinel::WatchedSentinel;
use crate::tally::Tally;
use serde_json::json;
use std::time::Duration;

/// How an agent that has not settled is doing.
#[derive(Debug, Clone, Copy)]
pub struct Digest<'a> {
    /// The agent, as the user calls it.
    pub agent: &'a str,
    /// Since the watcher's start.
    pub elapsed: Duration,
    /// What the agent has.
    pub budget: Duration,
    /// Its events so far.
    pub events: u64,
    /// What it did last.
    pub last_activity: Option<&'a Activity>,
    /// Whether it did nothing in the last interval.
    pub no_recent_activity: bool,
    /// Whether there is a file.
    pub file_exists: bool,
    /// Whether the process that writes it lives; `None` when that is not known.
    pub writer_alive: Option<bool>,
    /// Since anything was written to it.
    pub quiet: Duration,
}

/// An agent that has settled.
#[derive(Debug, Clone, Copy)]
pub struct Settled<'a> {
    /// The agent, as the user calls it.
    pub agent: &'a str,
    /// Since the watcher's start.
    pub elapsed: Duration,
    /// What the agent had.
    pub budget: Duration,
    /// Its events before the sentinel.
    pub events: u64,
    /// What settled it.
    pub sentinel: &'a WatchedSentinel,
}

/// What is wrong with a progress file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A line is not JSON text in valid UTF-8.
    Malformed,
    /// A line is not an object.
    NonObject,
    /// There is a second sentinel.
    DuplicateSentinel,
    /// It cannot be read, or is not a regular file.
    Unreadable,
    /// It has shrunk, or is another one.
    Truncated,
}

impl Fault {
    /// The reason of a `watcher.failed`.
    pub fn reason(self) -> &'static str {
        match self {
            Fault::Malformed => "malformed-progress",
            Fault::NonObject => "non-object-progress",
            Fault::DuplicateSentinel => "duplicate-sentinel",
            Fault::Unreadable => "unreadable-progress",
            Fault::Truncated => "truncated-progress",
        }
    }
}

/// `watcher.digest`
pub fn digest(digest: &Digest<'_>) -> String {
    format!(
        "{{\"type\":\"watcher.digest\",\"agentId\":{},\"elapsedSeconds\":{},\"budgetSeconds\":{},\"eventCount\":{},\
         \"lastActivity\":{},\"noRecentActivity\":{},\"progressFileExists\":{},\"quietSeconds\":{},\
         \"writerAlive\":{}}}\n",
        json!(digest.agent),
        seconds(digest.elapsed),
        exact_seconds(digest.budget),
        digest.events,
        digest.last_activity.map_or("null".into(), activity),
        digest.no_recent_activity,
        digest.file_exists,
        seconds(digest.quiet),
        json!(digest.writer_alive)
    )
}

/// `watcher.sentinel`
pub fn sentinel(settled: &Settled<'_>) -> String {
    format!(
        "{{\"type\":\"watcher.sentinel\",\"agentId\":{},\"status\":\"{}\",\"reason\":{},\"elapsedSeconds\":{},\
         \"budgetSeconds\":{},\"eventCount\":{},\"sentinel\":{}}}\n",
        json!(settled.agent),
        if settled.sentinel.is_completed() { "completed" } else { "failed" },
        json!(settled.sentinel.reason()),
        seconds(settled.elapsed),
        exact_seconds(settled.budget),
        settled.events,
        settled.sentinel.json()
    )
}

/// `watcher.settlement`
pub fn settlement(elapsed: Duration, tally: Tally) -> String {
    format!(
        "{{\"type\":\"watcher.settlement\",\"elapsedSeconds\":{},\"settled\":{},\"total\":{},\
         \"settledPercentage\":{},\"bar\":\"{}\"}}\n",
        seconds(elapsed),
        tally.settled,
        tally.total,
        tally.percentage(),
        tally.bar()
    )
}

/// `watcher.failed`; `line` is the number of the line that is wrong, where it is one line.
pub fn failed(agent: &str, fault: Fault, elapsed: Duration, line: Option<u64>) -> String {
    format!(
        "{{\"type\":\"watcher.failed\",\"agentId\":{},\"reason\":\"{}\",\"elapsedSeconds\":{}{}}}\n",
        json!(agent),
        fault.reason(),
        seconds(elapsed),
        line.map_or(String::new(), |line| format!(",\"line\":{line}"))
    )
}

/// `watcher.cancelled`
pub fn cancelled(elapsed: Duration, tally: Tally) -> String {
    format!(
        "{{\"type\":\"watcher.cancelled\",\"elapsedSeconds\":{},\"settled\":{},\"total\":{}}}\n",
        seconds(elapsed),
        tally.settled,
        tally.total
    )
}

/// An activity as an object; what it has not is left out.
fn activity(activity: &Activity) -> String {
    let fields: [(&str, &Option<Box<str>>); 3] = match activity {
        Activity::FileChange { status } => [("status", status), ("", &None), ("", &None)],
        Activity::Command { command, status } => [("command", command), ("status", status), ("", &None)],
        Activity::ToolCall { server, tool, status } => {
            [("server", server), ("tool", tool), ("status", status)]
        }
        Activity::CollabCall { tool, status } => [("tool", tool), ("status", status), ("", &None)],
        _ => [("", &None); 3],
    };
    let there = fields.iter().filter_map(|(key, value)| Some((key, value.as_deref()?)));
    let fields: String = there.map(|(key, value)| format!(",\"{key}\":{}", json!(value))).collect();
    format!("{{\"type\":\"{}\"{fields}}}", activity.name())
}

/// Seconds with up to three decimals, rounded down: what has not passed is not shown.
fn seconds(time: Duration) -> String {
    decimal(time.as_secs(), time.subsec_millis(), 3)
}

/// Seconds with as many decimals as they have.
fn exact_seconds(time: Duration) -> String {
    decimal(time.as_secs(), time.subsec_nanos(), 9)
}

fn decimal(whole: u64, part: u32, digits: usize) -> String {
    let text = format!("{whole}.{part:0digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{WatchedLine, WatchedLines};
    use common::flow::stream::LineReader;

    fn read(line: &str) -> WatchedSentinel {
        let mut lines = LineReader::<WatchedLines>::new();
        lines.push(line.as_bytes(), |_| panic!("no line has ended"));
        match lines.finish() {
            Some(WatchedLine::Sentinel(sentinel)) => sentinel,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn seconds_have_the_decimals_they_need() {
        let micros = Duration::from_micros;
        for (micro, text) in
            [(0, "0"), (52_999, "0.052"), (1_500_000, "1.5"), (10_000_000, "10"), (100_010_000, "100.01")]
        {
            assert_eq!(seconds(micros(micro)), text);
        }
        assert_eq!(exact_seconds(Duration::from_secs_f64(0.03)), "0.03");
        assert_eq!(exact_seconds(Duration::from_secs(1200)), "1200");
        assert_eq!(exact_seconds(Duration::from_nanos(1)), "0.000000001");
    }

    #[test]
    fn a_digest_has_its_keys_in_order() {
        let of = Digest {
            agent: "A\"1",
            elapsed: Duration::from_millis(300_004),
            budget: Duration::from_secs(1200),
            events: 7,
            last_activity: None,
            no_recent_activity: true,
            file_exists: false,
            writer_alive: None,
            quiet: Duration::from_secs(300),
        };
        assert_eq!(
            digest(&of),
            "{\"type\":\"watcher.digest\",\"agentId\":\"A\\\"1\",\"elapsedSeconds\":300.004,\"budgetSeconds\":1200,\
             \"eventCount\":7,\"lastActivity\":null,\"noRecentActivity\":true,\"progressFileExists\":false,\
             \"quietSeconds\":300,\"writerAlive\":null}\n"
        );
        let word = |word: &str| Some(Box::from(word));
        for (activity, text) in [
            (Activity::Error, r#"{"type":"error"}"#),
            (Activity::FileChange { status: None }, r#"{"type":"file_change"}"#),
            (
                Activity::FileChange { status: word("completed") },
                r#"{"type":"file_change","status":"completed"}"#,
            ),
            (
                Activity::Command { command: word("a\nb"), status: word("failed") },
                r#"{"type":"command_execution","command":"a\nb","status":"failed"}"#,
            ),
            (
                Activity::ToolCall { server: word("s"), tool: word("t"), status: word("in_progress") },
                r#"{"type":"mcp_tool_call","server":"s","tool":"t","status":"in_progress"}"#,
            ),
            (
                Activity::CollabCall { tool: word("wait"), status: None },
                r#"{"type":"collab_tool_call","tool":"wait"}"#,
            ),
        ] {
            let of = Digest { last_activity: Some(&activity), ..of };
            assert!(digest(&of).contains(&format!(",\"lastActivity\":{text},\"noRecent")), "{text}");
        }
    }

    #[test]
    fn settling_is_two_records() {
        let of = |sentinel: &WatchedSentinel| {
            super::sentinel(&Settled {
                agent: "A1",
                elapsed: Duration::from_millis(52),
                budget: Duration::from_millis(30),
                events: 0,
                sentinel,
            })
        };
        let completed = r#"{"type":"handoff.completed","elapsed_seconds":7,"output_tokens":20}"#;
        assert_eq!(
            of(&read(completed)),
            format!(
                "{{\"type\":\"watcher.sentinel\",\"agentId\":\"A1\",\"status\":\"completed\",\"reason\":null,\
                 \"elapsedSeconds\":0.052,\"budgetSeconds\":0.03,\"eventCount\":0,\"sentinel\":{completed}}}\n"
            )
        );
        let failed =
            r#"{"type":"handoff.failed","reason":"error","rc":70,"elapsed_seconds":3,"cause":"no-result"}"#;
        let record = of(&read(failed));
        assert!(record.contains(r#""status":"failed","reason":"error","#), "{record}");
        assert!(record.ends_with(&format!("\"sentinel\":{failed}}}\n")), "{record}");
        let missing = of(&WatchedSentinel::missing());
        assert!(
            missing.ends_with("\"sentinel\":{\"type\":\"handoff.failed\",\"reason\":\"no-sentinel\"}}\n"),
            "{missing}"
        );
        assert_eq!(
            settlement(Duration::from_millis(52), Tally { settled: 1, total: 2 }),
            "{\"type\":\"watcher.settlement\",\"elapsedSeconds\":0.052,\"settled\":1,\"total\":2,\
             \"settledPercentage\":50,\"bar\":\"█████░░░░░\"}\n"
        );
    }

    #[test]
    fn failures_and_cancellation() {
        assert_eq!(
            failed("A1", Fault::Malformed, Duration::from_secs(1), Some(3)),
            "{\"type\":\"watcher.failed\",\"agentId\":\"A1\",\"reason\":\"malformed-progress\",\"elapsedSeconds\":1,\
             \"line\":3}\n"
        );
        assert_eq!(
            failed("A1", Fault::Truncated, Duration::from_secs(1), None),
            "{\"type\":\"watcher.failed\",\"agentId\":\"A1\",\"reason\":\"truncated-progress\",\"elapsedSeconds\":1}\n"
        );
        assert_eq!(
            cancelled(Duration::from_secs(9), Tally { settled: 3, total: 7 }),
            "{\"type\":\"watcher.cancelled\",\"elapsedSeconds\":9,\"settled\":3,\"total\":7}\n"
        );
    }
}
