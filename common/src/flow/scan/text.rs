//! The decoded text of a string, kept up to a cap.

/// What is kept of a string, or of a number's digits.
#[derive(Debug)]
pub(super) struct Kept {
    text: String,
    cap: usize,
    /// False once something was left out; nothing is added from then on.
    whole: bool,
    /// A high surrogate that was escaped just before and may still find its low one.
    high: Option<u16>,
}

impl Kept {
    /// Room for `cap` bytes, taken only when they come.
    pub(super) fn new(cap: usize) -> Kept {
        Kept { text: String::new(), cap, whole: true, high: None }
    }

    /// Begins a new text.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.whole = true;
        self.high = None;
    }

    /// The text up to its cap, and whether it is all of it.
    pub(super) fn get(&self) -> (&str, bool) {
        (&self.text, self.whole)
    }

    /// Adds characters that stood in the string as they are. `run` is not empty.
    pub(super) fn push(&mut self, run: &str) {
        self.settle();
        self.add(run);
    }

    /// Adds what a two-byte escape stands for.
    pub(super) fn push_char(&mut self, char: char) {
        self.push(char.encode_utf8(&mut [0; 4]));
    }

    /// Adds what `\uXXXX` stands for: a character, or half of one.
    pub(super) fn push_unit(&mut self, unit: u16) {
        if let Some(high) = self.high
            && let Some(Ok(char)) = char::decode_utf16([high, unit]).next()
        {
            self.high = None;
            self.add(char.encode_utf8(&mut [0; 4]));
        } else if (0xd800..0xdc00).contains(&unit) {
            self.settle();
            self.high = Some(unit);
        } else {
            self.push_char(char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
    }

    /// Ends the text.
    pub(super) fn end(&mut self) {
        self.settle();
    }

    /// A high surrogate that stayed alone becomes U+FFFD. It is an ordinary text: Codex cuts output by bytes, and
    /// what escapes the rest can leave one half behind.
    fn settle(&mut self) {
        if self.high.take().is_some() {
            self.add("\u{fffd}");
        }
    }

    fn add(&mut self, run: &str) {
        if !self.whole {
            return;
        }
        let room = self.cap - self.text.len();
        if run.len() <= room {
            self.text.push_str(run);
        } else {
            self.text.push_str(&run[..run.floor_char_boundary(room)]);
            self.whole = false;
        }
    }
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
        kept.push("x");
        kept.push_unit(0xde00);
        kept.push_unit(0xd83d);
        kept.push_char('\n');
        kept.end();
        assert_eq!(kept.get(), ("\u{fffd}x\u{fffd}\u{fffd}\n", true));
    }

    #[test]
    fn is_cut_at_a_character_of_every_width() {
        let text = "a\u{e9}\u{4e2d}\u{1f469}\u{200d}\u{1f680}\u{2014}z";
        for cap in 0..=text.len() + 1 {
            let mut kept = Kept::new(cap);
            kept.push(text);
            let want: String =
                text.char_indices().filter(|(at, c)| at + c.len_utf8() <= cap).map(|(_, c)| c).collect();
            assert_eq!(kept.get(), (want.as_str(), cap >= text.len()), "cap {cap}");
        }
    }

    #[test]
    fn adds_nothing_after_a_gap() {
        let mut kept = Kept::new(3);
        kept.push("ab");
        kept.push("\u{20ac}");
        kept.push("c");
        kept.end();
        assert_eq!(kept.get(), ("ab", false));
        kept.clear();
        kept.push("abc");
        assert_eq!(kept.get(), ("abc", true));
    }
}
