//! The same question to all: how many events of each type, with every line checked and the wanted values read.

use std::borrow::Cow;
use std::hint::black_box;

use common::flow::line::Piece;
use common::flow::scan::{Scan, Scanner, Value, Want};
use memchr::memchr_iter;
use serde::Deserialize;
use simd_json::prelude::ValueObjectAccessAsScalar;

/// The event types that are counted, anything else last.
pub(crate) const TYPES: [&str; 10] = [
    "thread.started",
    "turn.started",
    "turn.completed",
    "turn.failed",
    "item.started",
    "item.updated",
    "item.completed",
    "error",
    "malformed",
    "other",
];

pub(crate) const MALFORMED: usize = 8;
const OTHER: usize = 9;

/// How many lines there are of each of [`TYPES`].
pub(crate) type Counts = [usize; TYPES.len()];

fn index(kind: &str) -> usize {
    TYPES[..MALFORMED].iter().position(|name| *name == kind).unwrap_or(OTHER)
}

/// What the filters read of a line.
pub(crate) const WANTS: &[Want] = &[
    Want { path: &["type"], cap: 1024 },
    Want { path: &["thread_id"], cap: 1024 },
    Want { path: &["message"], cap: 1024 },
    Want { path: &["error", "message"], cap: 1024 },
    Want { path: &["item", "id"], cap: 1024 },
    Want { path: &["item", "type"], cap: 1024 },
    Want { path: &["item", "text"], cap: 64 * 1024 },
    Want { path: &["item", "command"], cap: 1024 },
    Want { path: &["item", "status"], cap: 1024 },
    Want { path: &["item", "server"], cap: 1024 },
    Want { path: &["item", "tool"], cap: 1024 },
    Want { path: &["usage", "output_tokens"], cap: 1024 },
    Want { path: &["elapsed_seconds"], cap: 1024 },
    Want { path: &["reason"], cap: 1024 },
    Want { path: &["output_tokens"], cap: 1024 },
];

/// The framer and scanner of this project, given the stream in chunks of a pipe's usual size.
pub(crate) fn ours(stream: &[u8]) -> Counts {
    let mut counts = Counts::default();
    let mut scanner = Scanner::new(WANTS);
    for chunk in stream.chunks(64 * 1024) {
        let mut rest = chunk;
        while let Some(piece) = scanner.take(&mut rest) {
            match piece {
                Piece::Part(_) => {}
                Piece::End(_) => {
                    let index = match scanner.finish() {
                        Scan::Object(found) => match found.get(0) {
                            Some(Value::Text { text, .. }) => index(text),
                            _ => OTHER,
                        },
                        _ => MALFORMED,
                    };
                    counts[index] += 1;
                }
            }
        }
    }
    counts
}

/// The same values for serde: borrowed where the text has no escapes, everything else ignored.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "to fill the fields in is the work that is measured")]
struct Line<'a> {
    #[serde(borrow)]
    r#type: Text<'a>,
    #[serde(borrow)]
    thread_id: Option<Text<'a>>,
    #[serde(borrow)]
    message: Option<Text<'a>>,
    #[serde(borrow)]
    error: Option<Failure<'a>>,
    #[serde(borrow)]
    item: Option<Item<'a>>,
    usage: Option<Usage>,
    elapsed_seconds: Option<u64>,
    #[serde(borrow)]
    reason: Option<Text<'a>>,
    output_tokens: Option<u64>,
}

/// Needed because `Option<Cow<str>>` would always be copied.
#[derive(Debug, Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "to fill the fields in is the work that is measured")]
struct Failure<'a> {
    #[serde(borrow)]
    message: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "to fill the fields in is the work that is measured")]
struct Item<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    r#type: Option<Text<'a>>,
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    command: Option<Text<'a>>,
    #[serde(borrow)]
    status: Option<Text<'a>>,
    #[serde(borrow)]
    server: Option<Text<'a>>,
    #[serde(borrow)]
    tool: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "to fill the fields in is the work that is measured")]
struct Usage {
    output_tokens: Option<u64>,
}

/// Counts the lines of `stream` by the index that `read` gives each.
fn by_line<'a>(stream: &'a [u8], mut read: impl FnMut(&'a [u8]) -> usize) -> Counts {
    let mut counts = Counts::default();
    let mut from = 0;
    for end in memchr_iter(b'\n', stream) {
        counts[read(&stream[from..end])] += 1;
        from = end + 1;
    }
    counts
}

/// serde_json into borrowed structs, straight from bytes.
pub(crate) fn serde_bytes(stream: &[u8]) -> Counts {
    by_line(stream, |line| match black_box(serde_json::from_slice::<Line<'_>>(line)) {
        Ok(line) => index(&line.r#type.0),
        Err(_) => MALFORMED,
    })
}

/// simdutf8, then serde_json into borrowed structs.
pub(crate) fn serde_str(stream: &[u8]) -> Counts {
    by_line(stream, |line| {
        let Ok(text) = simdutf8::basic::from_utf8(line) else {
            return MALFORMED;
        };
        match black_box(serde_json::from_str::<Line<'_>>(text)) {
            Ok(line) => index(&line.r#type.0),
            Err(_) => MALFORMED,
        }
    })
}

/// serde_json's `Value`.
pub(crate) fn serde_value(stream: &[u8]) -> Counts {
    by_line(stream, |line| match serde_json::from_slice::<serde_json::Value>(line) {
        Ok(value) => value.get("type").and_then(|kind| kind.as_str()).map_or(OTHER, index),
        Err(_) => MALFORMED,
    })
}

/// simd-json's tape, with buffers that are used again. It works in place, so each line is copied first.
pub(crate) fn simd_tape(stream: &[u8]) -> Counts {
    let mut buffers = simd_json::Buffers::default();
    let mut copy = Vec::new();
    by_line(stream, |line| {
        copy.clear();
        copy.extend_from_slice(line);
        match simd_json::to_tape_with_buffers(&mut copy, &mut buffers) {
            Ok(tape) => tape.as_value().get_str("type").map_or(OTHER, index),
            Err(_) => MALFORMED,
        }
    })
}

/// The same with all that its interface offers for many small documents: the tape is used again too, and the copy
/// has the padding that spares simd-json a copy of its own.
pub(crate) fn simd_tape_again(stream: &[u8]) -> Counts {
    let mut buffers = simd_json::Buffers::default();
    let mut copy = Vec::new();
    let mut spare = simd_json::Tape::null();
    by_line(stream, |line| {
        copy.clear();
        copy.extend_from_slice(line);
        copy.resize(line.len() + simd_json::INPUT_PADDING, 0);
        let mut tape = std::mem::replace(&mut spare, simd_json::Tape::null()).reset();
        let index = match simd_json::fill_tape_padded(&mut copy, line.len(), &mut buffers, &mut tape) {
            Ok(()) => tape.as_value().get_str("type").map_or(OTHER, index),
            Err(_) => MALFORMED,
        };
        spare = tape.reset();
        index
    })
}

/// sonic-rs into borrowed structs; it checks what it ignores, and UTF-8.
pub(crate) fn sonic(stream: &[u8]) -> Counts {
    by_line(stream, |line| match black_box(sonic_rs::from_slice::<Line<'_>>(line)) {
        Ok(line) => index(&line.r#type.0),
        Err(_) => MALFORMED,
    })
}

/// No JSON at all: lines found and UTF-8 checked, which is what any of the others has to do besides. It counts
/// valid lines, all of them as other.
pub(crate) fn limit(stream: &[u8]) -> Counts {
    by_line(stream, |line| match simdutf8::basic::from_utf8(line) {
        Ok(_) => OTHER,
        Err(_) => MALFORMED,
    })
}
