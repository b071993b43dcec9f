//! The scanner's loop: the fast path as far as it goes, then the byte path for one step, and again.

use fearless_simd::{Simd, dispatch};
use memchr::memchr;

use super::block::RunFinder;
use super::grammar::{State, TextState};
use super::machine::Machine;

impl Machine {
    /// Takes more of the line. Returns false when some of it may not be ASCII, so that its UTF-8 has to be checked.
    /// Bytes beyond ASCII are accepted here in keys and strings, valid or not, and are malformed elsewhere.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        dispatch!(self.level, simd => {
            let mut runs = RunFinder::new(simd);
            let at = self.fast_path(simd, bytes, 0, &mut runs);
            self.push_from(simd, bytes, at, &mut runs)
        })
    }

    /// Takes the line up to the first LF of `bytes`, or to the end when there is none. Returns where that is, and the
    /// same flag as [`Machine::push`].
    ///
    /// The fast path stops at the LF of a usual line by itself, which saves the search for it.
    pub(super) fn push_line(&mut self, bytes: &[u8]) -> (usize, bool) {
        dispatch!(self.level, simd => {
            let mut runs = RunFinder::new(simd);
            let at = self.fast_path(simd, bytes, 0, &mut runs);
            let rest = &bytes[at..];
            if rest.first() == Some(&b'\n') {
                return (at, runs.is_ascii());
            }
            let end = memchr(b'\n', rest).map_or(bytes.len(), |length| at + length);
            (end, self.push_from(simd, &bytes[..end], at, &mut runs))
        })
    }

    /// Takes `bytes[at..]`, where the fast path has stopped.
    #[inline(always)]
    fn push_from<S: Simd>(&mut self, simd: S, bytes: &[u8], mut at: usize, runs: &mut RunFinder<S>) -> bool {
        loop {
            let Some(&byte) = bytes.get(at) else { return runs.is_ascii() };
            at = match self.state {
                State::Text(used, TextState::Plain) => self.plain(simd, used, bytes, at, runs),
                State::Text(used, TextState::Escape) => self.escape(used, byte, at),
                State::Text(used, TextState::Hex { left, unit }) => self.hex(used, left, unit, byte, at),
                State::Number(number) => self.number(number, bytes, at),
                State::Literal(kind, read) => self.literal(kind, read, byte, at),
                State::Malformed => return true,
                _ => self.between(byte, at),
            };
            at = self.fast_path(simd, bytes, at, runs);
        }
    }
}
