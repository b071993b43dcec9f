//! The scanner: what it says of each line, cut anywhere, is what serde_json says of the whole, as far as they agree;
//! the oracle of the property tests knows where they do not.
#![no_main]

#[path = "shared/cuts.rs"]
mod cuts;
#[allow(dead_code)] // The property tests use more of it.
#[path = "../../../common/tests/flow/oracle.rs"]
mod oracle;

use common::flow::scan::Scanner;
use libfuzzer_sys::fuzz_target;
use oracle::{WANTS, judged, scanned, taken};

fuzz_target!(|data: &[u8]| {
    let Some((lengths, bytes)) = cuts::split(data) else { return };
    // One scanner each for all lines: nothing may be left of the line before.
    let (mut whole, mut cut, mut stream) = (Scanner::new(WANTS), Scanner::new(WANTS), Scanner::new(WANTS));
    let taken = taken(&mut stream, cuts::parts(lengths, bytes));
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        // A BOM may begin the first line, and no other.
        let bare = if number == 0 { line.strip_prefix(b"\xef\xbb\xbf") } else { None };
        let expected = judged(bare.unwrap_or(line));
        assert_eq!(scanned(&mut whole, [line]), expected);
        assert_eq!(scanned(&mut cut, cuts::parts(lengths, line)), expected);
        assert_eq!(taken[number], expected);
    }
});
