//! Streams as users of such tools met them.

use crate::harness::transcript::transcript;

#[test]
fn s1_to_s17_odd_streams_are_read_on() {
    transcript("usage-diff/streams");
}
