//! Bytes in parts of any size in, whole characters out.
//!
//! Everything to the right of this file works on `str`: no state of the grammar has to know that a character can
//! be cut, and what is kept of a text is copied without a second look.

/// What a part gives: the character that it completes, then the characters that lie wholly in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chars<'a> {
    /// The character that began in an earlier part.
    pub(super) first: Option<char>,
    /// The rest, up to a character that is still cut at the end of the part.
    pub(super) rest: &'a str,
}

/// The beginning of a character whose other bytes have not arrived.
#[derive(Debug, Default)]
pub(super) struct Cut {
    bytes: [u8; 4],
    /// Always less than the length of the character that `bytes` begins.
    len: usize,
}

impl Cut {
    /// Forgets the character; for the next line.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Whether a character is waiting for its other bytes.
    pub(super) fn is_open(&self) -> bool {
        self.len > 0
    }

    /// The whole characters up to the end of `part`; `None` when the bytes are not UTF-8.
    pub(super) fn push<'a>(&mut self, mut part: &'a [u8]) -> Option<Chars<'a>> {
        let mut first = None;
        while self.is_open() && first.is_none() {
            let Some((&byte, rest)) = part.split_first() else {
                return Some(Chars { first, rest: "" });
            };
            part = rest;
            first = self.complete(byte)?;
        }
        match std::str::from_utf8(part) {
            Ok(rest) => Some(Chars { first, rest }),
            Err(error) if error.error_len().is_none() => {
                let (whole, begun) = part.split_at(error.valid_up_to());
                self.bytes[..begun.len()].copy_from_slice(begun);
                self.len = begun.len();
                Some(Chars { first, rest: std::str::from_utf8(whole).ok()? })
            }
            Err(_) => None,
        }
    }

    /// Adds a byte to the open character: `None` when it cannot be one, `Some(None)` while it is incomplete.
    fn complete(&mut self, byte: u8) -> Option<Option<char>> {
        self.bytes[self.len] = byte;
        self.len += 1;
        match std::str::from_utf8(&self.bytes[..self.len]) {
            Ok(text) => {
                self.len = 0;
                Some(text.chars().next())
            }
            Err(error) if error.error_len().is_none() => Some(None),
            Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The characters of `bytes` given in parts of `size` bytes; `None` when refused or left open.
    fn decoded(bytes: &[u8], size: usize) -> Option<String> {
        let mut cut = Cut::default();
        let mut text = String::new();
        for part in bytes.chunks(size) {
            let chars = cut.push(part)?;
            text.extend(chars.first);
            text.push_str(chars.rest);
        }
        (!cut.is_open()).then_some(text)
    }

    #[test]
    fn characters_survive_every_cut() {
        let text = "a\u{7f}\u{80}\u{7ff}\u{800}\u{d7ff}\u{e000}\u{feff}\u{ffff}\u{10000}\u{10ffff}z";
        for size in 1..=text.len() {
            assert_eq!(decoded(text.as_bytes(), size).as_deref(), Some(text), "parts of {size}");
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
                assert_eq!(decoded(bytes, size), None, "{bytes:x?} in parts of {size}");
            }
        }
    }

    #[test]
    fn a_character_left_open_is_known() {
        for bytes in [&b"\xe6\x87"[..], b"\xf0", b"\xc3"] {
            let mut cut = Cut::default();
            assert_eq!(cut.push(bytes), Some(Chars { first: None, rest: "" }));
            assert!(cut.is_open());
            cut.clear();
            assert!(!cut.is_open());
        }
    }
}
