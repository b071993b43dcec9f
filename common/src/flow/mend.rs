//! Bytes that are not UTF-8, replaced: for who shows a stream, and would rather show a damaged line than none.

/// Replaces what is not UTF-8 in chunks of any size by U+FFFD, as `String::from_utf8_lossy` does for the whole.
#[derive(Debug, Default)]
pub struct Mender {
    /// The beginning of a character whose rest is to come: at most three bytes.
    open: Vec<u8>,
}

impl Mender {
    /// A mender at the beginning of a stream.
    pub fn new() -> Mender {
        Mender::default()
    }

    /// Takes a chunk and hands its text to `each`, in pieces. A character that it does not finish is held back; no
    /// LF ever is.
    pub fn push(&mut self, chunk: &[u8], mut each: impl FnMut(&str)) {
        let mut rest = chunk;
        while !self.open.is_empty() && !rest.is_empty() {
            rest = self.go_on(rest, &mut each);
        }
        let mut pieces = rest.utf8_chunks().peekable();
        while let Some(piece) = pieces.next() {
            if !piece.valid().is_empty() {
                each(piece.valid());
            }
            if piece.invalid().is_empty() {
                continue;
            }
            if pieces.peek().is_none() && may_go_on(piece.invalid()) {
                self.open.extend_from_slice(piece.invalid());
            } else {
                each("\u{fffd}");
            }
        }
    }

    /// Goes on with the open character: takes a byte that belongs to it, and gives what is left.
    fn go_on<'a>(&mut self, chunk: &'a [u8], each: &mut impl FnMut(&str)) -> &'a [u8] {
        self.open.push(chunk[0]);
        match std::str::from_utf8(&self.open) {
            Ok(char) => each(char),
            Err(_) if may_go_on(&self.open) => return &chunk[1..],
            // The byte that shows the others to be wrong is not one of them.
            Err(_) => {
                each("\u{fffd}");
                self.open.clear();
                return chunk;
            }
        }
        self.open.clear();
        &chunk[1..]
    }

    /// Takes the end of the stream.
    pub fn end(&mut self, each: impl FnOnce(&str)) {
        if !std::mem::take(&mut self.open).is_empty() {
            each("\u{fffd}");
        }
    }
}

/// Whether `bytes`, which are not UTF-8, are the beginning of a character.
fn may_go_on(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

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

    fn mended<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
        let (mut mender, mut text) = (Mender::new(), String::new());
        for part in parts {
            mender.push(part, |piece| text.push_str(piece));
        }
        mender.end(|piece| text.push_str(piece));
        text
    }

    #[test]
    fn the_text_is_that_of_the_standard_library_under_every_cut() {
        for bytes in TRICKY {
            let judged = String::from_utf8_lossy(bytes);
            assert_eq!(mended(bytes.chunks(1)), judged, "{}", bytes.escape_ascii());
            for first in 0..=bytes.len() {
                for second in first..=bytes.len() {
                    let parts = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    assert_eq!(mended(parts), judged, "{} at {first}, {second}", bytes.escape_ascii());
                }
            }
        }
    }

    #[test]
    fn what_is_held_back_is_short_and_has_no_line_end() {
        for bytes in TRICKY {
            let mut mender = Mender::new();
            for byte in bytes.chunks(1) {
                mender.push(byte, |_| {});
                assert!(mender.open.len() < 4 && !mender.open.contains(&b'\n'));
            }
        }
    }
}
