//! What was found at the wanted keys of one line.

use std::ops::Range;

use fearless_simd::Simd;

use super::text::Kept;
use super::wants::{Object, Slot, Tree};
use super::{Value, Want};

/// What stands at a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number,
    Text,
    Object,
    Array,
}

/// The values at the wanted keys.
#[derive(Debug)]
pub(super) struct Finds {
    tree: Tree,
    /// The slots whose key the line has; what the others hold is left from earlier lines.
    present: u64,
    finds: Vec<Find>,
}

/// What is kept for one key.
#[derive(Debug)]
struct Find {
    kind: Kind,
    /// The text of a string or the digits of a number; of anything else it is left from earlier lines.
    text: Kept,
}

impl Finds {
    pub(super) fn new(wants: &[Want]) -> Finds {
        let tree = Tree::new(wants);
        let finds =
            tree.keys().iter().map(|key| Find { kind: Kind::Null, text: Kept::new(key.cap) }).collect();
        Finds { tree, present: 0, finds }
    }

    /// Forgets the line.
    pub(super) fn clear(&mut self) {
        self.present = 0;
    }

    /// Room for the longest wanted key.
    pub(super) fn key_room(&self) -> Kept {
        Kept::new(self.tree.longest())
    }

    /// The slot of the key `name` inside `object`, if it is wanted.
    pub(super) fn slot(&self, object: Object, name: &str) -> Option<Slot> {
        self.tree.find(object, name.as_bytes())
    }

    /// The slot for the value of the key `name` inside `object`; `None` when it is not kept.
    pub(super) fn claim(&mut self, object: Object, name: &[u8]) -> Option<Slot> {
        let slot = self.tree.find(object, name)?;
        self.free(slot)
    }

    /// The same for the key at `key` in `bytes`, with its quote behind it.
    #[inline(always)]
    pub(super) fn claim_at<S: Simd>(
        &mut self,
        simd: S,
        object: Object,
        bytes: &[u8],
        key: Range<usize>,
    ) -> Option<Slot> {
        let slot = self.tree.find_at(simd, object, bytes, key)?;
        if self.present >> slot & 1 == 1 { self.free(slot) } else { Some(slot) }
    }

    /// Makes room at `slot` for the value of one more key of that name, or not.
    ///
    /// The rule for duplicates is here: the first `id` stays, because a web search item carries a second one that
    /// is not the item's; any other key is replaced by its last, with all that was found inside the earlier one.
    fn free(&mut self, slot: Slot) -> Option<Slot> {
        let key = &self.tree.keys()[usize::from(slot)];
        if self.present >> slot & 1 == 1 && key.first_counts {
            return None;
        }
        self.present &= !key.under;
        Some(slot)
    }

    /// What `slot` is when it is an object, if any key inside it is wanted.
    #[inline]
    pub(super) fn object(&self, slot: Slot) -> Option<Object> {
        self.tree.keys()[usize::from(slot)].object
    }

    /// Notes what stands at `slot`, and says where its text goes when it has one.
    #[inline(always)]
    pub(super) fn set(&mut self, slot: Slot, kind: Kind) -> &mut Kept {
        self.present |= 1 << slot;
        let find = &mut self.finds[usize::from(slot)];
        find.kind = kind;
        &mut find.text
    }

    /// Where the rest of the text at `slot` goes.
    pub(super) fn text(&mut self, slot: Slot) -> &mut Kept {
        &mut self.finds[usize::from(slot)].text
    }

    /// The value of want number `want`.
    #[inline]
    pub(super) fn get(&self, want: usize) -> Option<Value<'_>> {
        let slot = self.tree.slot_of(want);
        if self.present >> slot & 1 == 0 {
            return None;
        }
        let find = &self.finds[usize::from(slot)];
        // The text is asked for only where there is one: what is left of an earlier line need not be UTF-8.
        Some(match find.kind {
            Kind::Null => Value::Null,
            Kind::Bool(yes) => Value::Bool(yes),
            Kind::Number => {
                let (digits, whole) = find.text.get();
                Value::Number(whole.then_some(digits))
            }
            Kind::Text => {
                let (text, whole) = find.text.get();
                Value::Text { text, whole }
            }
            Kind::Object => Value::Object,
            Kind::Array => Value::Array,
        })
    }

    /// The text of want number `want` in bytes, where it is one.
    #[inline]
    pub(super) fn word(&self, want: usize) -> Option<&[u8]> {
        let slot = self.tree.slot_of(want);
        let find = &self.finds[usize::from(slot)];
        (self.present >> slot & 1 == 1 && find.kind == Kind::Text).then(|| find.text.bytes().0)
    }
}
