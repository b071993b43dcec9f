//! The wanted keys as a tree, and how a key is looked up in it.
//!
//! Short keys are looked up by hash and compared as vectors. Comparing the names one by one makes short lines about a
//! tenth slower (`benches/flow`, chatty).

use std::ops::{Range, RangeInclusive};

use fearless_simd::Simd;

use super::Want;
use super::block::equal;

/// The number of a wanted key, or of a key whose object has wanted keys.
pub(super) type Slot = u8;

/// The number of an object that has wanted keys.
pub(super) type ObjectId = u8;

/// The object that is the whole line.
pub(super) const ROOT: ObjectId = 0;

/// The maximum length of a path.
pub(super) const LEVELS: usize = 3;

/// The maximum number of slots: a bit of a `u64` each.
const SLOTS: usize = 64;

/// All wanted keys.
#[derive(Debug)]
pub(super) struct KeyTree {
    /// By slot. A key stands before the keys inside its object.
    keys: Vec<Key>,
    objects: Vec<Table>,
    /// The slot of each want.
    slots: Vec<Slot>,
}

/// One wanted key.
#[derive(Debug)]
pub(super) struct Key {
    name: &'static str,
    /// The maximum bytes of text that are kept; 0 when only keys inside it are wanted.
    pub(super) cap: usize,
    /// A bit for the slot of this key and of each key inside it.
    pub(super) under: u64,
    /// Whether the first of duplicate keys counts; otherwise the last does.
    pub(super) first_counts: bool,
    /// Its object, when keys inside it are wanted.
    pub(super) object: Option<ObjectId>,
}

impl KeyTree {
    /// # Panics
    ///
    /// When a path has no key, more than three keys, or stands in the table twice, and when there are more than 64
    /// different keys and beginnings of paths. The wants are constants, so that any test shows it.
    pub(super) fn new(wants: &[Want]) -> KeyTree {
        let mut tree = KeyTree { keys: Vec::new(), objects: vec![Table::new()], slots: Vec::new() };
        for want in wants {
            assert!((1..=LEVELS).contains(&want.path.len()), "{:?} has no key or too many", want.path);
            let mut object = ROOT;
            let mut path: Vec<Slot> = Vec::new();
            for name in want.path {
                if let Some(&outer) = path.last() {
                    object = tree.object(outer);
                }
                let slot = tree.slot(object, name);
                path.push(slot);
                for &outer in &path {
                    tree.keys[usize::from(outer)].under |= 1 << slot;
                }
            }
            let slot = path[path.len() - 1];
            assert!(!tree.slots.contains(&slot), "{:?} is wanted twice", want.path);
            tree.keys[usize::from(slot)].cap = want.cap;
            tree.slots.push(slot);
        }
        tree
    }

    /// The slot of `name` in `object`, added when it is new.
    fn slot(&mut self, object: ObjectId, name: &'static str) -> Slot {
        if let Some(slot) = self.find(object, name.as_bytes()) {
            return slot;
        }
        assert!(self.keys.len() < SLOTS, "more than {SLOTS} wanted keys");
        let slot = self.keys.len() as Slot;
        self.objects[usize::from(object)].add(name, slot);
        self.keys.push(Key { name, cap: 0, under: 0, first_counts: name == "id", object: None });
        slot
    }

    /// The object at `slot`, added when it is new.
    fn object(&mut self, slot: Slot) -> ObjectId {
        let next = self.objects.len() as ObjectId;
        let object = *self.keys[usize::from(slot)].object.get_or_insert(next);
        if object == next {
            self.objects.push(Table::new());
        }
        object
    }

    /// The slot of the key `name` in `object`.
    pub(super) fn find(&self, object: ObjectId, name: &[u8]) -> Option<Slot> {
        let among = &self.objects[usize::from(object)].slots;
        among.iter().copied().find(|&slot| self.keys[usize::from(slot)].name.as_bytes() == name)
    }

    /// [`KeyTree::find`] for the key `bytes[key]`, which is followed by its closing quote.
    #[inline(always)]
    pub(super) fn find_at<S: Simd>(
        &self,
        simd: S,
        object: ObjectId,
        bytes: &[u8],
        key: Range<usize>,
    ) -> Option<Slot> {
        if cfg!(scan_without = "key_table") {
            return self.find(object, &bytes[key]);
        }
        let (table, len) = (&self.objects[usize::from(object)], key.len());
        if table.lengths >> len.min(63) & 1 == 0 {
            return None;
        }
        match bytes[key.start..].first_chunk() {
            Some(block) if SHORT.contains(&len) => table.find(simd, block, len),
            _ => self.find(object, &bytes[key]),
        }
    }

    /// All keys, by slot.
    pub(super) fn all(&self) -> &[Key] {
        &self.keys
    }

    /// The slot of want number `want`.
    pub(super) fn slot_of(&self, want: usize) -> Slot {
        self.slots[want]
    }

    /// The length of the longest wanted key.
    pub(super) fn longest(&self) -> usize {
        self.keys.iter().map(|key| key.name.len()).max().unwrap_or(0)
    }
}

/// The lengths of the keys that are looked up by hash: they fit into a vector with their closing quote, and have the two
/// bytes that the hash takes. Other keys are compared one by one.
const SHORT: RangeInclusive<usize> = 2..=15;

/// The size of a hash table. It is more than the number of slots, so that a probe always ends.
const PLACES: usize = 2 * SLOTS;

/// The wanted keys of an object.
#[derive(Debug)]
struct Table {
    slots: Vec<Slot>,
    /// A bit for each length that a key has; bit 63 stands for all longer ones too.
    lengths: u64,
    /// The short keys, each at the hash of its name or at the next free place (linear probing).
    places: Vec<Place>,
}

/// A place of the hash table.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The name and its closing quote, then zeros.
    block: [u8; 16],
    /// A bit for each byte of the name and the quote; 0 when the place is free.
    bits: u64,
    slot: Slot,
}

impl Table {
    fn new() -> Table {
        Table {
            slots: Vec::new(),
            lengths: 0,
            places: vec![Place { block: [0; 16], bits: 0, slot: 0 }; PLACES],
        }
    }

    fn add(&mut self, name: &str, slot: Slot) {
        self.slots.push(slot);
        let len = name.len();
        self.lengths |= 1 << len.min(63);
        if !SHORT.contains(&len) {
            return;
        }
        let mut block = [0; 16];
        block[..len].copy_from_slice(name.as_bytes());
        block[len] = b'"';
        let mut place = hash(&block, len);
        while self.places[place].bits != 0 {
            place = (place + 1) % PLACES;
        }
        self.places[place] = Place { block, bits: (1 << (len + 1)) - 1, slot };
    }

    /// The slot of the short key at the beginning of `block`.
    #[inline(always)]
    fn find<S: Simd>(&self, simd: S, block: &[u8; 16], len: usize) -> Option<Slot> {
        let mut at = hash(block, len);
        loop {
            let place = &self.places[at];
            if place.bits == 0 {
                return None;
            }
            if equal(simd, block, &place.block) & place.bits == place.bits {
                return Some(place.slot);
            }
            at = (at + 1) % PLACES;
        }
    }
}

/// The hash of a key of this length and these first two bytes, below [`PLACES`].
#[inline(always)]
fn hash(block: &[u8; 16], len: usize) -> usize {
    let first = u32::from(u16::from_le_bytes([block[0], block[1]]));
    ((first.wrapping_mul(0x9e37) >> 8) as usize + len) % PLACES
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;

    fn find(tree: &KeyTree, object: Option<ObjectId>, name: &str) -> Option<Slot> {
        let slot = tree.find(object.unwrap(), name.as_bytes());
        for line in [format!("{{\"{name}\":{{\"type\":[1,2,3]}}}}"), format!("{{\"{name}\":")] {
            let found = dispatch!(Level::new(), simd => {
                tree.find_at(simd, object.unwrap(), line.as_bytes(), 2..2 + name.len())
            });
            assert_eq!(found, slot, "{name}");
        }
        slot
    }

    #[test]
    fn paths_share_their_beginnings() {
        let tree = KeyTree::new(&[
            Want { path: &["item", "type"], cap: 3 },
            Want { path: &["type"], cap: 4 },
            Want { path: &["item"], cap: 5 },
            Want { path: &["item", "error", "message"], cap: 6 },
        ]);
        let line = Some(ROOT);
        let item = find(&tree, line, "item").unwrap();
        assert_eq!(item, tree.slot_of(2));
        let inside = tree.all()[usize::from(item)].object;
        assert_eq!(find(&tree, inside, "type"), Some(tree.slot_of(0)));
        assert_eq!(find(&tree, line, "type"), Some(tree.slot_of(1)));
        let error = find(&tree, inside, "error").unwrap();
        let deeper = tree.all()[usize::from(error)].object;
        assert_eq!(find(&tree, deeper, "message"), Some(tree.slot_of(3)));
        assert_eq!(find(&tree, line, "message"), None);
        assert_eq!(find(&tree, deeper, "type"), None);
        assert_eq!(tree.all()[usize::from(tree.slot_of(1))].object, None);
        let keys = tree.all();
        assert_eq!(keys.iter().map(|key| key.cap).collect::<Vec<_>>(), [5, 3, 4, 0, 6]);
        assert_eq!(
            keys.iter().map(|key| key.under).collect::<Vec<_>>(),
            [0b11011, 0b10, 0b100, 0b11000, 0b10000]
        );
        assert_eq!(tree.longest(), "message".len());
    }

    #[test]
    fn keys_of_all_lengths_are_told_apart() {
        const LONG: &str = "abcdefghijklmnopqrstuvwxyz";
        let wants: Vec<Want> = (0..=26)
            .map(|len| Want { path: std::slice::from_ref(Box::leak(Box::new(&LONG[..len]))), cap: 1 })
            .collect();
        let tree = KeyTree::new(&wants);
        for len in 0..=26 {
            let name = &LONG[..len];
            assert_eq!(find(&tree, Some(ROOT), name), Some(tree.slot_of(len)));
            for at in 0..len {
                let other = format!("{}_{}", &name[..at], &name[at + 1..]);
                assert_eq!(find(&tree, Some(ROOT), &other), None, "{other}");
            }
            assert_eq!(find(&tree, Some(ROOT), &format!("{name}\0")), None);
        }
    }

    #[test]
    #[should_panic(expected = "wanted twice")]
    fn a_path_stands_once() {
        let want = Want { path: &["type"], cap: 1 };
        KeyTree::new(&[want, want]);
    }

    #[test]
    #[should_panic(expected = "no key or too many")]
    fn a_path_ends_at_three_keys() {
        KeyTree::new(&[Want { path: &["a", "b", "c", "d"], cap: 1 }]);
    }
}
