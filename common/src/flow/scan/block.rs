//! Many bytes at a time: a question about each of them, the answers a bit each.
//!
//! The vectors are those of fearless_simd: no unsafe code here, the widest vectors that the processor has at run
//! time, and plain code where it has none. Every function that takes a `simd` token has to be inlined into the one
//! place that picked it.

use fearless_simd::prelude::*;
use fearless_simd::{u8x16, u8x64};

/// The look at the bytes of one part: what was seen of them so far, and where runs end among those of the last block.
#[derive(Clone, Copy)]
pub(super) struct Seen<S: Simd> {
    /// All bytes that were looked at, one upon the other.
    all: u8x64<S>,
    /// Where the block begins that was last asked for the ends of runs.
    base: usize,
    /// Those ends, the first byte lowest.
    ends: u64,
}

impl<S: Simd> Seen<S> {
    #[inline(always)]
    pub(super) fn new(simd: S) -> Seen<S> {
        // The block before the first one, where no run ends and none is looked for.
        Seen { all: u8x64::splat(simd, 0), base: 0_usize.wrapping_sub(MANY), ends: 0 }
    }

    /// Whether all of them were ASCII.
    #[inline(always)]
    pub(super) fn is_ascii(self) -> bool {
        self.all.simd_ge(0x80).to_bitmask() == 0
    }

    /// The first quote, backslash or control character of `bytes`, the part, at or after `at`; the end of `bytes` when
    /// there is none. A block is looked at once for all the runs that end in it.
    #[inline(always)]
    pub(super) fn run_end(&mut self, simd: S, bytes: &[u8], at: usize) -> usize {
        let offset = at.wrapping_sub(self.base);
        let mut from = at;
        if offset < MANY {
            let left = self.ends >> offset;
            if left != 0 {
                return at + left.trailing_zeros() as usize;
            }
            from = self.base + MANY;
        }
        while from < bytes.len() {
            self.ends = run_ends(simd, bytes, from, self);
            self.base = from;
            if self.ends != 0 {
                return from + self.ends.trailing_zeros() as usize;
            }
            from += MANY;
        }
        bytes.len()
    }
}

/// A bit for each byte that two blocks have in common.
#[inline(always)]
pub(super) fn equal<S: Simd>(simd: S, one: &[u8; 16], other: &[u8; 16]) -> u64 {
    u8x16::load_array_ref(simd, one).simd_eq(u8x16::load_array_ref(simd, other)).to_bitmask()
}

/// How many bytes are looked at together in a text with escapes: a bit of a `u64` each.
pub(super) const MANY: usize = 64;

/// A bit for each byte that ends a run among the next [`MANY`] bytes from `at` on, as far as there are any.
#[inline(always)]
pub(super) fn run_ends<S: Simd>(simd: S, bytes: &[u8], at: usize, seen: &mut Seen<S>) -> u64 {
    let rest = &bytes[at..];
    if let Some(block) = rest.first_chunk() {
        let block = Block::new(simd, block, seen);
        block.ends() | block.equal(b'\\')
    } else if let Some(block) = bytes.last_chunk() {
        let block = Block::new(simd, block, seen);
        (block.ends() | block.equal(b'\\')) >> (MANY - rest.len())
    } else {
        let mut block = [b' '; MANY];
        block[..rest.len()].copy_from_slice(rest);
        let block = Block::new(simd, &block, seen);
        block.ends() | block.equal(b'\\')
    }
}

/// [`MANY`] bytes.
#[derive(Clone, Copy)]
pub(super) struct Block<S: Simd>(u8x64<S>);

impl<S: Simd> Block<S> {
    #[inline(always)]
    pub(super) fn new(simd: S, bytes: &[u8; MANY], seen: &mut Seen<S>) -> Block<S> {
        let block = u8x64::load_array_ref(simd, bytes);
        seen.all |= block;
        Block(block)
    }

    /// Where `byte` stands.
    #[inline(always)]
    pub(super) fn equal(self, byte: u8) -> u64 {
        self.0.simd_eq(byte).to_bitmask()
    }

    /// Where a quote or a control character stands.
    #[inline(always)]
    pub(super) fn ends(self) -> u64 {
        (self.0 ^ 2).simd_le(0x20).to_bitmask()
    }

    /// Where a byte stands that may follow a backslash.
    #[inline(always)]
    pub(super) fn escapable(self) -> u64 {
        // b and f, t and u differ in one bit.
        let b_f = (self.0 & !4).simd_eq(b'b');
        let t_u = (self.0 & !1).simd_eq(b't');
        let n_r = self.0.simd_eq(b'n') | self.0.simd_eq(b'r');
        let signs = self.0.simd_eq(b'"') | self.0.simd_eq(b'\\') | self.0.simd_eq(b'/');
        (b_f | t_u | n_r | signs).to_bitmask()
    }

    /// Where a hexadecimal digit stands.
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
                                let mut seen = Seen::new(simd);
                                (seen.run_end(simd, &bytes, at), seen.is_ascii())
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
                let bytes = [byte; MANY];
                let all = |yes: bool| if yes { u64::MAX } else { 0 };
                let (ends, escapable, hex, equal, none, ascii) = dispatch!(level, simd => {
                    let mut seen = Seen::new(simd);
                    let block = Block::new(simd, &bytes, &mut seen);
                    let equal = (block.equal(byte), block.equal(!byte));
                    (block.ends(), block.escapable(), block.hex(), equal.0, equal.1, seen.is_ascii())
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
                    let ends = dispatch!(level, simd => run_ends(simd, &bytes, at, &mut Seen::new(simd)));
                    let bits = (at..length.min(at + MANY)).filter(|n| n % 3 == 0);
                    assert_eq!(ends, bits.fold(0, |bits, n| bits | 1 << (n - at)), "{length} from {at}");
                }
            }
        }
    }
}
