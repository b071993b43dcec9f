//! Cases whose every byte of output is known.

use crate::harness::transcript::transcript;

#[test]
fn u1_each_run_is_the_difference_of_two_totals() {
    transcript("usage-diff/u1");
}

#[test]
fn u2_a_failed_run_is_unknown_and_the_next_difference_covers_it() {
    transcript("usage-diff/u2");
}

#[test]
fn u3_zeros_are_unknown_and_the_baseline_stays() {
    transcript("usage-diff/u3");
}

#[test]
fn u4_going_backwards_is_a_reset_and_never_negative() {
    transcript("usage-diff/u4");
}

#[test]
fn u5_a_total_is_input_and_output() {
    transcript("usage-diff/u5");
}

#[test]
fn u6_a_fork_starts_from_its_parent() {
    transcript("usage-diff/u6");
}

#[test]
fn u7_what_the_files_do_not_tell_is_said_and_not_invented() {
    transcript("usage-diff/u7");
}

#[test]
fn u8_numbers_are_exact_and_a_missing_one_is_not_zero() {
    transcript("usage-diff/u8");
}

#[test]
fn u9_a_total_that_stands_still_looks_like_one_by_process() {
    transcript("usage-diff/u9");
}

#[test]
fn threads_and_forks_of_every_release() {
    transcript("usage-diff/samples");
}

#[test]
fn whatever_is_wrong_with_one_file_the_others_are_counted() {
    transcript("usage-diff/bad-input");
}

#[test]
fn files_lists_standard_input_and_sentinels_are_sources() {
    transcript("usage-diff/sources");
}

#[test]
fn a_thread_that_outlives_an_upgrade_counts_by_process_and_then_by_thread() {
    transcript("usage-diff/upgrade");
}

#[test]
fn a_run_that_was_killed_is_in_no_difference_and_one_that_was_interrupted_is() {
    transcript("usage-diff/cut");
}

#[test]
fn a_number_counts_the_same_however_it_is_written() {
    transcript("usage-diff/numbers");
}
