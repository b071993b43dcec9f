//! The keys that are read, and how their values are taken.

use super::super::number;
use super::super::scan::{Found, Value, Want};
use super::{FAILURE_CAP, MESSAGE_CAP};

pub(in super::super) const TYPE: usize = 0;
pub(in super::super) const REASON: usize = 1;
pub(in super::super) const RC: usize = 2;
pub(in super::super) const ELAPSED_SECONDS: usize = 3;
pub(in super::super) const OUTPUT_TOKENS: usize = 4;
pub(in super::super) const LINGERED: usize = 5;
pub(in super::super) const CAUSE: usize = 6;
pub(in super::super) const RETRY_AT: usize = 8;
pub(in super::super) const THREAD_ID: usize = 9;
pub(in super::super) const ITEM_TYPE: usize = 10;
pub(in super::super) const ITEM_STATUS: usize = 11;
pub(in super::super) const ITEM_COMMAND: usize = 12;
pub(in super::super) const ITEM_SERVER: usize = 13;
pub(in super::super) const ITEM_TOOL: usize = 14;
pub(in super::super) const MESSAGE: usize = 15;
pub(in super::super) const ERROR_MESSAGE: usize = 16;
pub(in super::super) const ITEM_TEXT: usize = 17;
pub(in super::super) const USAGE_OUTPUT_TOKENS: usize = 18;
pub(in super::super) const USAGE_INPUT_TOKENS: usize = 19;
pub(in super::super) const ITEM_ID: usize = 20;
pub(in super::super) const ITEM_EXIT_CODE: usize = 21;
pub(in super::super) const ITEM_MESSAGE: usize = 22;

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
