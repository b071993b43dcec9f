//! The fast path: whole tokens that lie in one chunk.
//!
//! It knows objects and arrays written without white space, as Codex writes them, and leaves everything else to the
//! byte path. Short lines are read three times as fast as by the byte path alone (`benches/flow`, chatty).

use fearless_simd::Simd;

use super::block::RunFinder;
use super::escape::{keep, pass};
use super::grammar::{Kind, State, TextState, TextUse};
use super::keys::Slot;
use super::machine::Machine;
use super::number::Number;
use super::prefix::{event_type, item_id_and_type};

/// What the fast path expects at the current byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// The first byte of a key, after its opening quote.
    Key,
    /// The first byte of a value.
    Value,
    /// A comma or a closing bracket, after a value.
    Next,
}

impl Machine {
    /// Takes whole tokens from `bytes[at..]` as far as possible. Returns where it stopped: at the end, inside a string,
    /// or before a token that is cut, wrong or unusual.
    #[inline(always)]
    pub(super) fn fast_path<S: Simd>(
        &mut self,
        simd: S,
        bytes: &[u8],
        mut at: usize,
        runs: &mut RunFinder<S>,
    ) -> usize {
        if cfg!(scan_without = "fast_path") {
            return at;
        }
        if matches!(self.state, State::Start) && !cfg!(scan_without = "prefix") {
            at = self.take_prefix(simd, bytes, at, runs);
        }
        let mut expect = match self.state {
            State::Key | State::FirstKey if bytes.get(at) == Some(&b'"') => {
                at += 1;
                Expect::Key
            }
            State::Start if matches!(bytes.get(at), Some(b'{' | b'[')) => Expect::Value,
            State::Value | State::FirstValue => Expect::Value,
            State::Next => Expect::Next,
            _ => return at,
        };
        let mut state = self.state;
        let mut slot = self.slot;
        'key: loop {
            if expect == Expect::Key {
                let end = runs.run_end(simd, bytes, at);
                if !follows(b"\":", bytes, end) {
                    at -= 1;
                    state = State::Key;
                    break 'key;
                }
                slot = match self.object() {
                    Some(object) => self.values.slot_for_at(simd, object, bytes, at..end),
                    None => None,
                };
                at = end + 2;
                state = State::Value;
            }
            'value: loop {
                if expect != Expect::Next {
                    let Some(&byte) = bytes.get(at) else { break 'key };
                    // No `match`: its jump would have to be foreruns among five, and a string is what mostly comes.
                    if byte == b'"' {
                        at = match slot {
                            Some(slot) => keep(simd, bytes, at + 1, self.values.set(slot, Kind::Text), runs),
                            None => pass(simd, bytes, at + 1, runs),
                        };
                        if bytes.get(at) != Some(&b'"') {
                            state = State::Text(TextUse::Value, TextState::Plain);
                            break 'key;
                        }
                        at += 1;
                        slot = None;
                        if follows(b",\"", bytes, at) && self.containers.in_object() {
                            at += 2;
                            expect = Expect::Key;
                            continue 'key;
                        }
                    } else if byte == b'{' || byte == b'[' {
                        self.slot = slot.take();
                        state = self.open(byte == b'{');
                        at += 1;
                        match state {
                            State::FirstValue => {
                                expect = Expect::Value;
                                continue 'value;
                            }
                            State::FirstKey if bytes.get(at) == Some(&b'"') => {
                                at += 1;
                                expect = Expect::Key;
                                continue 'key;
                            }
                            _ => break 'key,
                        }
                    } else if let Some((kind, length)) = literal(&bytes[at..]) {
                        if let Some(slot) = slot.take() {
                            self.values.set(slot, kind);
                        }
                        at += length;
                    } else if let Some(end) = number_end(bytes, at) {
                        if let Some(slot) = slot.take() {
                            self.values.set(slot, Kind::Number).set(&bytes[at..end]);
                        }
                        at = end;
                    } else {
                        break 'key;
                    }
                    state = State::Next;
                }
                loop {
                    let in_object = self.containers.in_object();
                    match bytes.get(at) {
                        Some(b',') if in_object => {
                            state = State::Key;
                            at += 1;
                            if bytes.get(at) != Some(&b'"') {
                                break 'key;
                            }
                            at += 1;
                            expect = Expect::Key;
                            continue 'key;
                        }
                        Some(b',') => {
                            state = State::Value;
                            at += 1;
                            expect = Expect::Value;
                            continue 'value;
                        }
                        Some(b'}') if in_object => {}
                        Some(b']') if !in_object => {}
                        _ => break 'key,
                    }
                    at += 1;
                    state = self.close();
                    if self.containers.depth() == 0 {
                        break 'key;
                    }
                }
            }
        }
        self.slot = slot;
        self.state = state;
        at
    }

    /// Takes `{"type":"…"`, and `,"item":{"id":"…","type":"…"` after it, when the line begins so.
    #[inline(always)]
    fn take_prefix<S: Simd>(&mut self, simd: S, bytes: &[u8], from: usize, runs: &mut RunFinder<S>) -> usize {
        let Some(kind) = event_type(simd, bytes, from, runs) else { return from };
        self.open(true);
        self.state = State::Next;
        self.keep_prefix(self.prefix.kind, &bytes[kind.clone()]);
        let Some((id, item_kind)) = item_id_and_type(simd, bytes, kind.end, runs) else {
            return kind.end + 1;
        };
        self.slot = self.prefix.item;
        self.open(true);
        self.keep_prefix(self.prefix.item_id, &bytes[id]);
        let end = item_kind.end;
        self.keep_prefix(self.prefix.item_kind, &bytes[item_kind]);
        end + 1
    }

    #[inline(always)]
    fn keep_prefix(&mut self, slot: Option<Slot>, text: &[u8]) {
        if let Some(slot) = slot {
            self.values.set(slot, Kind::Text).set(text);
        }
    }
}

/// Whether `bytes[at..]` begins with `two`.
#[inline(always)]
fn follows(two: &[u8; 2], bytes: &[u8], at: usize) -> bool {
    bytes.get(at..).and_then(|rest| rest.first_chunk()) == Some(two)
}

/// The literal at the beginning of `rest`, and its length.
#[inline(always)]
fn literal(rest: &[u8]) -> Option<(Kind, usize)> {
    match rest {
        [b'n', b'u', b'l', b'l', ..] => Some((Kind::Null, 4)),
        [b't', b'r', b'u', b'e', ..] => Some((Kind::Bool(true), 4)),
        [b'f', b'a', b'l', b's', b'e', ..] => Some((Kind::Bool(false), 5)),
        _ => None,
    }
}

/// The end of the number that begins at `at`; `None` when it is malformed or may go on in the next chunk.
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
