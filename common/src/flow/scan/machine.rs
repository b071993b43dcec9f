//! The grammar of one line, as a machine that can stop after any character.

use super::Want;
use super::finds::{Finds, Kind};
use super::nest::Nest;
use super::number::Number;
use super::text::Kept;
use super::wants::{LEVELS, Slot};

/// What may come next.
#[derive(Debug, Clone, Copy)]
enum State {
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
    /// The rest of a literal.
    Literal(Kind, &'static [u8]),
    /// White space, after the value of the line.
    Done,
    /// Anything: the line is malformed.
    Malformed,
}

/// What a text is for.
#[derive(Debug, Clone, Copy)]
enum Use {
    /// A key of an object that has wanted keys.
    Key,
    /// A key of any other object.
    OtherKey,
    /// A value.
    Value,
}

/// Where in a text we are.
#[derive(Debug, Clone, Copy)]
enum Inside {
    Plain,
    /// After a backslash.
    Escape,
    /// After `\u` and some of its digits.
    Hex {
        left: u8,
        unit: u16,
    },
}

/// Which keys are looked for in a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Those at the top of the line.
    Top,
    /// Those inside a wanted object.
    In(Slot),
    /// None.
    Elsewhere,
}

/// The state of one line.
#[derive(Debug)]
pub(super) struct Machine {
    state: State,
    nest: Nest,
    /// The outermost open containers, by depth; deeper ones are [`Place::Elsewhere`].
    places: [Place; LEVELS],
    /// Where the value that comes next, or is being read, is kept.
    slot: Option<Slot>,
    /// The key being read.
    key: Kept,
    /// Whether the value of the line is an object; true of nothing yet.
    is_object: bool,
    finds: Finds,
}

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Blank,
    Object,
    NotObject,
    Malformed,
}

impl Machine {
    pub(super) fn new(wants: &[Want]) -> Machine {
        let finds = Finds::new(wants);
        Machine {
            state: State::Start,
            nest: Nest::default(),
            places: [Place::Elsewhere; LEVELS],
            slot: None,
            key: finds.key_room(),
            is_object: false,
            finds,
        }
    }

    /// Begins a new line.
    pub(super) fn clear(&mut self) {
        self.state = State::Start;
        self.nest.clear();
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

    /// Takes more of the line.
    pub(super) fn push(&mut self, chars: &str) {
        let mut at = 0;
        while at < chars.len() {
            at = match self.state {
                State::Text(used, Inside::Plain) => self.plain(used, chars, at),
                State::Text(used, Inside::Escape) => self.escape(used, chars.as_bytes()[at], at),
                State::Text(used, Inside::Hex { left, unit }) => {
                    self.hex(used, left, unit, chars.as_bytes()[at], at)
                }
                State::Number(number) => self.number(number, chars, at),
                State::Literal(kind, rest) => self.literal(kind, rest, chars.as_bytes()[at], at),
                State::Malformed => return,
                _ => self.between(chars.as_bytes()[at], at),
            };
        }
    }

    /// A byte outside of any token.
    fn between(&mut self, byte: u8, at: usize) -> usize {
        let state = match (self.state, byte) {
            (_, b' ' | b'\t' | b'\r') => self.state,
            (State::Start | State::Value | State::FirstValue, _) if byte != b']' => self.value(byte),
            (State::FirstValue, b']') => self.close(),
            (State::Key | State::FirstKey, b'"') => {
                if self.place() == Place::Elsewhere {
                    State::Text(Use::OtherKey, Inside::Plain)
                } else {
                    self.key.clear();
                    State::Text(Use::Key, Inside::Plain)
                }
            }
            (State::FirstKey, b'}') => self.close(),
            (State::Colon, b':') => State::Value,
            (State::Next, b',') => {
                if self.nest.in_object() {
                    State::Key
                } else {
                    State::Value
                }
            }
            (State::Next, b'}') if self.nest.in_object() => self.close(),
            (State::Next, b']') if !self.nest.in_object() => self.close(),
            _ => State::Malformed,
        };
        self.state = state;
        at + 1
    }

    /// The first byte of a value.
    fn value(&mut self, byte: u8) -> State {
        let (kind, state) = match byte {
            b'"' => (Kind::Text, State::Text(Use::Value, Inside::Plain)),
            b'{' => return self.open(true),
            b'[' => return self.open(false),
            b't' => (Kind::Bool(true), State::Literal(Kind::Bool(true), b"rue")),
            b'f' => (Kind::Bool(false), State::Literal(Kind::Bool(false), b"alse")),
            b'n' => (Kind::Null, State::Literal(Kind::Null, b"ull")),
            _ => match Number::begin(byte) {
                Some(number) => (Kind::Number, State::Number(number)),
                None => return State::Malformed,
            },
        };
        if let Some(slot) = self.slot {
            self.finds.set(slot, kind);
            if kind == Kind::Number {
                self.finds.text(slot).push_char(byte.into());
            }
        }
        state
    }

    fn open(&mut self, object: bool) -> State {
        let place = match self.slot.take() {
            Some(slot) => {
                self.finds.set(slot, if object { Kind::Object } else { Kind::Array });
                if object { Place::In(slot) } else { Place::Elsewhere }
            }
            None if object && self.nest.depth() == 0 => {
                self.is_object = true;
                Place::Top
            }
            None => Place::Elsewhere,
        };
        if let Some(level) = self.places.get_mut(self.nest.depth()) {
            *level = place;
        }
        match self.nest.open(object) {
            true if object => State::FirstKey,
            true => State::FirstValue,
            false => State::Malformed,
        }
    }

    fn close(&mut self) -> State {
        self.nest.close();
        self.after_value()
    }

    fn after_value(&mut self) -> State {
        self.slot = None;
        if self.nest.depth() == 0 { State::Done } else { State::Next }
    }

    /// Which keys are looked for in the innermost open container.
    fn place(&self) -> Place {
        let level = self.nest.depth() - 1;
        self.places.get(level).copied().unwrap_or(Place::Elsewhere)
    }

    /// Where the text being read is kept.
    fn kept(&mut self, used: Use) -> Option<&mut Kept> {
        match (used, self.slot) {
            (Use::Key, _) => Some(&mut self.key),
            (Use::Value, Some(slot)) => Some(self.finds.text(slot)),
            (Use::OtherKey, _) | (Use::Value, None) => None,
        }
    }

    /// Characters of a text that stand for themselves, and the one that ends them.
    fn plain(&mut self, used: Use, chars: &str, at: usize) -> usize {
        let rest = &chars.as_bytes()[at..];
        let length =
            rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
        if length > 0
            && let Some(kept) = self.kept(used)
        {
            kept.push(&chars[at..at + length]);
        }
        let Some(byte) = rest.get(length) else {
            return chars.len();
        };
        self.state = match byte {
            b'"' => self.end_text(used),
            b'\\' => State::Text(used, Inside::Escape),
            _ => State::Malformed,
        };
        at + length + 1
    }

    fn end_text(&mut self, used: Use) -> State {
        if let Some(kept) = self.kept(used) {
            kept.end();
        }
        match used {
            Use::Key => {
                let outer = match self.place() {
                    Place::In(slot) => Some(slot),
                    Place::Top | Place::Elsewhere => None,
                };
                let (name, whole) = self.key.get();
                self.slot = if whole { self.finds.claim(outer, name) } else { None };
                State::Colon
            }
            Use::OtherKey => State::Colon,
            Use::Value => self.after_value(),
        }
    }

    fn escape(&mut self, used: Use, byte: u8, at: usize) -> usize {
        let char = match byte {
            b'"' | b'\\' | b'/' => byte.into(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.state = State::Text(used, Inside::Hex { left: 4, unit: 0 });
                return at + 1;
            }
            _ => {
                self.state = State::Malformed;
                return at + 1;
            }
        };
        if let Some(kept) = self.kept(used) {
            kept.push_char(char);
        }
        self.state = State::Text(used, Inside::Plain);
        at + 1
    }

    fn hex(&mut self, used: Use, left: u8, unit: u16, byte: u8, at: usize) -> usize {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => {
                self.state = State::Malformed;
                return at + 1;
            }
        };
        let unit = unit << 4 | u16::from(digit);
        self.state = if left > 1 {
            State::Text(used, Inside::Hex { left: left - 1, unit })
        } else {
            if let Some(kept) = self.kept(used) {
                kept.push_unit(unit);
            }
            State::Text(used, Inside::Plain)
        };
        at + 1
    }

    fn number(&mut self, mut number: Number, chars: &str, at: usize) -> usize {
        let rest = &chars.as_bytes()[at..];
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
            self.finds.text(slot).push(&chars[at..at + length]);
        }
        self.state = match rest.get(length) {
            None => State::Number(number),
            Some(_) if number.is_whole() => self.after_value(),
            Some(_) => State::Malformed,
        };
        at + length
    }

    fn literal(&mut self, kind: Kind, rest: &'static [u8], byte: u8, at: usize) -> usize {
        self.state = match rest {
            [last] if *last == byte => self.after_value(),
            [first, rest @ ..] if *first == byte => State::Literal(kind, rest),
            _ => State::Malformed,
        };
        at + 1
    }
}
