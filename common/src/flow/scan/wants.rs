//! The table of wants as a tree of keys, and how a key is looked up in it.

use std::ops::{Range, RangeInclusive};

use fearless_simd::Simd;

use super::Want;
use super::block::equal;

/// The place of a value that is kept, or of an object on the way to one.
pub(super) type Slot = u8;

/// An object with wanted keys; [`LINE`] or one inside it.
pub(super) type Object = u8;

/// The object that is the line.
pub(super) const LINE: Object = 0;

/// The most levels that a path has.
pub(super) const LEVELS: usize = 3;

/// The most slots: a bit each.
const SLOTS: usize = 64;

/// All wanted keys.
#[derive(Debug)]
pub(super) struct Tree {
    /// By slot, each outer key before those inside it.
    keys: Vec<Key>,
    objects: Vec<Table>,
    /// The slot of each want.
    slots: Vec<Slot>,
}

/// One wanted key.
#[derive(Debug)]
pub(super) struct Key {
    name: &'static str,
    /// How much of its text is kept; 0 when only something inside it is wanted.
    pub(super) cap: usize,
    /// The slots of this key and of all keys inside it, a bit each.
    pub(super) under: u64,
    /// Whether the first of several counts; the last one otherwise.
    pub(super) first_counts: bool,
    /// What it is when it is an object, if any key inside it is wanted.
    pub(super) object: Option<Object>,
}

impl Tree {
    /// # Panics
    ///
    /// When a path has no key, more than three keys, or stands in the table twice, and when there are more than 64
    /// different keys and beginnings of paths. The table is written by hand, so that any test shows it.
    pub(super) fn new(wants: &[Want]) -> Tree {
        let mut tree = Tree { keys: Vec::new(), objects: vec![Table::new()], slots: Vec::new() };
        for want in wants {
            assert!((1..=LEVELS).contains(&want.path.len()), "{:?} has no key or too many", want.path);
            let mut object = LINE;
            let mut way: Vec<Slot> = Vec::new();
            for name in want.path {
                if let Some(&outer) = way.last() {
                    object = tree.object(outer);
                }
                let slot = tree.slot(object, name);
                way.push(slot);
                for &outer in &way {
                    tree.keys[usize::from(outer)].under |= 1 << slot;
                }
            }
            let slot = way[way.len() - 1];
            assert!(!tree.slots.contains(&slot), "{:?} is wanted twice", want.path);
            tree.keys[usize::from(slot)].cap = want.cap;
            tree.slots.push(slot);
        }
        tree
    }

    /// The slot of `name` inside `object`, made when there is none yet.
    fn slot(&mut self, object: Object, name: &'static str) -> Slot {
        if let Some(slot) = self.find(object, name.as_bytes()) {
            return slot;
        }
        assert!(self.keys.len() < SLOTS, "more than {SLOTS} wanted keys");
        let slot = self.keys.len() as Slot;
        self.objects[usize::from(object)].add(name, slot);
        self.keys.push(Key { name, cap: 0, under: 0, first_counts: name == "id", object: None });
        slot
    }

    /// What `slot` is when it is an object, made when there is none yet.
    fn object(&mut self, slot: Slot) -> Object {
        let next = self.objects.len() as Object;
        let object = *self.keys[usize::from(slot)].object.get_or_insert(next);
        if object == next {
            self.objects.push(Table::new());
        }
        object
    }

    /// The slot of the key `name` inside `object`.
    pub(super) fn find(&self, object: Object, name: &[u8]) -> Option<Slot> {
        let among = &self.objects[usize::from(object)].slots;
        among.iter().copied().find(|&slot| self.keys[usize::from(slot)].name.as_bytes() == name)
    }

    /// The same for the key at `key` in `bytes`, with its quote behind it.
    #[inline(always)]
    pub(super) fn find_at<S: Simd>(
        &self,
        simd: S,
        object: Object,
        bytes: &[u8],
        key: Range<usize>,
    ) -> Option<Slot> {
        let (table, len) = (&self.objects[usize::from(object)], key.len());
        if table.lengths >> len.min(63) & 1 == 0 {
            return None;
        }
        match bytes[key.start..].first_chunk() {
            Some(block) if SHORT.contains(&len) => table.find(simd, block, len),
            _ => self.find(object, &bytes[key]),
        }
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

/// The keys that are looked up by number: those that fit into a vector with their closing quote, and have the two
/// bytes that the hash is made of.
const SHORT: RangeInclusive<usize> = 2..=15;

/// More than there can be keys, so that there is always a free place.
const PLACES: usize = 2 * SLOTS;

/// The wanted keys of an object.
#[derive(Debug)]
struct Table {
    slots: Vec<Slot>,
    /// A bit for each length that a key has; the last one for all that are longer.
    lengths: u64,
    /// The short keys, each at the hash of its name or in the next place that was free.
    places: Vec<Place>,
}

/// A short key, or none.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The name and its closing quote, then zeros.
    block: [u8; 16],
    /// A bit for each byte of that; 0 where there is no key.
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

    /// The slot of the short key that `block` begins with.
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

/// A number below [`PLACES`] for a key of this length and these first two bytes.
#[inline(always)]
fn hash(block: &[u8; 16], len: usize) -> usize {
    let first = u32::from(u16::from_le_bytes([block[0], block[1]]));
    ((first.wrapping_mul(0x9e37) >> 8) as usize + len) % PLACES
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;

    fn find(tree: &Tree, object: Option<Object>, name: &str) -> Option<Slot> {
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
        let tree = Tree::new(&[
            Want { path: &["item", "type"], cap: 3 },
            Want { path: &["type"], cap: 4 },
            Want { path: &["item"], cap: 5 },
            Want { path: &["item", "error", "message"], cap: 6 },
        ]);
        let line = Some(LINE);
        let item = find(&tree, line, "item").unwrap();
        assert_eq!(item, tree.slot_of(2));
        let inside = tree.keys()[usize::from(item)].object;
        assert_eq!(find(&tree, inside, "type"), Some(tree.slot_of(0)));
        assert_eq!(find(&tree, line, "type"), Some(tree.slot_of(1)));
        let error = find(&tree, inside, "error").unwrap();
        let deeper = tree.keys()[usize::from(error)].object;
        assert_eq!(find(&tree, deeper, "message"), Some(tree.slot_of(3)));
        assert_eq!(find(&tree, line, "message"), None);
        assert_eq!(find(&tree, deeper, "type"), None);
        assert_eq!(tree.keys()[usize::from(tree.slot_of(1))].object, None);
        let keys = tree.keys();
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
        let tree = Tree::new(&wants);
        for len in 0..=26 {
            let name = &LONG[..len];
            assert_eq!(find(&tree, Some(LINE), name), Some(tree.slot_of(len)));
            for at in 0..len {
                let other = format!("{}_{}", &name[..at], &name[at + 1..]);
                assert_eq!(find(&tree, Some(LINE), &other), None, "{other}");
            }
            assert_eq!(find(&tree, Some(LINE), &format!("{name}\0")), None);
        }
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
