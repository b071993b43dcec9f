//! A text with a maximum length.

/// The decoded text of a string, or the digits of a number, up to a cap.
///
/// It holds bytes, not a `String`: a character may arrive in parts, and the line may turn out not to be UTF-8.
#[derive(Debug)]
pub(super) struct CappedText {
    bytes: Vec<u8>,
    cap: usize,
    end: End,
}

/// What may be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Anything.
    Open,
    /// Anything; the last escape was this high surrogate, and its low one may follow.
    High(u16),
    /// Nothing: the text is cut at its cap.
    Cut,
}

impl CappedText {
    /// An empty text that keeps up to `cap` bytes. It allocates as they come.
    pub(super) fn new(cap: usize) -> CappedText {
        CappedText { bytes: Vec::new(), cap, end: End::Open }
    }

    /// Begins a new text.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.end = End::Open;
    }

    /// Makes `run` the whole text.
    #[inline(always)]
    pub(super) fn set(&mut self, run: &[u8]) {
        self.clear();
        self.push(run);
    }

    /// The text, and whether it is whole. The line must have been UTF-8.
    #[inline]
    pub(super) fn get(&self) -> (&str, bool) {
        // Safe code has to check the UTF-8 once more to make a `str`. Keeping a `String` would mean to check every line
        // before it is scanned, which costs more than this check of the few values that are read.
        let text = simdutf8::basic::from_utf8(&self.bytes).expect("what is kept of a checked line is UTF-8");
        (text, self.end != End::Cut)
    }

    /// The bytes of the text, and whether it is whole.
    pub(super) fn bytes(&self) -> (&[u8], bool) {
        (&self.bytes, self.end != End::Cut)
    }

    /// Whether the text was cut at its cap, so that nothing more is added.
    pub(super) fn is_cut(&self) -> bool {
        self.end == End::Cut
    }

    /// Adds bytes that stand for themselves.
    #[inline(always)]
    pub(super) fn push(&mut self, run: &[u8]) {
        if self.end == End::Open && run.len() <= self.cap - self.bytes.len() {
            self.bytes.extend_from_slice(run);
        } else {
            self.push_slowly(run);
        }
    }

    /// Adds `bytes[from..to]`. A short run is copied as a block of fixed size and then truncated, because the lengths of
    /// runs between escapes are unpredictable and a copy of variable length is a call.
    #[inline(always)]
    pub(super) fn push_run(&mut self, bytes: &[u8], from: usize, to: usize) {
        const BLOCK: usize = 64;
        let before = self.bytes.len();
        if to - from <= BLOCK
            && self.cap - before >= BLOCK
            && self.end == End::Open
            && let Some(block) = bytes[from..].first_chunk::<BLOCK>()
        {
            self.bytes.extend_from_slice(block);
            self.bytes.truncate(before + (to - from));
        } else {
            self.push(&bytes[from..to]);
        }
    }

    /// Adds the ASCII character of a two-byte escape.
    #[inline(always)]
    pub(super) fn push_byte(&mut self, byte: u8) {
        if self.end == End::Open && self.bytes.len() < self.cap {
            self.bytes.push(byte);
        } else {
            self.push_slowly(&[byte]);
        }
    }

    /// Adds the UTF-16 code unit of `\uXXXX`: a character, or a surrogate.
    pub(super) fn push_unit(&mut self, unit: u16) {
        if let End::High(high) = self.end
            && let Some(Ok(char)) = char::decode_utf16([high, unit]).next()
        {
            self.end = End::Open;
            self.push_char(char);
        } else if (0xd800..0xdc00).contains(&unit) {
            self.end();
            if self.end == End::Open {
                self.end = End::High(unit);
            }
        } else {
            self.push_char(char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
    }

    fn push_char(&mut self, char: char) {
        self.push(char.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// Ends the text. An unpaired high surrogate becomes U+FFFD: Codex cuts outputs without regard for pairs, so such
    /// a text is an ordinary one.
    #[inline]
    pub(super) fn end(&mut self) {
        if let End::High(_) = self.end {
            self.end = End::Open;
            self.push_char(char::REPLACEMENT_CHARACTER);
        }
    }

    #[cold]
    fn push_slowly(&mut self, run: &[u8]) {
        if run.is_empty() {
            return;
        }
        self.end();
        if self.end == End::Cut {
            return;
        }
        let room = self.cap - self.bytes.len();
        let Some(beyond) = run.get(room) else {
            self.bytes.extend_from_slice(run);
            return;
        };
        self.bytes.extend_from_slice(&run[..room]);
        self.end = End::Cut;
        // A character that the cap cuts is dropped.
        if is_continuation(*beyond) {
            while self.bytes.pop().is_some_and(is_continuation) {}
        }
    }
}

/// Whether the byte continues a character of UTF-8.
fn is_continuation(byte: u8) -> bool {
    (0x80..0xc0).contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(units: &[u16]) -> String {
        let mut kept = CappedText::new(100);
        units.iter().for_each(|unit| kept.push_unit(*unit));
        kept.end();
        kept.get().0.to_owned()
    }

    #[test]
    fn surrogates_pair_or_are_replaced() {
        assert_eq!(units(&[0x41, 0xe9, 0x20ac]), "A\u{e9}\u{20ac}");
        assert_eq!(units(&[0xd83d, 0xde00]), "\u{1f600}");
        assert_eq!(units(&[0xd83d]), "\u{fffd}");
        assert_eq!(units(&[0xde00]), "\u{fffd}");
        assert_eq!(units(&[0xde00, 0xd83d]), "\u{fffd}\u{fffd}");
        assert_eq!(units(&[0xd83d, 0xd83d, 0xde00]), "\u{fffd}\u{1f600}");
        assert_eq!(units(&[0xd83d, 0x41, 0xde00]), "\u{fffd}A\u{fffd}");
    }

    #[test]
    fn a_text_between_separates_surrogates() {
        let mut kept = CappedText::new(100);
        kept.push_unit(0xd83d);
        kept.push(b"x");
        kept.push_unit(0xde00);
        kept.push_unit(0xd83d);
        kept.push_byte(b'\n');
        kept.end();
        assert_eq!(kept.get(), ("\u{fffd}x\u{fffd}\u{fffd}\n", true));
    }

    #[test]
    fn is_cut_at_a_character_of_every_width() {
        let text = "a\u{e9}\u{4e2d}\u{1f469}\u{200d}\u{1f680}\u{2014}z";
        for cap in 0..=text.len() + 1 {
            let mut kept = CappedText::new(cap);
            kept.push(text.as_bytes());
            let want: String =
                text.char_indices().filter(|(at, c)| at + c.len_utf8() <= cap).map(|(_, c)| c).collect();
            assert_eq!(kept.get(), (want.as_str(), cap >= text.len()), "cap {cap}");
            kept.clear();
            text.as_bytes().iter().for_each(|byte| kept.push(&[*byte]));
            assert_eq!(kept.get(), (want.as_str(), cap >= text.len()), "cap {cap}, byte by byte");
        }
    }

    #[test]
    fn adds_nothing_after_a_gap() {
        let mut kept = CappedText::new(3);
        kept.push(b"ab");
        kept.push("\u{20ac}".as_bytes());
        kept.push(b"c");
        kept.end();
        assert_eq!(kept.get(), ("ab", false));
        kept.clear();
        kept.push(b"abc");
        assert_eq!(kept.get(), ("abc", true));
    }
}
