//! The prefix that nearly all lines of Codex have, recognised by comparison instead of by parsing.
//!
//! It decides nothing: the values and the state are those that the byte path would have left, and any other
//! beginning is left to that path. Half the keys of a short line are in its prefix, so this makes short lines about
//! a fifth faster (`benches/flow`, chatty).

use std::ops::Range;

use fearless_simd::Simd;

use super::block::RunFinder;
use super::keys::{ROOT, Slot};
use super::values::ValueStore;

/// Where the values of the prefix are kept; `None` for those that are not wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrefixSlots {
    /// `type`
    pub(super) kind: Option<Slot>,
    /// `item`
    pub(super) item: Option<Slot>,
    /// `item.id`
    pub(super) item_id: Option<Slot>,
    /// `item.type`
    pub(super) item_kind: Option<Slot>,
}

impl PrefixSlots {
    pub(super) fn new(values: &ValueStore) -> PrefixSlots {
        let item = values.slot(ROOT, "item");
        let inside = |name| values.slot(values.object(item?)?, name);
        PrefixSlots {
            kind: values.slot(ROOT, "type"),
            item,
            item_id: inside("id"),
            item_kind: inside("type"),
        }
    }
}

/// Where the value of `type` lies in `bytes[from..]`, when that begins with `{"type":"…"`.
#[inline(always)]
pub(super) fn event_type<S: Simd>(
    simd: S,
    bytes: &[u8],
    from: usize,
    runs: &mut RunFinder<S>,
) -> Option<Range<usize>> {
    text_after(simd, br#"{"type":""#, bytes, from, runs)
}

/// Where the values of `id` and `type` lie in `bytes[from..]`, when that begins with
/// `","item":{"id":"…","type":"…"`.
#[inline(always)]
pub(super) fn item_id_and_type<S: Simd>(
    simd: S,
    bytes: &[u8],
    from: usize,
    runs: &mut RunFinder<S>,
) -> Option<(Range<usize>, Range<usize>)> {
    let id = text_after(simd, br#"","item":{"id":""#, bytes, from, runs)?;
    let kind = text_after(simd, br#"","type":""#, bytes, id.end, runs)?;
    Some((id, kind))
}

/// Where the text lies that follows `before`, when `before` stands at `at` and the text has no escapes.
#[inline(always)]
fn text_after<S: Simd, const LEN: usize>(
    simd: S,
    before: &[u8; LEN],
    bytes: &[u8],
    at: usize,
    runs: &mut RunFinder<S>,
) -> Option<Range<usize>> {
    if bytes[at..].first_chunk() != Some(before) {
        return None;
    }
    let end = runs.run_end(simd, bytes, at + LEN);
    (bytes.get(end) == Some(&b'"')).then_some(at + LEN..end)
}
