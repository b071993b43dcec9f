//! Strings with escapes, as far as they lie in one chunk.

use fearless_simd::Simd;

use super::block::{BLOCK, Block, RunFinder, run_ends};
use super::text::CappedText;

/// Skips a string that is not kept. Returns the position of its closing quote, or of what only the byte path can judge:
/// an escape that is cut or wrong, a control character, the end of `bytes`.
#[inline(always)]
pub(super) fn pass<S: Simd>(simd: S, bytes: &[u8], from: usize, runs: &mut RunFinder<S>) -> usize {
    let end = runs.run_end(simd, bytes, from);
    if bytes.get(end) == Some(&b'\\') && cfg!(scan_without = "escape_blocks") {
        return walk(simd, bytes, end, &mut Discard, runs);
    }
    if bytes.get(end) == Some(&b'\\') { pass_escapes(simd, bytes, end, runs) } else { end }
}

/// Like [`pass`], for a string that is kept: its decoded bytes replace the content of `kept`.
#[inline(always)]
pub(super) fn keep<S: Simd>(
    simd: S,
    bytes: &[u8],
    from: usize,
    kept: &mut CappedText,
    runs: &mut RunFinder<S>,
) -> usize {
    let end = runs.run_end(simd, bytes, from);
    kept.set(&bytes[from..end]);
    if bytes.get(end) == Some(&b'\\') { keep_more(simd, bytes, end, kept, runs) } else { end }
}

/// Like [`keep`], for the rest of a string: its decoded bytes are added to `kept`.
#[inline(always)]
pub(super) fn keep_more<S: Simd>(
    simd: S,
    bytes: &[u8],
    from: usize,
    kept: &mut CappedText,
    runs: &mut RunFinder<S>,
) -> usize {
    let end = walk(simd, bytes, from, &mut Keep { kept, bytes }, runs);
    if bytes.get(end) == Some(&b'"') {
        kept.end();
    }
    end
}

/// Skips a string from its first escape on. The escapes of a block are checked together, so that their number does not
/// matter: bulky lines are read four times as fast as escape by escape (`benches/flow`).
#[inline(always)]
fn pass_escapes<S: Simd>(simd: S, bytes: &[u8], mut at: usize, runs: &mut RunFinder<S>) -> usize {
    let mut open = Open::default();
    while let Some(block) = bytes[at..].first_chunk() {
        let block = Block::new(simd, block, runs);
        let mut next = open;
        let escaped = next.escaped(block.equal(b'\\'));
        let digits = next.digits(escaped & block.equal(b'u'));
        let wrong = escaped & !block.escapable() | digits & !block.hex();
        let ends = block.ends() & !escaped & !digits;
        let stops = wrong | ends;
        if stops != 0 {
            let first = stops.trailing_zeros();
            if ends >> first & 1 == 1 {
                return at + first as usize;
            }
            break;
        }
        open = next;
        at += BLOCK;
    }
    walk(simd, bytes, at - open.length(), &mut Discard, runs)
}

/// An escape that goes on in the next block.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    /// 1 when the next byte is escaped.
    escaped: u64,
    /// A bit for each of the next bytes that must be a digit of `\uXXXX`.
    digits: u64,
}

impl Open {
    /// The bytes of the next block that are escaped, given its backslashes.
    ///
    /// The subtraction carries through each run of backslashes; comparing the parity of its start and its end gives
    /// the parity of its length (the method of simdjson).
    #[inline(always)]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
        let starts = backslashes & !self.escaped;
        let codes = (starts << 1 | ODD).wrapping_sub(starts) ^ ODD;
        let escaped = codes ^ (backslashes | self.escaped);
        self.escaped = (codes & backslashes) >> 63;
        escaped
    }

    /// The bytes of the next block that must be digits, given its escaped `u`s.
    #[inline(always)]
    fn digits(&mut self, u: u64) -> u64 {
        let digits = self.digits | u << 1 | u << 2 | u << 3 | u << 4;
        self.digits = u >> 63 | u >> 62 | u >> 61 | u >> 60;
        digits
    }

    /// The number of bytes of the escape that have been read.
    fn length(self) -> usize {
        match 64 - self.digits.leading_zeros() {
            0 => self.escaped as usize,
            left => 6 - left as usize,
        }
    }
}

/// What takes the decoded parts of a string.
trait Sink {
    fn run(&mut self, from: usize, to: usize);
    fn byte(&mut self, byte: u8);
    fn unit(&mut self, unit: u16);
}

/// Drops them.
struct Discard;

impl Sink for Discard {
    fn run(&mut self, _: usize, _: usize) {}
    fn byte(&mut self, _: u8) {}
    fn unit(&mut self, _: u16) {}
}

/// Adds them to a text.
struct Keep<'a> {
    kept: &'a mut CappedText,
    bytes: &'a [u8],
}

impl Sink for Keep<'_> {
    #[inline(always)]
    fn run(&mut self, from: usize, to: usize) {
        self.kept.push_run(self.bytes, from, to);
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        self.kept.push_byte(byte);
    }

    fn unit(&mut self, unit: u16) {
        self.kept.push_unit(unit);
    }
}

/// Decodes a string escape by escape. It classifies a block at once, because a search for each next escape would cost a
/// branch misprediction an escape.
#[inline(always)]
fn walk<S: Simd>(simd: S, bytes: &[u8], from: usize, sink: &mut impl Sink, runs: &mut RunFinder<S>) -> usize {
    let (mut run, mut base) = (from, from);
    while base < bytes.len() {
        let mut ends = run_ends(simd, bytes, base, runs);
        while ends != 0 {
            let length = ends.trailing_zeros() as usize;
            let end = base + length;
            sink.run(run, end);
            run = match bytes[end..] {
                [b'\\', byte, ..] if let Some(byte) = unescaped(byte) => {
                    sink.byte(byte);
                    end + 2
                }
                [b'\\', b'u', a, b, c, d, ..] if let Some(unit) = unit([a, b, c, d]) => {
                    sink.unit(unit);
                    end + 6
                }
                _ => return end,
            };
            ends &= u64::MAX.checked_shl((run - base) as u32).unwrap_or(0);
        }
        base = run.max(base + BLOCK);
    }
    sink.run(run, bytes.len());
    bytes.len()
}

/// The value of four hexadecimal digits.
fn unit(digits: [u8; 4]) -> Option<u16> {
    digits.iter().try_fold(0, |unit, byte| Some(unit << 4 | digit(*byte)?))
}

/// The value of a hexadecimal digit.
pub(super) fn digit(byte: u8) -> Option<u16> {
    char::from(byte).to_digit(16).map(|digit| digit as u16)
}

/// The character that a backslash and this byte stand for.
#[inline(always)]
pub(super) fn unescaped(byte: u8) -> Option<u8> {
    match UNESCAPED[usize::from(byte)] {
        0 => None,
        byte => Some(byte),
    }
}

/// By the byte after the backslash; 0 where there is no such escape. A table, because the jumps of a `match` would be
/// mispredicted.
static UNESCAPED: [u8; 256] = {
    let mut table = [0; 256];
    let pairs = *b"\"\"\\\\//b\x08f\x0cn\nr\rt\t";
    let mut at = 0;
    while at < pairs.len() {
        table[pairs[at] as usize] = pairs[at + 1];
        at += 2;
    }
    table
};
