//! A progress file as it is, whatever is wrong with it.

use std::path::Path;

use serde_json::Value;

/// What stands in a progress file.
pub(super) struct Record {
    /// How many lines are events.
    pub(super) events: usize,
    lines: usize,
    /// The sentinels.
    pub(super) sentinels: Vec<Value>,
    /// Whether the last line is one.
    ends_in_sentinel: bool,
    /// The lines that are no JSON objects, or whose LF is missing.
    pub(super) broken: Vec<String>,
}

impl Record {
    /// Reads one; `None` where there is no file.
    pub(super) fn read(file: &Path) -> Option<Record> {
        let bytes = std::fs::read(file).ok()?;
        let mut record =
            Record { events: 0, lines: 0, sentinels: vec![], ends_in_sentinel: false, broken: vec![] };
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            record.lines += 1;
            record.ends_in_sentinel = false;
            let whole = line.strip_suffix(b"\n");
            // Readers take a blank line for none; to a pipe the sentinel of a run that was lost begins with an LF.
            if whole.is_some_and(|line| line.trim_ascii().is_empty()) {
                continue;
            }
            match whole.and_then(|line| serde_json::from_slice(line).ok()) {
                Some(Value::Object(object)) => {
                    let value = Value::Object(object);
                    if value["type"] == "handoff.completed" || value["type"] == "handoff.failed" {
                        record.sentinels.push(value);
                        record.ends_in_sentinel = true;
                    } else {
                        record.events += 1;
                    }
                }
                _ => record.broken.push(String::from_utf8_lossy(line).chars().take(200).collect()),
            }
        }
        Some(record)
    }

    /// Whether nothing stands in it.
    pub(super) fn is_empty(&self) -> bool {
        self.lines == 0
    }

    /// Whether there is one sentinel and it is the last line.
    pub(super) fn is_sealed(&self) -> bool {
        self.sentinels.len() == 1 && self.ends_in_sentinel
    }

    /// The only sentinel.
    pub(super) fn sentinel(&self) -> Option<&Value> {
        self.sentinels.first().filter(|_| self.is_sealed())
    }
}
