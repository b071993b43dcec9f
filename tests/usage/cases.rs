//! Cases whose every byte of output is known.

use crate::harness::transcript::transcript;

#[test]
fn each_run_is_the_difference_of_two_totals() {
    transcript("usage-diff/each-run");
}

#[test]
fn a_failed_run_is_unknown_and_the_next_difference_covers_it() {
    transcript("usage-diff/failed-run");
}

#[test]
fn zeros_are_unknown_and_leave_the_baseline() {
    transcript("usage-diff/zeros");
}

#[test]
fn going_backwards_is_a_reset_and_never_negative() {
    transcript("usage-diff/backwards");
}

#[test]
fn a_total_is_input_and_output() {
    transcript("usage-diff/total");
}

#[test]
fn a_fork_starts_from_its_parent() {
    transcript("usage-diff/fork");
}

#[test]
fn earlier_history_is_named_and_not_invented() {
    transcript("usage-diff/earlier-history");
}

#[test]
fn numbers_are_exact_and_a_missing_one_is_not_zero() {
    transcript("usage-diff/large-numbers");
}

#[test]
fn an_unchanged_total_looks_like_one_by_process() {
    transcript("usage-diff/unchanged-total");
}

#[test]
fn threads_and_forks_of_every_release() {
    transcript("usage-diff/samples");
}

#[test]
fn a_fault_of_one_file_leaves_the_others_counted() {
    transcript("usage-diff/bad-input");
}

#[test]
fn files_come_by_name_by_list_and_on_stdin() {
    transcript("usage-diff/sources");
}

#[test]
fn an_upgraded_thread_counts_by_process_and_then_by_thread() {
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
