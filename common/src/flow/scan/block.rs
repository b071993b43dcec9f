//! Classifies bytes in blocks of 64: one bit of a `u64` for each byte.
//!
//! `fearless_simd` gives safe access to the widest vectors that the processor has at run time, and plain code where it
//! has none. Every function that takes a `simd` token has to be inlined into the function that chose the token.

use fearless_simd::prelude::*;
use fearless_simd::{u8x16, u8x64};

/// Finds where runs of plain characters end in one chunk, and remembers whether all bytes were ASCII.
#[derive(Clone, Copy)]
pub(super) struct RunFinder<S: Simd> {
    /// The bitwise OR of all blocks.
    all: u8x64<S>,
    /// The offset of the last block.
    base: usize,
    /// A bit for each end of a run in the last block, the first byte lowest.
    ends: u64,
}

impl<S: Simd> RunFinder<S> {
    #[inline(always)]
    pub(super) fn new(simd: S) -> RunFinder<S> {
        // An imaginary block before the first one.
        RunFinder { all: u8x64::splat(simd, 0), base: 0_usize.wrapping_sub(BLOCK), ends: 0 }
    }

    /// Whether all bytes so far were ASCII.
    #[inline(always)]
    pub(super) fn is_ascii(self) -> bool {
        self.all.simd_ge(0x80).to_bitmask() == 0
    }

    /// The first quote, backslash or control character of the chunk `bytes` at or after `at`; the end of `bytes` when
    /// there is none. A block is classified once for all the runs that end in it.
    #[inline(always)]
    pub(super) fn run_end(&mut self, simd: S, bytes: &[u8], at: usize) -> usize {
        let offset = at.wrapping_sub(self.base);
        let mut from = at;
        if offset < BLOCK {
            let left = self.ends >> offset;
            if left != 0 {
                return at + left.trailing_zeros() as usize;
            }
            from = self.base + BLOCK;
        }
        while from < bytes.len() {
            self.ends = run_ends(simd, bytes, from, self);
            self.base = from;
            if self.ends != 0 {
                return from + self.ends.trailing_zeros() as usize;
            }
            from += BLOCK;
        }
        bytes.len()
    }
}

/// A bit for each position at which two blocks have the same byte.
#[inline(always)]
pub(super) fn equal<S: Simd>(simd: S, one: &[u8; 16], other: &[u8; 16]) -> u64 {
    u8x16::load_array_ref(simd, one).simd_eq(u8x16::load_array_ref(simd, other)).to_bitmask()
}

/// The number of bytes in a block: a bit of a `u64` each.
pub(super) const BLOCK: usize = 64;

/// A bit for each end of a run in `bytes[at..]`, in its first [`BLOCK`] bytes.
#[inline(always)]
pub(super) fn run_ends<S: Simd>(simd: S, bytes: &[u8], at: usize, runs: &mut RunFinder<S>) -> u64 {
    let rest = &bytes[at..];
    if let Some(block) = rest.first_chunk() {
        let block = Block::new(simd, block, runs);
        block.ends() | block.equal(b'\\')
    } else if let Some(block) = bytes.last_chunk() {
        let block = Block::new(simd, block, runs);
        (block.ends() | block.equal(b'\\')) >> (BLOCK - rest.len())
    } else {
        let mut block = [b' '; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        let block = Block::new(simd, &block, runs);
        block.ends() | block.equal(b'\\')
    }
}

/// [`BLOCK`] bytes.
#[derive(Clone, Copy)]
pub(super) struct Block<S: Simd>(u8x64<S>);

impl<S: Simd> Block<S> {
    #[inline(always)]
    pub(super) fn new(simd: S, bytes: &[u8; BLOCK], runs: &mut RunFinder<S>) -> Block<S> {
        let block = u8x64::load_array_ref(simd, bytes);
        runs.all |= block;
        Block(block)
    }

    /// The positions of `byte`.
    #[inline(always)]
    pub(super) fn equal(self, byte: u8) -> u64 {
        self.0.simd_eq(byte).to_bitmask()
    }

    /// The positions of quotes and control characters.
    #[inline(always)]
    pub(super) fn ends(self) -> u64 {
        (self.0 ^ 2).simd_le(0x20).to_bitmask()
    }

    /// The positions of bytes that may follow a backslash.
    #[inline(always)]
    pub(super) fn escapable(self) -> u64 {
        // b and f differ in one bit, and so do t and u.
        let b_f = (self.0 & !4).simd_eq(b'b');
        let t_u = (self.0 & !1).simd_eq(b't');
        let n_r = self.0.simd_eq(b'n') | self.0.simd_eq(b'r');
        let signs = self.0.simd_eq(b'"') | self.0.simd_eq(b'\\') | self.0.simd_eq(b'/');
        (b_f | t_u | n_r | signs).to_bitmask()
    }

    /// The positions of hexadecimal digits.
    #[inline(always)]
    pub(super) fn hex(self) -> u64 {
        let lower = self.0 | 0x20;
        let digits = self.0.simd_ge(b'0') & self.0.simd_le(b'9');
        let letters = lower.simd_ge(b'a') & lower.simd_le(b'f');
        (digits | letters).to_bitmask()
    }
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;

    #[test]
    fn finds_each_end_at_each_place() {
        for level in [Level::new(), Level::baseline()] {
            for byte in 0..=u8::MAX {
                for length in [1, 2, 31, 32, 33, 64, 65, 100] {
                    for place in 0..length {
                        let mut bytes = vec![b'x'; length];
                        bytes[place] = byte;
                        for at in [0, 1, place, length] {
                            let (end, ascii) = dispatch!(level, simd => {
                                let mut runs = RunFinder::new(simd);
                                (runs.run_end(simd, &bytes, at), runs.is_ascii())
                            });
                            assert!(!ascii || byte < 0x80 || place < at, "{byte:#x} at {place} from {at}");
                            let is_end = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
                            let wanted = bytes[at..].iter().position(is_end);
                            let wanted = wanted.map_or(length, |n| at + n);
                            assert_eq!(end, wanted, "{byte:#x} at {place} of {length} from {at}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn knows_every_byte() {
        for level in [Level::new(), Level::baseline()] {
            for byte in 0..=u8::MAX {
                let bytes = [byte; BLOCK];
                let all = |yes: bool| if yes { u64::MAX } else { 0 };
                let (ends, escapable, hex, equal, none, ascii) = dispatch!(level, simd => {
                    let mut runs = RunFinder::new(simd);
                    let block = Block::new(simd, &bytes, &mut runs);
                    let equal = (block.equal(byte), block.equal(!byte));
                    (block.ends(), block.escapable(), block.hex(), equal.0, equal.1, runs.is_ascii())
                });
                assert_eq!(ascii, byte.is_ascii());
                assert_eq!(ends, all(byte == b'"' || byte < 0x20), "{byte:#x}");
                assert_eq!(escapable, all(b"\"\\/bfnrtu".contains(&byte)), "{byte:#x}");
                assert_eq!(hex, all(byte.is_ascii_hexdigit()), "{byte:#x}");
                assert_eq!((equal, none), (u64::MAX, 0));
            }
        }
    }

    #[test]
    fn the_ends_of_many_bytes_stop_where_the_bytes_stop() {
        for level in [Level::new(), Level::baseline()] {
            for length in [1, 63, 64, 65, 100, 128] {
                let bytes: Vec<u8> = (0..length).map(|n| if n % 3 == 0 { b'\\' } else { b'x' }).collect();
                for at in 0..length {
                    let ends =
                        dispatch!(level, simd => run_ends(simd, &bytes, at, &mut RunFinder::new(simd)));
                    let bits = (at..length.min(at + BLOCK)).filter(|n| n % 3 == 0);
                    assert_eq!(ends, bits.fold(0, |bits, n| bits | 1 << (n - at)), "{length} from {at}");
                }
            }
        }
    }
}
