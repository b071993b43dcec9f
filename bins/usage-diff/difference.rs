//! The difference between two totals of a thread.

use common::flow::usage::{Counts, INPUT, OUTPUT};

/// How a later total differs from an earlier one.
#[derive(Debug, PartialEq, Eq)]
pub enum Difference {
    /// What was used in between. A field that one of the totals does not have is not known.
    Used(Counts),
    /// The totals are the same.
    None,
    /// Input or output went backwards: the field, the earlier number and the later one.
    Backwards(&'static str, u64, u64),
}

impl Difference {
    /// Subtracts `earlier` from `later`.
    pub fn between(earlier: &Counts, later: &Counts) -> Difference {
        for name in [INPUT, OUTPUT] {
            if let (Some(after), Some(before)) = (later.get(name), earlier.get(name))
                && after < before
            {
                return Difference::Backwards(name, before, after);
            }
        }
        // Any other field that went backwards is no total, so it has no difference.
        let used = later.combine(earlier, u64::checked_sub);
        if used.values().count() > 0 && used.values().all(|value| value == 0) {
            Difference::None
        } else {
            Difference::Used(used)
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use common::flow::usage::TOTAL;

    /// Input, cached input and output.
    pub fn counts(input: u64, cached: u64, output: u64) -> Counts {
        let mut counts = Counts::default();
        for (name, value) in [(INPUT, input), ("cached_input_tokens", cached), (OUTPUT, output)] {
            assert!(counts.set(name, Some(value)));
        }
        counts
    }

    #[test]
    fn a_field_that_one_total_lacks_is_not_zero() {
        let (mut old, mut new) = (counts(100, 40, 20), counts(250, 90, 50));
        old.set("gone", Some(1));
        new.set("new", Some(2));
        let mut expected = counts(150, 50, 30);
        expected.set("new", None);
        expected.set("gone", None);
        assert_eq!(Difference::between(&old, &new), Difference::Used(expected));
    }

    #[test]
    fn input_or_output_that_goes_backwards_is_named() {
        let earlier = counts(100, 40, 20);
        let backwards = |later| Difference::between(&earlier, &later);
        assert_eq!(backwards(counts(90, 90, 50)), Difference::Backwards(INPUT, 100, 90));
        assert_eq!(backwards(counts(190, 90, 10)), Difference::Backwards(OUTPUT, 20, 10));
        let Difference::Used(used) = backwards(counts(190, 30, 30)) else {
            panic!("cached input alone went backwards");
        };
        assert_eq!((used.get("cached_input_tokens"), used.get(TOTAL)), (None, Some(100)));
    }

    #[test]
    fn equal_totals_have_no_difference() {
        assert_eq!(Difference::between(&counts(1, 0, 2), &counts(1, 0, 2)), Difference::None);
    }

    #[test]
    fn differences_of_the_largest_numbers_are_exact() {
        let (low, high) = (counts((1 << 53) + 1, 0, 1), counts(u64::MAX, 0, 2));
        let expected = counts(u64::MAX - (1 << 53) - 1, 0, 1);
        assert_eq!(Difference::between(&low, &high), Difference::Used(expected));
    }
}
