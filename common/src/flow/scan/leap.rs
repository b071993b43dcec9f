//! The way of whole tokens: the same grammar as a byte at a time, for what lies in one part from end to end.
//!
//! It knows objects and arrays written without white space, as Codex writes them, and leaves everything else to the
//! way of single bytes.

use fearless_simd::Simd;

use super::block::Seen;
use super::escape::{keep, pass};
use super::finds::Kind;
use super::machine::{Machine, State};
use super::number::Number;
use super::string::{Inside, Use};

/// Where the walk through members and elements goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Door {
    /// Behind the opening quote of a key.
    Key,
    /// At a value.
    Value,
    /// Behind a value.
    Next,
}

impl Machine {
    /// Takes whole tokens from `bytes[at..]` as long as that goes, and says where it stopped: at the end, within a
    /// token, or before one that is cut, wrong or unusual.
    #[inline(always)]
    pub(super) fn leap<S: Simd>(
        &mut self,
        simd: S,
        bytes: &[u8],
        mut at: usize,
        seen: &mut Seen<S>,
    ) -> usize {
        if matches!(self.state, State::Start) {
            at = self.known_beginning(simd, bytes, at, seen);
        }
        let mut door = match self.state {
            State::Key | State::FirstKey if bytes.get(at) == Some(&b'"') => {
                at += 1;
                Door::Key
            }
            State::Start if matches!(bytes.get(at), Some(b'{' | b'[')) => Door::Value,
            State::Value | State::FirstValue => Door::Value,
            State::Next => Door::Next,
            _ => return at,
        };
        let mut state = self.state;
        let mut slot = self.slot;
        'key: loop {
            if door == Door::Key {
                let end = seen.run_end(simd, bytes, at);
                if !follows(b"\":", bytes, end) {
                    at -= 1;
                    state = State::Key;
                    break 'key;
                }
                slot = match self.object() {
                    Some(object) => self.finds.claim_at(simd, object, bytes, at..end),
                    None => None,
                };
                at = end + 2;
                state = State::Value;
            }
            'value: loop {
                if door != Door::Next {
                    let Some(&byte) = bytes.get(at) else { break 'key };
                    // No `match`: its jump would have to be foreseen among five, and a string is what mostly comes.
                    if byte == b'"' {
                        at = match slot {
                            Some(slot) => keep(simd, bytes, at + 1, self.finds.set(slot, Kind::Text), seen),
                            None => pass(simd, bytes, at + 1, seen),
                        };
                        if bytes.get(at) != Some(&b'"') {
                            state = State::Text(Use::Value, Inside::Plain);
                            break 'key;
                        }
                        at += 1;
                        slot = None;
                        if follows(b",\"", bytes, at) && self.nest.in_object() {
                            at += 2;
                            door = Door::Key;
                            continue 'key;
                        }
                    } else if byte == b'{' || byte == b'[' {
                        self.slot = slot.take();
                        state = self.open(byte == b'{');
                        at += 1;
                        match state {
                            State::FirstValue => {
                                door = Door::Value;
                                continue 'value;
                            }
                            State::FirstKey if bytes.get(at) == Some(&b'"') => {
                                at += 1;
                                door = Door::Key;
                                continue 'key;
                            }
                            _ => break 'key,
                        }
                    } else if let Some((kind, length)) = literal(&bytes[at..]) {
                        if let Some(slot) = slot.take() {
                            self.finds.set(slot, kind);
                        }
                        at += length;
                    } else if let Some(end) = number_end(bytes, at) {
                        if let Some(slot) = slot.take() {
                            self.finds.set(slot, Kind::Number).set(&bytes[at..end]);
                        }
                        at = end;
                    } else {
                        break 'key;
                    }
                    state = State::Next;
                }
                loop {
                    let in_object = self.nest.in_object();
                    match bytes.get(at) {
                        Some(b',') if in_object => {
                            state = State::Key;
                            at += 1;
                            if bytes.get(at) != Some(&b'"') {
                                break 'key;
                            }
                            at += 1;
                            door = Door::Key;
                            continue 'key;
                        }
                        Some(b',') => {
                            state = State::Value;
                            at += 1;
                            door = Door::Value;
                            continue 'value;
                        }
                        Some(b'}') if in_object => {}
                        Some(b']') if !in_object => {}
                        _ => break 'key,
                    }
                    at += 1;
                    state = self.close();
                    if self.nest.depth() == 0 {
                        break 'key;
                    }
                }
            }
        }
        self.slot = slot;
        self.state = state;
        at
    }
}

/// Whether `two` stand at `at`.
#[inline(always)]
fn follows(two: &[u8; 2], bytes: &[u8], at: usize) -> bool {
    bytes.get(at..).and_then(|rest| rest.first_chunk()) == Some(two)
}

/// The literal that `rest` begins with, and its length.
#[inline(always)]
fn literal(rest: &[u8]) -> Option<(Kind, usize)> {
    match rest {
        [b'n', b'u', b'l', b'l', ..] => Some((Kind::Null, 4)),
        [b't', b'r', b'u', b'e', ..] => Some((Kind::Bool(true), 4)),
        [b'f', b'a', b'l', b's', b'e', ..] => Some((Kind::Bool(false), 5)),
        _ => None,
    }
}

/// Where the number that begins at `at` ends; `None` when it is wrong or may go on in the next part.
#[inline]
fn number_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut number = Number::begin(bytes[at])?;
    loop {
        at += 1;
        match number.next(*bytes.get(at)?) {
            Some(next) => number = next,
            None => return number.is_whole().then_some(at),
        }
    }
}
