//! The keys that are read, and how their values are taken.

use super::super::number;
use super::super::scan::{Found, Value, Want};
use super::{FAILURE_CAP, MESSAGE_CAP};

pub(in super::super) const TYPE: usize = slot(&["type"]);
pub(in super::super) const REASON: usize = slot(&["reason"]);
pub(in super::super) const RC: usize = slot(&["rc"]);
pub(in super::super) const ELAPSED_SECONDS: usize = slot(&["elapsed_seconds"]);
pub(in super::super) const OUTPUT_TOKENS: usize = slot(&["output_tokens"]);
pub(in super::super) const LINGERED: usize = slot(&["lingered"]);
pub(in super::super) const CAUSE: usize = slot(&["cause"]);
pub(in super::super) const RETRY_AT: usize = slot(&["retry_at"]);
pub(in super::super) const THREAD_ID: usize = slot(&["thread_id"]);
pub(in super::super) const ITEM_TYPE: usize = slot(&["item", "type"]);
pub(in super::super) const ITEM_STATUS: usize = slot(&["item", "status"]);
pub(in super::super) const ITEM_COMMAND: usize = slot(&["item", "command"]);
pub(in super::super) const ITEM_SERVER: usize = slot(&["item", "server"]);
pub(in super::super) const ITEM_TOOL: usize = slot(&["item", "tool"]);
pub(in super::super) const MESSAGE: usize = slot(&["message"]);
pub(in super::super) const ERROR_MESSAGE: usize = slot(&["error", "message"]);
pub(in super::super) const ITEM_TEXT: usize = slot(&["item", "text"]);
pub(in super::super) const USAGE_OUTPUT_TOKENS: usize = slot(&["usage", "output_tokens"]);
pub(in super::super) const USAGE_INPUT_TOKENS: usize = slot(&["usage", "input_tokens"]);
pub(in super::super) const ITEM_ID: usize = slot(&["item", "id"]);
pub(in super::super) const ITEM_EXIT_CODE: usize = slot(&["item", "exit_code"]);
pub(in super::super) const ITEM_MESSAGE: usize = slot(&["item", "message"]);

/// The wanted values of all views. A view takes the beginning of the table that has what it reads: the fields of a
/// sentinel come first (`retry` has no number of its own, because it is read only as one of them), then the thread, then
/// what an agent does, then texts.
pub(in super::super) static WANTS: [Want; 23] = [
    Want { path: &["type"], cap: 64 },
    Want { path: &["reason"], cap: 64 },
    Want { path: &["rc"], cap: 32 },
    Want { path: &["elapsed_seconds"], cap: 32 },
    Want { path: &["output_tokens"], cap: 32 },
    Want { path: &["lingered"], cap: 0 },
    Want { path: &["cause"], cap: 64 },
    Want { path: &["retry"], cap: 64 },
    Want { path: &["retry_at"], cap: 64 },
    Want { path: &["thread_id"], cap: 1024 },
    Want { path: &["item", "type"], cap: 64 },
    Want { path: &["item", "status"], cap: 64 },
    Want { path: &["item", "command"], cap: 4096 },
    Want { path: &["item", "server"], cap: 256 },
    Want { path: &["item", "tool"], cap: 256 },
    Want { path: &["message"], cap: FAILURE_CAP },
    Want { path: &["error", "message"], cap: FAILURE_CAP },
    Want { path: &["item", "text"], cap: MESSAGE_CAP },
    Want { path: &["usage", "output_tokens"], cap: 32 },
    Want { path: &["usage", "input_tokens"], cap: 32 },
    Want { path: &["item", "id"], cap: 128 },
    Want { path: &["item", "exit_code"], cap: 32 },
    Want { path: &["item", "message"], cap: FAILURE_CAP },
];

/// The slot of the wanted value at `path`. A path that is not in the table does not compile.
const fn slot(path: &[&str]) -> usize {
    let mut at = 0;
    while !same_path(WANTS[at].path, path) {
        at += 1;
    }
    at
}

/// Whether two paths are the same. `==` on slices is no const fn.
const fn same_path(one: &[&str], other: &[&str]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && same_bytes(one[at].as_bytes(), other[at].as_bytes()) {
        at += 1;
    }
    at == one.len() && at == other.len()
}

const fn same_bytes(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The text of a want; `None` when the value is of another kind.
pub(in super::super) fn text<'a>(found: Found<'a>, want: usize) -> Option<&'a str> {
    match found.get(want) {
        Some(Value::Text { text, .. }) => Some(text),
        _ => None,
    }
}

/// The whole number of a want, see [`number::whole`]; `None` when the value is of another kind.
pub(in super::super) fn whole_number(found: Found<'_>, want: usize) -> Option<u64> {
    match found.get(want) {
        Some(Value::Number(Some(digits))) => number::whole(digits),
        _ => None,
    }
}
