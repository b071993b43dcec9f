//! Keys and strings, which may be cut anywhere.

use fearless_simd::Simd;

use super::block::Seen;
use super::escape::{digit, keep_more, pass, unescaped};
use super::machine::{Machine, State};
use super::text::Kept;

/// What a text is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Use {
    /// A key of an object that has wanted keys.
    Key,
    /// A key of any other object.
    OtherKey,
    /// A value.
    Value,
}

/// Where in a text we are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Inside {
    Plain,
    /// After a backslash.
    Escape,
    /// After `\u` and some of its digits.
    Hex {
        left: u8,
        unit: u16,
    },
}

impl Machine {
    /// More of a text, up to its end or to an escape that is cut or wrong.
    #[inline(always)]
    pub(super) fn plain<S: Simd>(
        &mut self,
        simd: S,
        used: Use,
        bytes: &[u8],
        from: usize,
        seen: &mut Seen<S>,
    ) -> usize {
        let end = match self.kept(used) {
            Some(kept) => keep_more(simd, bytes, from, kept, seen),
            None => pass(simd, bytes, from, seen),
        };
        let Some(byte) = bytes.get(end) else {
            return end;
        };
        self.state = match byte {
            b'"' => self.end_text(used),
            b'\\' => State::Text(used, Inside::Escape),
            _ => State::Malformed,
        };
        end + 1
    }

    /// The byte after a backslash.
    pub(super) fn escape(&mut self, used: Use, byte: u8, at: usize) -> usize {
        self.state = match unescaped(byte) {
            Some(byte) => {
                if let Some(kept) = self.kept(used) {
                    kept.push_byte(byte);
                }
                State::Text(used, Inside::Plain)
            }
            None if byte == b'u' => State::Text(used, Inside::Hex { left: 4, unit: 0 }),
            None => State::Malformed,
        };
        at + 1
    }

    /// A digit of `\uXXXX`.
    pub(super) fn hex(&mut self, used: Use, left: u8, unit: u16, byte: u8, at: usize) -> usize {
        self.state = match digit(byte) {
            Some(digit) => {
                let unit = unit << 4 | digit;
                if left > 1 {
                    State::Text(used, Inside::Hex { left: left - 1, unit })
                } else {
                    if let Some(kept) = self.kept(used) {
                        kept.push_unit(unit);
                    }
                    State::Text(used, Inside::Plain)
                }
            }
            None => State::Malformed,
        };
        at + 1
    }

    /// Where more of the text being read is kept.
    fn kept(&mut self, used: Use) -> Option<&mut Kept> {
        let kept = match (used, self.slot) {
            (Use::Key, _) => &mut self.key,
            (Use::Value, Some(slot)) => self.finds.text(slot),
            (Use::OtherKey, _) | (Use::Value, None) => return None,
        };
        (!kept.is_cut()).then_some(kept)
    }

    /// After the quote that ends a text.
    fn end_text(&mut self, used: Use) -> State {
        if let Some(kept) = self.kept(used) {
            kept.end();
        }
        match used {
            Use::Key => {
                let (name, whole) = self.key.bytes();
                self.slot = match self.object() {
                    Some(object) if whole => self.finds.claim(object, name),
                    _ => None,
                };
                State::Colon
            }
            Use::OtherKey => State::Colon,
            Use::Value => self.after_value(),
        }
    }
}
