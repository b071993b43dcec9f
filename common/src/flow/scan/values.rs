//! The values of the wanted keys of one line.

use std::ops::Range;

use fearless_simd::Simd;

use super::grammar::Kind;
use super::keys::{KeyTree, ObjectId, Slot};
use super::text::CappedText;
use super::{Value, Want};

/// The values of the wanted keys.
#[derive(Debug)]
pub(super) struct ValueStore {
    keys: KeyTree,
    /// A bit for each slot whose key the line has. The other slots hold leftovers of earlier lines.
    present: u64,
    slots: Vec<Entry>,
}

/// The value of one key.
#[derive(Debug)]
struct Entry {
    kind: Kind,
    /// The text of a string or the digits of a number. For any other kind it holds leftovers of earlier lines.
    text: CappedText,
}

impl ValueStore {
    pub(super) fn new(wants: &[Want]) -> ValueStore {
        let keys = KeyTree::new(wants);
        let slots =
            keys.all().iter().map(|key| Entry { kind: Kind::Null, text: CappedText::new(key.cap) }).collect();
        ValueStore { keys, present: 0, slots }
    }

    /// Forgets the line.
    pub(super) fn clear(&mut self) {
        self.present = 0;
    }

    /// An empty buffer for a key; it holds the longest wanted key.
    pub(super) fn key_buffer(&self) -> CappedText {
        CappedText::new(self.keys.longest())
    }

    /// The slot of the key `name` in `object`, when it is wanted.
    pub(super) fn slot(&self, object: ObjectId, name: &str) -> Option<Slot> {
        self.keys.find(object, name.as_bytes())
    }

    /// The slot that takes the value of the key `name` in `object`, now that the line has it; `None` when the value is
    /// not kept.
    pub(super) fn slot_for(&mut self, object: ObjectId, name: &[u8]) -> Option<Slot> {
        let slot = self.keys.find(object, name)?;
        self.admit(slot)
    }

    /// [`ValueStore::slot_for`] for the key `bytes[key]`, which is followed by its closing quote.
    #[inline(always)]
    pub(super) fn slot_for_at<S: Simd>(
        &mut self,
        simd: S,
        object: ObjectId,
        bytes: &[u8],
        key: Range<usize>,
    ) -> Option<Slot> {
        let slot = self.keys.find_at(simd, object, bytes, key)?;
        if self.present >> slot & 1 == 1 { self.admit(slot) } else { Some(slot) }
    }

    /// Applies the rule for duplicate keys: `Some` when the new value replaces the old one, `None` when the old one
    /// stays.
    ///
    /// Of several `id`s the first counts, because a web search item carries a second one that is not the item's. Of
    /// any other key the last counts, and all values inside the earlier one are dropped.
    fn admit(&mut self, slot: Slot) -> Option<Slot> {
        let key = &self.keys.all()[usize::from(slot)];
        if self.present >> slot & 1 == 1 && key.first_counts {
            return None;
        }
        self.present &= !key.under;
        Some(slot)
    }

    /// The object at `slot`, when keys inside it are wanted.
    #[inline]
    pub(super) fn object(&self, slot: Slot) -> Option<ObjectId> {
        self.keys.all()[usize::from(slot)].object
    }

    /// Sets the kind of the value at `slot`. Returns its text, which the caller fills when the kind has one.
    #[inline(always)]
    pub(super) fn set(&mut self, slot: Slot, kind: Kind) -> &mut CappedText {
        self.present |= 1 << slot;
        let entry = &mut self.slots[usize::from(slot)];
        entry.kind = kind;
        &mut entry.text
    }

    /// The text at `slot`.
    pub(super) fn text(&mut self, slot: Slot) -> &mut CappedText {
        &mut self.slots[usize::from(slot)].text
    }

    /// The value of want number `want`.
    #[inline]
    pub(super) fn get(&self, want: usize) -> Option<Value<'_>> {
        let slot = self.keys.slot_of(want);
        if self.present >> slot & 1 == 0 {
            return None;
        }
        let entry = &self.slots[usize::from(slot)];
        // The text is decoded only for kinds that have one: leftovers of an earlier line need not be UTF-8.
        Some(match entry.kind {
            Kind::Null => Value::Null,
            Kind::Bool(yes) => Value::Bool(yes),
            Kind::Number => {
                let (digits, whole) = entry.text.get();
                Value::Number(whole.then_some(digits))
            }
            Kind::Text => {
                let (text, whole) = entry.text.get();
                Value::Text { text, whole }
            }
            Kind::Object => Value::Object,
            Kind::Array => Value::Array,
        })
    }

    /// The bytes of want number `want`, when it is a string.
    #[inline]
    pub(super) fn text_bytes(&self, want: usize) -> Option<&[u8]> {
        let slot = self.keys.slot_of(want);
        let entry = &self.slots[usize::from(slot)];
        (self.present >> slot & 1 == 1 && entry.kind == Kind::Text).then(|| entry.text.bytes().0)
    }
}
