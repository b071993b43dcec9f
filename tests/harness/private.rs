//! What no filter may print.

use super::ran::Ran;

/// Stands in inputs wherever something private would. Whatever is started and waited for here, and has it in its
/// output, fails its test.
pub(crate) const PRIVATE: &str = "between-you-and-me";

/// Asserts that what was printed is free of it.
#[track_caller]
pub(super) fn assert_kept(ran: &Ran) {
    for output in [&ran.stdout, &ran.stderr] {
        let is_kept = !output.windows(PRIVATE.len()).any(|window| window == PRIVATE.as_bytes());
        assert!(is_kept, "something private was printed\n{ran}");
    }
}
