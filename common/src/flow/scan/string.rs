//! The byte path inside keys and strings. Runs without escapes are taken at once; an escape may be cut anywhere.

use fearless_simd::Simd;

use super::block::RunFinder;
use super::escape::{digit, keep_more, pass, unescaped};
use super::grammar::{State, TextState, TextUse};
use super::machine::Machine;
use super::text::CappedText;

impl Machine {
    /// Takes more of a string, up to its end or to an escape that is cut or wrong.
    #[inline(always)]
    pub(super) fn plain<S: Simd>(
        &mut self,
        simd: S,
        used: TextUse,
        bytes: &[u8],
        from: usize,
        runs: &mut RunFinder<S>,
    ) -> usize {
        let end = match self.destination(used) {
            Some(text) => keep_more(simd, bytes, from, text, runs),
            None => pass(simd, bytes, from, runs),
        };
        let Some(byte) = bytes.get(end) else {
            return end;
        };
        self.state = match byte {
            b'"' => self.end_text(used),
            b'\\' => State::Text(used, TextState::Escape),
            _ => State::Malformed,
        };
        end + 1
    }

    /// Takes the byte after a backslash.
    pub(super) fn escape(&mut self, used: TextUse, byte: u8, at: usize) -> usize {
        self.state = match unescaped(byte) {
            Some(byte) => {
                if let Some(text) = self.destination(used) {
                    text.push_byte(byte);
                }
                State::Text(used, TextState::Plain)
            }
            None if byte == b'u' => State::Text(used, TextState::Hex { left: 4, unit: 0 }),
            None => State::Malformed,
        };
        at + 1
    }

    /// Takes a digit of `\uXXXX`.
    pub(super) fn hex(&mut self, used: TextUse, left: u8, unit: u16, byte: u8, at: usize) -> usize {
        self.state = match digit(byte) {
            Some(digit) => {
                let unit = unit << 4 | digit;
                if left > 1 {
                    State::Text(used, TextState::Hex { left: left - 1, unit })
                } else {
                    if let Some(text) = self.destination(used) {
                        text.push_unit(unit);
                    }
                    State::Text(used, TextState::Plain)
                }
            }
            None => State::Malformed,
        };
        at + 1
    }

    /// Where the decoded string goes; `None` when it is not kept, or its cap is reached.
    fn destination(&mut self, used: TextUse) -> Option<&mut CappedText> {
        let text = match (used, self.slot) {
            (TextUse::Key, _) => &mut self.key,
            (TextUse::Value, Some(slot)) => self.values.text(slot),
            (TextUse::OtherKey, _) | (TextUse::Value, None) => return None,
        };
        (!text.is_cut()).then_some(text)
    }

    /// Ends a string; gives the state after its closing quote.
    fn end_text(&mut self, used: TextUse) -> State {
        if let Some(text) = self.destination(used) {
            text.end();
        }
        match used {
            TextUse::Key => {
                let (name, whole) = self.key.bytes();
                self.slot = match self.object() {
                    Some(object) if whole => self.values.slot_for(object, name),
                    _ => None,
                };
                State::Colon
            }
            TextUse::OtherKey => State::Colon,
            TextUse::Value => self.after_value(),
        }
    }
}
