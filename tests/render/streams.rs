//! Streams as users of such tools met them.

use crate::harness::transcript::transcript;

#[test]
fn s1_to_s13_odd_streams_are_shown_as_far_as_they_go() {
    transcript("codex-render/streams");
}

#[test]
fn bad_input_and_lost_output_are_said() {
    transcript("codex-render/bad-input");
}
