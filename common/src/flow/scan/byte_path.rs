//! The byte path: the grammar of RFC 8259, a byte at a time outside strings. It can stop and go on at any byte, and
//! alone decides what is malformed.

use super::grammar::{Kind, State, TextState, TextUse};
use super::machine::Machine;
use super::number::Number;

impl Machine {
    /// Takes a byte between tokens, or the first byte of a token.
    pub(super) fn between(&mut self, byte: u8, at: usize) -> usize {
        let in_object = self.containers.in_object();
        self.state = match (self.state, byte) {
            (state, b' ' | b'\t' | b'\r') => state,
            (State::Start | State::Value | State::FirstValue, _) if byte != b']' => self.value(byte),
            (State::FirstValue, b']') => self.close(),
            (State::Key | State::FirstKey, b'"') if self.object().is_some() => {
                self.key.clear();
                State::Text(TextUse::Key, TextState::Plain)
            }
            (State::Key | State::FirstKey, b'"') => State::Text(TextUse::OtherKey, TextState::Plain),
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

    /// Takes the first byte of a value; gives the state after it.
    fn value(&mut self, byte: u8) -> State {
        let (kind, state) = match byte {
            b'"' => (Kind::Text, State::Text(TextUse::Value, TextState::Plain)),
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
            let text = self.values.set(slot, kind);
            text.clear();
            if kind == Kind::Number {
                text.push_byte(byte);
            }
        }
        state
    }

    /// Takes the next bytes of a number, up to the first byte that is not part of it.
    pub(super) fn number(&mut self, mut number: Number, bytes: &[u8], at: usize) -> usize {
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
            self.values.text(slot).push(&rest[..length]);
        }
        self.state = match rest.get(length) {
            None => State::Number(number),
            Some(_) if number.is_whole() => self.after_value(),
            Some(_) => State::Malformed,
        };
        at + length
    }

    /// Takes the next byte of a literal of which `read` bytes have been read.
    pub(super) fn literal(&mut self, kind: Kind, read: u8, byte: u8, at: usize) -> usize {
        let literal: &[u8] = match kind {
            Kind::Bool(true) => b"true",
            Kind::Bool(false) => b"false",
            _ => b"null",
        };
        self.state = match literal[read.into()..] {
            [last] if last == byte => self.after_value(),
            [next, ..] if next == byte => State::Literal(kind, read + 1),
            _ => State::Malformed,
        };
        at + 1
    }
}
