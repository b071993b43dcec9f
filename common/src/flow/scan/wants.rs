//! The table of wants as a tree of keys.

use super::Want;

/// The place of a value that is kept, or of an object on the way to one.
pub(super) type Slot = usize;

/// One wanted key.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    /// How much of its text is kept; 0 when only something inside it is wanted.
    pub(super) cap: usize,
    /// The wanted keys inside it.
    pub(super) inside: Vec<Slot>,
    /// The slots of this key and of all keys inside it, a bit each.
    pub(super) under: u64,
}

/// All wanted keys, each object before the keys inside it.
#[derive(Debug)]
pub(super) struct Tree {
    keys: Vec<Key>,
    top: Vec<Slot>,
    /// The slot of each want.
    slots: Vec<Slot>,
}

/// The most levels that a path has.
pub(super) const LEVELS: usize = 3;

impl Tree {
    /// # Panics
    ///
    /// When a path has no key, more than three keys, or stands in the table twice, and when there are more than 64
    /// different keys and beginnings of paths. The table is written by hand, so that any test shows it.
    pub(super) fn new(wants: &[Want]) -> Tree {
        let mut tree = Tree { keys: Vec::new(), top: Vec::new(), slots: Vec::new() };
        for want in wants {
            assert!((1..=LEVELS).contains(&want.path.len()), "{:?} has no key or too many", want.path);
            let mut way: Vec<Slot> = Vec::new();
            for name in want.path {
                let slot = tree.slot(way.last().copied(), name);
                way.push(slot);
                for &outer in &way {
                    tree.keys[outer].under |= 1 << slot;
                }
            }
            let slot = *way.last().expect("a path has a key");
            assert!(!tree.slots.contains(&slot), "{:?} is wanted twice", want.path);
            tree.keys[slot].cap = want.cap;
            tree.slots.push(slot);
        }
        tree
    }

    /// The slot of `name` inside `outer`, made when there is none yet.
    fn slot(&mut self, outer: Option<Slot>, name: &'static str) -> Slot {
        if let Some(slot) = self.find(outer, name) {
            return slot;
        }
        let slot = self.keys.len();
        assert!(slot < 64, "more than 64 wanted keys");
        self.keys.push(Key { name, cap: 0, inside: Vec::new(), under: 0 });
        match outer {
            Some(outer) => self.keys[outer].inside.push(slot),
            None => self.top.push(slot),
        }
        slot
    }

    /// The slot of the key `name` inside `outer`, or at the top of the line.
    pub(super) fn find(&self, outer: Option<Slot>, name: &str) -> Option<Slot> {
        let among = outer.map_or(&self.top, |outer| &self.keys[outer].inside);
        among.iter().copied().find(|&slot| self.keys[slot].name == name)
    }

    /// All keys by their slot.
    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The slot of want number `want`.
    pub(super) fn slot_of(&self, want: usize) -> Slot {
        self.slots[want]
    }

    /// The length of the longest key: of a longer one nothing needs to be remembered.
    pub(super) fn longest(&self) -> usize {
        self.keys.iter().map(|key| key.name.len()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_share_their_beginnings() {
        let tree = Tree::new(&[
            Want { path: &["item", "type"], cap: 3 },
            Want { path: &["type"], cap: 4 },
            Want { path: &["item"], cap: 5 },
            Want { path: &["item", "error", "message"], cap: 6 },
        ]);
        let item = tree.find(None, "item");
        assert_eq!(item, Some(tree.slot_of(2)));
        assert_eq!(tree.find(item, "type"), Some(tree.slot_of(0)));
        assert_eq!(tree.find(None, "type"), Some(tree.slot_of(1)));
        let error = tree.find(item, "error");
        assert_eq!(tree.find(error, "message"), Some(tree.slot_of(3)));
        assert_eq!(tree.find(None, "message"), None);
        assert_eq!(tree.find(error, "type"), None);
        let keys = tree.keys();
        assert_eq!(keys.iter().map(|key| key.cap).collect::<Vec<_>>(), [5, 3, 4, 0, 6]);
        assert_eq!(
            keys.iter().map(|key| key.under).collect::<Vec<_>>(),
            [0b11011, 0b10, 0b100, 0b11000, 0b10000]
        );
        assert_eq!(tree.longest(), "message".len());
    }

    #[test]
    #[should_panic(expected = "wanted twice")]
    fn a_path_stands_once() {
        let want = Want { path: &["type"], cap: 1 };
        Tree::new(&[want, want]);
    }

    #[test]
    #[should_panic(expected = "no key or too many")]
    fn a_path_ends_at_three_keys() {
        Tree::new(&[Want { path: &["a", "b", "c", "d"], cap: 1 }]);
    }
}
