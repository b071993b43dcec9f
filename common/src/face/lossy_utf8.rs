//! Decodes text in chunks, and replaces what is not UTF-8, so that a damaged line is shown rather than left out.

use std::borrow::Cow;

/// Decodes a stream as [`String::from_utf8_lossy`] decodes the whole of it, wherever its chunks are cut.
#[derive(Debug, Default)]
pub struct LossyUtf8 {
    /// The beginning of a character whose rest has not come: at most three bytes, and never an LF.
    partial: Vec<u8>,
}

impl LossyUtf8 {
    /// A decoder at the beginning of a stream.
    pub fn new() -> LossyUtf8 {
        LossyUtf8::default()
    }

    /// The text of the next chunk. A character that the chunk does not finish is held back.
    pub fn push<'a>(&mut self, chunk: &'a [u8]) -> Cow<'a, str> {
        if self.partial.is_empty() {
            return String::from_utf8_lossy(self.hold_back(chunk));
        }
        let joined = [&std::mem::take(&mut self.partial), chunk].concat();
        Cow::Owned(String::from_utf8_lossy(self.hold_back(&joined)).into_owned())
    }

    /// The text at the end of the stream: U+FFFD for an unfinished character, else nothing.
    pub fn end(&mut self) -> &'static str {
        if std::mem::take(&mut self.partial).is_empty() { "" } else { "\u{fffd}" }
    }

    /// Keeps the unfinished character at the end of `bytes`, and returns what is before it.
    fn hold_back<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (whole, partial) = bytes.split_at(bytes.len() - unfinished(bytes));
        self.partial.extend_from_slice(partial);
        whole
    }
}

/// How many bytes at the end of `bytes` are the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    let is_first = |byte: &u8| !(0x80..0xc0).contains(byte);
    let Some(back) = bytes.iter().rev().take(LONGEST_BEGINNING).position(is_first) else { return 0 };
    let last = &bytes[bytes.len() - back - 1..];
    let may_go_on = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    if may_go_on { last.len() } else { 0 }
}

/// The longest beginning of a character that is not a whole one, in bytes.
const LONGEST_BEGINNING: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    const TRICKY: [&[u8]; 10] = [
        b"",
        b"plain\n",
        "\u{e9}\u{20ac}\u{1f680}\n".as_bytes(),
        b"a\xe6\x87\n",
        b"a\xe6\x87",
        b"\xe6\x87\xe6\x87\x80\xf0\x9f\xf0\x9f\x9a\x80",
        b"\xff\xfe\x80\x80 \xc0\xaf",
        b"\xed\xa0\x80\xf4\x90\x80\x80\xf8",
        b"\xf0\x90\x80\n\xc3",
        b"\xe2\x82\xac\xe2\x82\xe2\xe2\x82\xac",
    ];

    fn decoded<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
        let (mut decoder, mut text) = (LossyUtf8::new(), String::new());
        for part in parts {
            text += &decoder.push(part);
        }
        text + decoder.end()
    }

    #[test]
    fn the_text_is_that_of_the_standard_library_under_every_cut() {
        for bytes in TRICKY {
            let judged = String::from_utf8_lossy(bytes);
            assert_eq!(decoded(bytes.chunks(1)), judged, "{}", bytes.escape_ascii());
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let parts = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    assert_eq!(decoded(parts), judged, "{} at {first}, {second}", bytes.escape_ascii());
                }
            }
        }
    }

    #[test]
    fn what_is_held_back_is_short_and_has_no_line_end() {
        for bytes in TRICKY {
            let mut decoder = LossyUtf8::new();
            for byte in bytes.chunks(1) {
                decoder.push(byte);
                assert!(decoder.partial.len() < 4 && !decoder.partial.contains(&b'\n'));
            }
        }
    }
}
