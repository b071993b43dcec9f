//! Checks UTF-8 in chunks of any size.

/// The state of the check between two chunks: the first bytes of a character that is not complete.
#[derive(Debug, Default)]
pub(super) struct Utf8Checker {
    bytes: [u8; 4],
    /// The number of `bytes` in use, less than the length of the character that they begin.
    len: usize,
}

impl Utf8Checker {
    /// Begins a new line.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Whether the last character is not complete.
    pub(super) fn is_open(&self) -> bool {
        self.len > 0
    }

    /// Takes `part`. Returns false when the text is not UTF-8. ASCII parts may be left out while no character is open.
    pub(super) fn push(&mut self, mut part: &[u8]) -> bool {
        while self.is_open() {
            let Some((&byte, rest)) = part.split_first() else { return true };
            part = rest;
            if !self.complete(byte) {
                return false;
            }
        }
        let (whole, begun) = part.split_at(part.len() - begun(part));
        // The `basic` API does not say where a fault is, and is the faster one.
        simdutf8::basic::from_utf8(whole).is_ok() && begun.iter().all(|byte| self.complete(*byte))
    }

    /// Adds a byte to the open character, or begins one. Returns false when that is not UTF-8.
    fn complete(&mut self, byte: u8) -> bool {
        self.bytes[self.len] = byte;
        self.len += 1;
        match std::str::from_utf8(&self.bytes[..self.len]) {
            Ok(_) => {
                self.len = 0;
                true
            }
            Err(error) => error.error_len().is_none(),
        }
    }
}

/// The number of bytes at the end of `part` that may begin a character which the next part completes.
fn begun(part: &[u8]) -> usize {
    for (before, byte) in part.iter().rev().take(3).enumerate() {
        match byte {
            0x80..0xc0 => continue,
            0xc0.. => {
                let length = byte.leading_ones() as usize;
                return if before + 1 < length { before + 1 } else { 0 };
            }
            0..0x80 => return 0,
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `bytes` in parts of `size` bytes are taken for UTF-8.
    fn is_utf8(bytes: &[u8], size: usize) -> bool {
        let mut cut = Utf8Checker::default();
        bytes.chunks(size).all(|part| cut.push(part)) && !cut.is_open()
    }

    #[test]
    fn characters_survive_every_cut() {
        let text = "a\u{7f}\u{80}\u{7ff}\u{800}\u{d7ff}\u{e000}\u{feff}\u{ffff}\u{10000}\u{10ffff}z";
        for size in 1..=text.len() {
            assert!(is_utf8(text.as_bytes(), size), "parts of {size}");
        }
    }

    #[test]
    fn what_is_not_utf8_is_refused_under_every_cut() {
        let wrong: [&[u8]; 14] = [
            b"a\x80",             // a continuation alone
            b"\xc0\x80",          // overlong, two bytes
            b"\xc1\xbf",          // overlong, two bytes
            b"\xe0\x80\x80",      // overlong, three bytes
            b"\xe0\x9f\xbf",      // overlong, three bytes
            b"\xf0\x80\x80\x80",  // overlong, four bytes
            b"\xf0\x8f\xbf\xbf",  // overlong, four bytes
            b"\xed\xa0\x80",      // the first surrogate
            b"\xed\xbf\xbf",      // the last surrogate
            b"\xf4\x90\x80\x80",  // U+110000
            b"\xf5\x80\x80\x80",  // no such first byte
            b"\xff",              // no such first byte
            b"\xe6\x87a",         // broken off by ASCII
            b"\xe6\xe6\x87\x87a", // broken off by another character
        ];
        for bytes in wrong {
            for size in 1..=bytes.len() {
                assert!(!is_utf8(bytes, size), "{bytes:x?} in parts of {size}");
            }
        }
    }

    #[test]
    fn a_character_left_open_is_known() {
        for bytes in [&b"\xe6\x87"[..], b"\xf0", b"\xc3"] {
            let mut cut = Utf8Checker::default();
            assert!(cut.push(bytes));
            assert!(cut.is_open());
            cut.clear();
            assert!(!cut.is_open());
        }
    }
}
