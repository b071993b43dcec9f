//! The framer: the lines of a stream, cut anywhere, are those that `split` finds in the whole.
#![no_main]

#[path = "shared/cuts.rs"]
mod cuts;

use common::flow::line::{Piece, pieces};
use libfuzzer_sys::fuzz_target;

/// Up to this length all cuts into two are tried.
const SHORT: usize = 64;

fuzz_target!(|data: &[u8]| {
    let Some((lengths, bytes)) = cuts::split(data) else { return };
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    assert_eq!(framed(cuts::parts(lengths, bytes)), lines);
    if bytes.len() <= SHORT {
        for at in 0..=bytes.len() {
            let (left, right) = bytes.split_at(at);
            assert_eq!(framed([left, right]), lines, "cut at {at}");
        }
    }
});

/// The lines without their LF; the last one is what stands after the last LF.
fn framed<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let mut lines = vec![Vec::new()];
    for chunk in chunks {
        let mut rest = chunk;
        for piece in pieces(chunk) {
            let bytes = match piece {
                Piece::Part(part) => part,
                Piece::End(end) => end.strip_suffix(b"\n").expect("an LF at the end"),
            };
            assert!(!bytes.contains(&b'\n'));
            lines.last_mut().expect("a line").extend_from_slice(bytes);
            let length = match piece {
                Piece::Part(part) => {
                    assert!(!part.is_empty());
                    part.len()
                }
                Piece::End(end) => {
                    lines.push(Vec::new());
                    end.len()
                }
            };
            // Each is the very bytes of the chunk, in order.
            assert!(std::ptr::eq(bytes.as_ptr(), rest.as_ptr()));
            rest = &rest[length..];
        }
        assert!(rest.is_empty());
    }
    lines
}
