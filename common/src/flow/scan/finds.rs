//! What was found at the wanted keys of one line.

use super::text::Kept;
use super::wants::{Slot, Tree};
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
    kinds: Vec<Kind>,
    /// The text of a string or the digits of a number, for slots of these kinds.
    texts: Vec<Kept>,
}

impl Finds {
    pub(super) fn new(wants: &[Want]) -> Finds {
        let tree = Tree::new(wants);
        let kinds = vec![Kind::Null; tree.keys().len()];
        let texts = tree.keys().iter().map(|key| Kept::new(key.cap)).collect();
        Finds { tree, present: 0, kinds, texts }
    }

    /// Forgets the line.
    pub(super) fn clear(&mut self) {
        self.present = 0;
    }

    /// Room for the longest wanted key.
    pub(super) fn key_room(&self) -> Kept {
        Kept::new(self.tree.longest())
    }

    /// The slot for the value of the key `name` inside `outer` (or at the top); `None` when it is not kept.
    ///
    /// The rule for duplicates is here: the first `id` stays, because a web search item carries a second one that
    /// is not the item's; any other key is replaced by its last, with all that was found inside the earlier one.
    pub(super) fn claim(&mut self, outer: Option<Slot>, name: &str) -> Option<Slot> {
        let slot = self.tree.find(outer, name)?;
        if name == "id" && self.present >> slot & 1 == 1 {
            return None;
        }
        self.present &= !self.tree.keys()[slot].under;
        Some(slot)
    }

    /// Notes what stands at `slot`.
    pub(super) fn set(&mut self, slot: Slot, kind: Kind) {
        self.present |= 1 << slot;
        self.kinds[slot] = kind;
        if matches!(kind, Kind::Text | Kind::Number) {
            self.texts[slot].clear();
        }
    }

    /// Where the text at `slot` goes.
    pub(super) fn text(&mut self, slot: Slot) -> &mut Kept {
        &mut self.texts[slot]
    }

    /// The value of want number `want`.
    pub(super) fn get(&self, want: usize) -> Option<Value<'_>> {
        let slot = self.tree.slot_of(want);
        if self.present >> slot & 1 == 0 {
            return None;
        }
        let (text, whole) = self.texts[slot].get();
        Some(match self.kinds[slot] {
            Kind::Null => Value::Null,
            Kind::Bool(yes) => Value::Bool(yes),
            Kind::Number => Value::Number(whole.then_some(text)),
            Kind::Text => Value::Text { text, whole },
            Kind::Object => Value::Object,
            Kind::Array => Value::Array,
        })
    }
}
