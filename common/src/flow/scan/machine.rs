//! The state of one line, and the steps that the byte path and the fast path share.

use fearless_simd::Level;

use super::Want;
use super::container_stack::ContainerStack;
use super::grammar::{Ending, Kind, State};
use super::keys::{LEVELS, ObjectId, ROOT, Slot};
use super::prefix::PrefixSlots;
use super::text::CappedText;
use super::values::ValueStore;

/// The state of one line.
#[derive(Debug)]
pub(super) struct Machine {
    /// The vector instructions that this processor has.
    pub(super) level: Level,
    pub(super) state: State,
    pub(super) containers: ContainerStack,
    /// The open objects that have wanted keys, outermost first. They are always the outermost open containers,
    /// because a path leads through objects only.
    objects: [ObjectId; LEVELS],
    /// The number of entries of `objects` that are in use.
    open_objects: usize,
    /// Where the value of the current key is kept. `None` outside a key's value, and when that value is not wanted.
    pub(super) slot: Option<Slot>,
    /// The decoded bytes of the current key, on the byte path.
    pub(super) key: CappedText,
    /// Whether the value of the line is an object. False before its first byte.
    is_object: bool,
    pub(super) values: ValueStore,
    pub(super) prefix: PrefixSlots,
}

impl Machine {
    pub(super) fn new(wants: &[Want]) -> Machine {
        let values = ValueStore::new(wants);
        Machine {
            level: Level::new(),
            state: State::Start,
            containers: ContainerStack::new(),
            objects: [ROOT; LEVELS],
            open_objects: 0,
            slot: None,
            key: values.key_buffer(),
            is_object: false,
            prefix: PrefixSlots::new(&values),
            values,
        }
    }

    /// Begins a new line.
    pub(super) fn clear(&mut self) {
        self.state = State::Start;
        self.containers.clear();
        self.open_objects = 0;
        self.slot = None;
        self.is_object = false;
        self.values.clear();
    }

    /// Marks the line as malformed.
    pub(super) fn set_malformed(&mut self) {
        self.state = State::Malformed;
    }

    pub(super) fn is_malformed(&self) -> bool {
        matches!(self.state, State::Malformed)
    }

    /// The verdict on the line when nothing more comes.
    pub(super) fn ending(&self) -> Ending {
        match self.state {
            State::Start => Ending::Blank,
            State::Done if self.is_object => Ending::Object,
            State::Done => Ending::NotObject,
            State::Number(number) if self.containers.depth() == 0 && number.is_whole() => Ending::NotObject,
            _ => Ending::Malformed,
        }
    }

    /// The innermost open container, when it is an object that has wanted keys.
    #[inline]
    pub(super) fn object(&self) -> Option<ObjectId> {
        if self.open_objects == self.containers.depth() {
            self.objects[..self.open_objects].last().copied()
        } else {
            None
        }
    }

    /// Opens a container; gives the state after its bracket.
    #[inline]
    pub(super) fn open(&mut self, is_object: bool) -> State {
        let object = match self.slot.take() {
            Some(slot) => {
                self.values.set(slot, if is_object { Kind::Object } else { Kind::Array });
                if is_object { self.values.object(slot) } else { None }
            }
            None if is_object && self.containers.depth() == 0 => {
                self.is_object = true;
                Some(ROOT)
            }
            None => None,
        };
        if let Some(object) = object {
            self.objects[self.open_objects] = object;
            self.open_objects += 1;
        }
        match self.containers.open(is_object) {
            true if is_object => State::FirstKey,
            true => State::FirstValue,
            false => State::Malformed,
        }
    }

    /// Closes the innermost container; gives the state after its bracket.
    #[inline]
    pub(super) fn close(&mut self) -> State {
        if self.open_objects == self.containers.depth() {
            self.open_objects -= 1;
        }
        self.containers.close();
        self.after_value()
    }

    /// Ends a value; gives the state after it.
    #[inline]
    pub(super) fn after_value(&mut self) -> State {
        self.slot = None;
        if self.containers.depth() == 0 { State::Done } else { State::Next }
    }
}
