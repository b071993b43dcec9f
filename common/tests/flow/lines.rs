//! The framer, judged by `split(b'\n')`.

use common::flow::line::{Piece, pieces};
use proptest::prelude::*;

use crate::cases;

/// The lines of `bytes` read in chunks of `size`, and what stands after the last LF.
fn framed(bytes: &[u8], size: usize) -> (Vec<Vec<u8>>, Vec<u8>) {
    let (mut lines, mut open) = (Vec::new(), Vec::new());
    for chunk in bytes.chunks(size) {
        let mut read = 0;
        for piece in pieces(chunk) {
            match piece {
                Piece::Part(part) => {
                    assert!(!part.is_empty() && !part.contains(&b'\n'));
                    read += part.len();
                    open.extend_from_slice(part);
                }
                Piece::End(end) => {
                    assert_eq!(end.iter().position(|byte| *byte == b'\n'), Some(end.len() - 1));
                    read += end.len();
                    open.extend_from_slice(&end[..end.len() - 1]);
                    lines.push(std::mem::take(&mut open));
                }
            }
        }
        assert_eq!(read, chunk.len());
    }
    (lines, open)
}

/// The same from the whole.
fn split(bytes: &[u8]) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let open = lines.pop().unwrap();
    (lines, open)
}

#[test]
fn only_lf_ends_a_line() {
    // U+2028, U+2029, U+0085, VT, FF and a lone CR are ordinary; a CR before LF stays with its line.
    for text in
        ["", "\n", "\n\n\n", "a", "a\n", "a\r\nb\r\n", "a\rb", "\u{2028}\u{2029}\u{85}\u{b}\u{c}\n\u{feff}\n"]
    {
        for size in 1..=text.len().max(1) {
            assert_eq!(framed(text.as_bytes(), size), split(text.as_bytes()), "{text:?} in chunks of {size}");
        }
    }
}

#[test]
fn an_empty_chunk_has_no_pieces() {
    assert_eq!(pieces(b"").next(), None);
}

proptest! {
    #![proptest_config(cases(5_000))]

    #[test]
    fn chunks_of_any_size_give_the_same_lines(
        bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..200),
        size in 1..64_usize,
    ) {
        prop_assert_eq!(framed(&bytes, size), split(&bytes));
    }
}
