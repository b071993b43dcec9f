//! The grammar of one line, as a machine that can stop after any character.
//!
//! Here is the state, and the way of single bytes; the way of whole tokens is in `leap`.

use fearless_simd::{Level, Simd, dispatch};
use memchr::memchr;

use super::Want;
use super::block::Seen;
use super::finds::{Finds, Kind};
use super::known::Known;
use super::nest::Nest;
use super::number::Number;
use super::string::{Inside, Use};
use super::text::Kept;
use super::wants::{LEVELS, LINE, Object, Slot};

/// What may come next.
#[derive(Debug, Clone, Copy)]
pub(super) enum State {
    /// The value of the line, or nothing.
    Start,
    /// A value, after a colon or after the comma of an array.
    Value,
    /// A value or the end of the array, after its bracket.
    FirstValue,
    /// A key, after a comma.
    Key,
    /// A key or the end of the object, after its brace.
    FirstKey,
    /// The colon after a key.
    Colon,
    /// A comma or the end of the container, after a value.
    Next,
    /// The rest of a key or string.
    Text(Use, Inside),
    /// The rest of a number.
    Number(Number),
    /// The rest of a literal, of which so many bytes were there.
    Literal(Kind, u8),
    /// White space, after the value of the line.
    Done,
    /// Anything: the line is malformed.
    Malformed,
}

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Blank,
    Object,
    NotObject,
    Malformed,
}

/// The state of one line.
#[derive(Debug)]
pub(super) struct Machine {
    /// The vectors that this processor has.
    level: Level,
    pub(super) state: State,
    pub(super) nest: Nest,
    /// The open objects that have wanted keys, outermost first. They are the outermost open containers, because a
    /// path leads through objects only.
    objects: [Object; LEVELS],
    /// How many they are.
    wanted: usize,
    /// Where the value that comes next, or is being read, is kept. `None` except from a key to the end of its value.
    pub(super) slot: Option<Slot>,
    /// The key being read, when it has to be put together.
    pub(super) key: Kept,
    /// Whether the value of the line is an object; false until it began.
    is_object: bool,
    pub(super) finds: Finds,
    pub(super) known: Known,
}

impl Machine {
    pub(super) fn new(wants: &[Want]) -> Machine {
        let finds = Finds::new(wants);
        Machine {
            level: Level::new(),
            state: State::Start,
            nest: Nest::new(),
            objects: [LINE; LEVELS],
            wanted: 0,
            slot: None,
            key: finds.key_room(),
            is_object: false,
            known: Known::new(&finds),
            finds,
        }
    }

    /// Begins a new line.
    pub(super) fn clear(&mut self) {
        self.state = State::Start;
        self.nest.clear();
        self.wanted = 0;
        self.slot = None;
        self.is_object = false;
        self.finds.clear();
    }

    /// Gives the line up: what was pushed is not UTF-8.
    pub(super) fn refuse(&mut self) {
        self.state = State::Malformed;
    }

    pub(super) fn is_malformed(&self) -> bool {
        matches!(self.state, State::Malformed)
    }

    pub(super) fn finds(&self) -> &Finds {
        &self.finds
    }

    /// What the line is when nothing more comes.
    pub(super) fn ending(&self) -> Ending {
        match self.state {
            State::Start => Ending::Blank,
            State::Done if self.is_object => Ending::Object,
            State::Done => Ending::NotObject,
            State::Number(number) if self.nest.depth() == 0 && number.is_whole() => Ending::NotObject,
            _ => Ending::Malformed,
        }
    }

    /// Takes more of the line. False when some of it may not be ASCII, so that its UTF-8 has to be checked. Bytes beyond
    /// ASCII are ordinary in keys and strings, right or wrong, and malformed elsewhere.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        dispatch!(self.level, simd => {
            let mut seen = Seen::new(simd);
            let at = self.leap(simd, bytes, 0, &mut seen);
            self.push_rest(simd, bytes, at, &mut seen)
        })
    }

    /// The same up to the first LF of `bytes`, and where that is; the end of `bytes` when there is none.
    ///
    /// The usual line takes itself to its LF, so that nobody has to look for it before.
    pub(super) fn push_line(&mut self, bytes: &[u8]) -> (usize, bool) {
        dispatch!(self.level, simd => {
            let mut seen = Seen::new(simd);
            let at = self.leap(simd, bytes, 0, &mut seen);
            let rest = &bytes[at..];
            if rest.first() == Some(&b'\n') {
                return (at, seen.is_ascii());
            }
            let end = memchr(b'\n', rest).map_or(bytes.len(), |length| at + length);
            (end, self.push_rest(simd, &bytes[..end], at, &mut seen))
        })
    }

    /// What no leap has taken, from `at` on.
    #[inline(always)]
    fn push_rest<S: Simd>(&mut self, simd: S, bytes: &[u8], mut at: usize, seen: &mut Seen<S>) -> bool {
        loop {
            let Some(&byte) = bytes.get(at) else { return seen.is_ascii() };
            at = match self.state {
                State::Text(used, Inside::Plain) => self.plain(simd, used, bytes, at, seen),
                State::Text(used, Inside::Escape) => self.escape(used, byte, at),
                State::Text(used, Inside::Hex { left, unit }) => self.hex(used, left, unit, byte, at),
                State::Number(number) => self.number(number, bytes, at),
                State::Literal(kind, seen) => self.literal(kind, seen, byte, at),
                State::Malformed => return true,
                _ => self.between(byte, at),
            };
            at = self.leap(simd, bytes, at, seen);
        }
    }

    /// A byte outside of any token.
    fn between(&mut self, byte: u8, at: usize) -> usize {
        let in_object = self.nest.in_object();
        self.state = match (self.state, byte) {
            (state, b' ' | b'\t' | b'\r') => state,
            (State::Start | State::Value | State::FirstValue, _) if byte != b']' => self.value(byte),
            (State::FirstValue, b']') => self.close(),
            (State::Key | State::FirstKey, b'"') if self.object().is_some() => {
                self.key.clear();
                State::Text(Use::Key, Inside::Plain)
            }
            (State::Key | State::FirstKey, b'"') => State::Text(Use::OtherKey, Inside::Plain),
            (State::FirstKey, b'}') => self.close(),
            (State::Colon, b':') => State::Value,
            (State::Next, b',') if in_object => State::Key,
            (State::Next, b',') => State::Value,
            (State::Next, b'}') if in_object => self.close(),
            (State::Next, b']') if !in_object => self.close(),
            _ => State::Malformed,
        };
        at + 1
    }

    /// The first byte of a value.
    fn value(&mut self, byte: u8) -> State {
        let (kind, state) = match byte {
            b'"' => (Kind::Text, State::Text(Use::Value, Inside::Plain)),
            b'{' => return self.open(true),
            b'[' => return self.open(false),
            b't' => (Kind::Bool(true), State::Literal(Kind::Bool(true), 1)),
            b'f' => (Kind::Bool(false), State::Literal(Kind::Bool(false), 1)),
            b'n' => (Kind::Null, State::Literal(Kind::Null, 1)),
            _ => match Number::begin(byte) {
                Some(number) => (Kind::Number, State::Number(number)),
                None => return State::Malformed,
            },
        };
        if let Some(slot) = self.slot {
            let text = self.finds.set(slot, kind);
            text.clear();
            if kind == Kind::Number {
                text.push_byte(byte);
            }
        }
        state
    }

    /// The innermost open container, if it is an object that has wanted keys.
    #[inline]
    pub(super) fn object(&self) -> Option<Object> {
        if self.wanted == self.nest.depth() { self.objects[..self.wanted].last().copied() } else { None }
    }

    /// After the bracket that opens a container.
    #[inline]
    pub(super) fn open(&mut self, is_object: bool) -> State {
        let object = match self.slot.take() {
            Some(slot) => {
                self.finds.set(slot, if is_object { Kind::Object } else { Kind::Array });
                if is_object { self.finds.object(slot) } else { None }
            }
            None if is_object && self.nest.depth() == 0 => {
                self.is_object = true;
                Some(LINE)
            }
            None => None,
        };
        if let Some(object) = object {
            self.objects[self.wanted] = object;
            self.wanted += 1;
        }
        match self.nest.open(is_object) {
            true if is_object => State::FirstKey,
            true => State::FirstValue,
            false => State::Malformed,
        }
    }

    /// After the bracket that closes a container.
    #[inline]
    pub(super) fn close(&mut self) -> State {
        if self.wanted == self.nest.depth() {
            self.wanted -= 1;
        }
        self.nest.close();
        self.after_value()
    }

    #[inline]
    pub(super) fn after_value(&mut self) -> State {
        self.slot = None;
        if self.nest.depth() == 0 { State::Done } else { State::Next }
    }

    /// More of a number, or what ends it.
    fn number(&mut self, mut number: Number, bytes: &[u8], at: usize) -> usize {
        let rest = &bytes[at..];
        let mut length = 0;
        while let Some(&byte) = rest.get(length)
            && let Some(next) = number.next(byte)
        {
            number = next;
            length += 1;
        }
        if length > 0
            && let Some(slot) = self.slot
        {
            self.finds.text(slot).push(&rest[..length]);
        }
        self.state = match rest.get(length) {
            None => State::Number(number),
            Some(_) if number.is_whole() => self.after_value(),
            Some(_) => State::Malformed,
        };
        at + length
    }

    /// One more byte of a literal.
    fn literal(&mut self, kind: Kind, seen: u8, byte: u8, at: usize) -> usize {
        let literal: &[u8] = match kind {
            Kind::Bool(true) => b"true",
            Kind::Bool(false) => b"false",
            _ => b"null",
        };
        self.state = match literal[seen.into()..] {
            [last] if last == byte => self.after_value(),
            [next, ..] if next == byte => State::Literal(kind, seen + 1),
            _ => State::Malformed,
        };
        at + 1
    }
}
