//! The decoded text of a string, kept up to a cap.

/// What is kept of a string, or of a number's digits.
///
/// They are bytes until somebody asks: the line they come from may turn out not to be UTF-8, and characters may
/// arrive in pieces.
#[derive(Debug)]
pub(super) struct Kept {
    bytes: Vec<u8>,
    cap: usize,
    end: End,
}

/// How the text goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// With whatever comes.
    Open,
    /// After a high surrogate that was escaped and may still find its low one.
    High(u16),
    /// Not at all: something was left out.
    Cut,
}

impl Kept {
    /// Room for `cap` bytes, taken only when they come.
    pub(super) fn new(cap: usize) -> Kept {
        Kept { bytes: Vec::new(), cap, end: End::Open }
    }

    /// Begins a new text.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.end = End::Open;
    }

    /// Begins and ends a text that is `run`.
    #[inline(always)]
    pub(super) fn set(&mut self, run: &[u8]) {
        self.clear();
        self.push(run);
    }

    /// The text up to its cap, and whether it is all of it. The line was UTF-8.
    #[inline]
    pub(super) fn get(&self) -> (&str, bool) {
        // Checked once more because that is what a `str` costs without unsafe code. To keep a `String` instead would
        // be to check every line before it is scanned, and cost more than this does for the few values that are read.
        let text = simdutf8::basic::from_utf8(&self.bytes).expect("what is kept of a checked line is UTF-8");
        (text, self.end != End::Cut)
    }

    /// The same in bytes.
    pub(super) fn bytes(&self) -> (&[u8], bool) {
        (&self.bytes, self.end != End::Cut)
    }

    /// Whether something was left out, so that nothing more is added.
    pub(super) fn is_cut(&self) -> bool {
        self.end == End::Cut
    }

    /// Adds what stood in the string as it is.
    #[inline(always)]
    pub(super) fn push(&mut self, run: &[u8]) {
        if self.end == End::Open && run.len() <= self.cap - self.bytes.len() {
            self.bytes.extend_from_slice(run);
        } else {
            self.push_slowly(run);
        }
    }

    /// Adds `bytes[from..to]`. A short run is copied together with what follows it, which spares a call and a guess at
    /// its length: between escapes lengths are not to be foreseen.
    #[inline(always)]
    pub(super) fn push_run(&mut self, bytes: &[u8], from: usize, to: usize) {
        const MUCH: usize = 64;
        let before = self.bytes.len();
        if to - from <= MUCH
            && self.cap - before >= MUCH
            && self.end == End::Open
            && let Some(much) = bytes[from..].first_chunk::<MUCH>()
        {
            self.bytes.extend_from_slice(much);
            self.bytes.truncate(before + (to - from));
        } else {
            self.push(&bytes[from..to]);
        }
    }

    /// Adds what a two-byte escape stands for, which is ASCII.
    #[inline(always)]
    pub(super) fn push_byte(&mut self, byte: u8) {
        if self.end == End::Open && self.bytes.len() < self.cap {
            self.bytes.push(byte);
        } else {
            self.push_slowly(&[byte]);
        }
    }

    /// Adds what `\uXXXX` stands for: a character, or half of one.
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

    /// Ends the text. A high surrogate that stayed alone becomes U+FFFD. It is an ordinary text: Codex cuts output
    /// by bytes, and what escapes the rest can leave one half behind.
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
        // Where the cap falls within a character, its first bytes go again.
        if is_continuation(*beyond) {
            while self.bytes.pop().is_some_and(is_continuation) {}
        }
    }
}

/// Whether the byte is one of a character after its first.
fn is_continuation(byte: u8) -> bool {
    (0x80..0xc0).contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(units: &[u16]) -> String {
        let mut kept = Kept::new(100);
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
        let mut kept = Kept::new(100);
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
            let mut kept = Kept::new(cap);
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
        let mut kept = Kept::new(3);
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
