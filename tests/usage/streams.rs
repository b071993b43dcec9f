//! Streams as users of such tools met them.

use crate::harness::transcript::transcript;

#[test]
fn odd_streams_are_counted_as_far_as_they_go() {
    transcript("usage-diff/streams");
}
