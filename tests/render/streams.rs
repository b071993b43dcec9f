//! Streams as users of such tools met them.

use crate::harness::transcript::transcript;

#[test]
fn odd_streams_are_shown_as_far_as_they_go() {
    transcript("codex-render/streams");
}

#[test]
fn faults_of_input_and_output_are_named() {
    transcript("codex-render/bad-input");
}
