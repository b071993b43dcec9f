//! Texts with escapes that lie in one part as far as it goes.

use fearless_simd::Simd;

use super::block::{Block, MANY, Seen, run_ends};
use super::text::Kept;

/// Passes over a text with its escapes: up to its closing quote, or to what only the way of single bytes can judge:
/// an escape that is cut or wrong, a control character, the end of `bytes`.
#[inline(always)]
pub(super) fn pass<S: Simd>(simd: S, bytes: &[u8], from: usize, seen: &mut Seen<S>) -> usize {
    let end = seen.run_end(simd, bytes, from);
    if bytes.get(end) == Some(&b'\\') { pass_escapes(simd, bytes, end, seen) } else { end }
}

/// The same for a text that is kept: what it passes over is added to `kept`, which begins anew.
#[inline(always)]
pub(super) fn keep<S: Simd>(
    simd: S,
    bytes: &[u8],
    from: usize,
    kept: &mut Kept,
    seen: &mut Seen<S>,
) -> usize {
    let end = seen.run_end(simd, bytes, from);
    kept.set(&bytes[from..end]);
    if bytes.get(end) == Some(&b'\\') { keep_more(simd, bytes, end, kept, seen) } else { end }
}

/// The same for the rest of a text.
#[inline(always)]
pub(super) fn keep_more<S: Simd>(
    simd: S,
    bytes: &[u8],
    from: usize,
    kept: &mut Kept,
    seen: &mut Seen<S>,
) -> usize {
    let end = walk(simd, bytes, from, &mut Keep { kept, bytes }, seen);
    if bytes.get(end) == Some(&b'"') {
        kept.end();
    }
    end
}

/// Passes over a text from an escape on. Whether the escapes are right is asked of all bytes together, so that it
/// costs the same however many there are.
#[inline(always)]
fn pass_escapes<S: Simd>(simd: S, bytes: &[u8], mut at: usize, seen: &mut Seen<S>) -> usize {
    let mut open = Open::default();
    while let Some(block) = bytes[at..].first_chunk() {
        let block = Block::new(simd, block, seen);
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
        at += MANY;
    }
    walk(simd, bytes, at - open.length(), &mut Nothing, seen)
}

/// The escape that goes on in the next block.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    /// 1 when the next byte is escaped.
    escaped: u64,
    /// A bit for each of the next bytes that has to be a digit of `\uXXXX`.
    digits: u64,
}

impl Open {
    /// Which bytes of the next block are escaped, given its backslashes.
    ///
    /// Subtracting finds where each run of backslashes ends, and whether it began and ended at places both even or
    /// both odd, that is, whether its length is odd (simdjson does the same).
    #[inline(always)]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
        let starts = backslashes & !self.escaped;
        let codes = (starts << 1 | ODD).wrapping_sub(starts) ^ ODD;
        let escaped = codes ^ (backslashes | self.escaped);
        self.escaped = (codes & backslashes) >> 63;
        escaped
    }

    /// Which bytes of the next block have to be digits, given its escaped `u`s.
    #[inline(always)]
    fn digits(&mut self, u: u64) -> u64 {
        let digits = self.digits | u << 1 | u << 2 | u << 3 | u << 4;
        self.digits = u >> 63 | u >> 62 | u >> 61 | u >> 60;
        digits
    }

    /// How many bytes of the escape there are already.
    fn length(self) -> usize {
        match 64 - self.digits.leading_zeros() {
            0 => self.escaped as usize,
            left => 6 - left as usize,
        }
    }
}

/// What is done with the parts of a text.
trait Sink {
    fn run(&mut self, from: usize, to: usize);
    fn byte(&mut self, byte: u8);
    fn unit(&mut self, unit: u16);
}

struct Nothing;

impl Sink for Nothing {
    fn run(&mut self, _: usize, _: usize) {}
    fn byte(&mut self, _: u8) {}
    fn unit(&mut self, _: u16) {}
}

struct Keep<'a> {
    kept: &'a mut Kept,
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

/// Walks from escape to escape. It asks for many bytes at once where the next ones are, because to look for each by
/// itself is to guess wrong, once an escape, how far away it is.
#[inline(always)]
fn walk<S: Simd>(simd: S, bytes: &[u8], from: usize, sink: &mut impl Sink, seen: &mut Seen<S>) -> usize {
    let (mut run, mut base) = (from, from);
    while base < bytes.len() {
        let mut ends = run_ends(simd, bytes, base, seen);
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
        base = run.max(base + MANY);
    }
    sink.run(run, bytes.len());
    bytes.len()
}

/// The number that four hexadecimal digits write.
fn unit(digits: [u8; 4]) -> Option<u16> {
    digits.iter().try_fold(0, |unit, byte| Some(unit << 4 | digit(*byte)?))
}

/// The value of a hexadecimal digit.
pub(super) fn digit(byte: u8) -> Option<u16> {
    char::from(byte).to_digit(16).map(|digit| digit as u16)
}

/// What a backslash and this byte stand for.
#[inline(always)]
pub(super) fn unescaped(byte: u8) -> Option<u8> {
    match UNESCAPED[usize::from(byte)] {
        0 => None,
        byte => Some(byte),
    }
}

/// By the byte after the backslash. A table, because the jumps of a `match` are not to be foreseen.
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
