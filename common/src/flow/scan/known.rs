//! The beginnings that nearly all lines of Codex have, recognised at a glance.
//!
//! Nothing here decides anything: what is recognised leaves the machine as the general way would have left it, and
//! what is not is left to that way. Half the keys of a short line are in its beginning, which makes this worth it.

use fearless_simd::Simd;

use super::block::Seen;
use super::finds::{Finds, Kind};
use super::machine::{Machine, State};
use super::wants::{LINE, Slot};

/// Where the values of the known keys are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    kind: Option<Slot>,
    item: Option<Slot>,
    item_id: Option<Slot>,
    item_kind: Option<Slot>,
}

impl Known {
    pub(super) fn new(finds: &Finds) -> Known {
        let item = finds.slot(LINE, "item");
        let inside = |name| finds.slot(finds.object(item?)?, name);
        Known { kind: finds.slot(LINE, "type"), item, item_id: inside("id"), item_kind: inside("type") }
    }
}

impl Machine {
    /// Takes `{"type":"…"`, and `,"item":{"id":"…","type":"…"` after it, if that is how the line goes on. The line
    /// has not begun yet.
    #[inline(always)]
    pub(super) fn known_beginning<S: Simd>(
        &mut self,
        simd: S,
        bytes: &[u8],
        from: usize,
        seen: &mut Seen<S>,
    ) -> usize {
        let Some((kind, kind_end)) = text_after(simd, br#"{"type":""#, bytes, from, seen) else {
            return from;
        };
        self.open(true);
        self.state = State::Next;
        self.note(self.known.kind, &bytes[kind..kind_end]);
        let Some((id, id_end)) = text_after(simd, br#"","item":{"id":""#, bytes, kind_end, seen) else {
            return kind_end + 1;
        };
        let Some((item_kind, end)) = text_after(simd, br#"","type":""#, bytes, id_end, seen) else {
            return kind_end + 1;
        };
        self.slot = self.known.item;
        self.open(true);
        self.note(self.known.item_id, &bytes[id..id_end]);
        self.note(self.known.item_kind, &bytes[item_kind..end]);
        end + 1
    }

    #[inline(always)]
    fn note(&mut self, slot: Option<Slot>, text: &[u8]) {
        if let Some(slot) = slot {
            self.finds.set(slot, Kind::Text).set(text);
        }
    }
}

/// Where the text begins and ends that stands after `before`, when `before` is what stands at `at` and the text has
/// no escapes.
#[inline(always)]
fn text_after<S: Simd, const LEN: usize>(
    simd: S,
    before: &[u8; LEN],
    bytes: &[u8],
    at: usize,
    seen: &mut Seen<S>,
) -> Option<(usize, usize)> {
    if bytes[at..].first_chunk() != Some(before) {
        return None;
    }
    let end = seen.run_end(simd, bytes, at + LEN);
    (bytes.get(end) == Some(&b'"')).then_some((at + LEN, end))
}
