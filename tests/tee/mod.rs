//! `jsonl-tee`, by what it is asked to get right.

mod failing;
mod options;
mod random;
mod signals;

use crate::harness::filter::{Filter, filter};
use crate::harness::scratch::Scratch;

/// The filter in `scratch`.
fn tee(scratch: &Scratch) -> Filter {
    filter("jsonl-tee").dir(scratch.dir())
}

/// `count` lines of JSON, some kilobytes each at most.
fn numbered(count: usize) -> Vec<u8> {
    (0..count)
        .flat_map(|n| format!("{{\"n\":{n},\"x\":\"{}\"}}\n", "x".repeat(n * 37 % 3000)).into_bytes())
        .collect()
}
