//! Numbers of tokens by the name of their field, and arithmetic on them.

use std::borrow::Cow;

/// How many fields are kept; Codex 0.171.0 has five.
pub const FIELDS_CAP: usize = 64;

/// The field that is not in the stream but made here: input and output. Cached input is a part of input, and
/// reasoning output of output.
pub const TOTAL: &str = "total_tokens";

const INPUT: &str = "input_tokens";
const OUTPUT: &str = "output_tokens";
const CACHE_WRITE: &str = "cache_write_input_tokens";
const REASONING: &str = "reasoning_output_tokens";

/// The fields that are known today, in the order in which they are shown; others follow by name.
const KNOWN: [&str; 5] = [INPUT, "cached_input_tokens", CACHE_WRITE, OUTPUT, REASONING];

/// Whole numbers by the name of their field, each name once. `None` is a number that is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    fields: Vec<(Cow<'static, str>, Option<u64>)>,
}

/// How two totals of a thread differ.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// The later one is the earlier one and this. A field that one of them does not have is not known.
    Known(Counts),
    /// They are the same.
    None,
    /// Input or output went backwards: the field, and from where to where.
    Backwards(&'static str, u64, u64),
}

impl Counts {
    /// Output alone, as a sentinel tells it.
    pub(super) fn of_output(tokens: u64) -> Counts {
        Counts { fields: vec![(OUTPUT.into(), Some(tokens))] }
    }

    /// Sets a field. False when there are too many of them.
    pub(super) fn set(&mut self, name: &str, value: Option<u64>) -> bool {
        if let Some((_, old)) = self.fields.iter_mut().find(|(known, _)| known == name) {
            *old = value;
        } else if self.fields.len() < FIELDS_CAP {
            let known = KNOWN.into_iter().find(|known| *known == name);
            self.fields.push((known.map_or_else(|| Cow::Owned(name.to_owned()), Cow::Borrowed), value));
        } else {
            return false;
        }
        true
    }

    /// The value of a field, [`TOTAL`] too. `None` when there is none or when it is not known.
    pub fn get(&self, name: &str) -> Option<u64> {
        if name == TOTAL {
            return self.get(INPUT)?.checked_add(self.get(OUTPUT)?);
        }
        self.fields.iter().find(|(known, _)| known == name).and_then(|(_, value)| *value)
    }

    /// All fields in the order in which they are shown, [`TOTAL`] last.
    pub fn shown(&self) -> Vec<(&str, Option<u64>)> {
        let place = |name: &str| KNOWN.iter().position(|known| *known == name).unwrap_or(KNOWN.len());
        let mut all: Vec<(&str, Option<u64>)> =
            self.fields.iter().map(|(name, value)| (name.as_ref(), *value)).collect();
        all.sort_by_key(|(name, _)| (place(name), *name));
        all.push((TOTAL, self.get(TOTAL)));
        all
    }

    /// Whether it says anything: a server that sends no usage makes Codex print zeros.
    pub fn is_some(&self) -> bool {
        self.fields.iter().any(|(_, value)| value.is_some_and(|value| value > 0))
    }

    /// Whether it has a field that Codex writes since 0.125 (`reasoning_output_tokens`) or 0.145 (`cache_write_…`).
    pub(super) fn is_recent(&self) -> bool {
        self.fields.iter().any(|(name, _)| [REASONING, CACHE_WRITE].contains(&name.as_ref()))
    }

    /// The sum with `other`. A field that one of them does not have is not known, nor is one that grows beyond 2^64.
    pub(super) fn plus(&self, other: &Counts) -> Counts {
        self.with(other, |one, other| one.checked_add(other))
    }

    /// What lies between `earlier` and this.
    pub(super) fn since(&self, earlier: &Counts) -> Difference {
        for name in [INPUT, OUTPUT] {
            if let (Some(now), Some(before)) = (self.get(name), earlier.get(name))
                && now < before
            {
                return Difference::Backwards(name, before, now);
            }
        }
        // A field beside these that went backwards is no total, whatever it is: it has no difference.
        let difference = self.with(earlier, |now, before| now.checked_sub(before));
        let known = || difference.fields.iter().filter_map(|(_, value)| *value);
        if known().count() > 0 && known().all(|value| value == 0) {
            Difference::None
        } else {
            Difference::Known(difference)
        }
    }

    fn with(&self, other: &Counts, combine: impl Fn(u64, u64) -> Option<u64>) -> Counts {
        let mut all = self.clone();
        for (name, value) in &mut all.fields {
            *value = value.zip(other.get(name)).and_then(|(one, other)| combine(one, other));
        }
        for (name, _) in &other.fields {
            if self.fields.iter().all(|(known, _)| known != name) {
                all.set(name, None);
            }
        }
        all
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Input, cached input and output.
    pub(crate) fn counts(input: u64, cached: u64, output: u64) -> Counts {
        let mut counts = Counts::default();
        for (name, value) in [(INPUT, input), ("cached_input_tokens", cached), (OUTPUT, output)] {
            assert!(counts.set(name, Some(value)));
        }
        counts
    }

    #[test]
    fn fields_are_shown_in_their_order_with_the_total() {
        let mut all = Counts::default();
        for name in ["zebra", "output_tokens", "apple", "input_tokens"] {
            all.set(name, Some(name.len() as u64));
        }
        all.set("apple", None);
        let expected =
            [(INPUT, Some(12)), (OUTPUT, Some(13)), ("apple", None), ("zebra", Some(5)), (TOTAL, Some(25))];
        assert_eq!(all.shown(), expected);
        assert_eq!(Counts::of_output(7).shown(), [(OUTPUT, Some(7)), (TOTAL, None)]);
        assert_eq!(counts(u64::MAX, 0, 1).get(TOTAL), None);
    }

    #[test]
    fn a_missing_field_is_not_zero() {
        let (mut old, mut new) = (counts(100, 40, 20), counts(250, 90, 50));
        old.set("gone", Some(1));
        new.set("new", Some(2));
        let mut expected = counts(150, 50, 30);
        expected.set("new", None);
        expected.set("gone", None);
        assert_eq!(new.since(&old), Difference::Known(expected));
        assert_eq!(new.plus(&old).shown().iter().filter(|(_, value)| value.is_none()).count(), 2);
    }

    #[test]
    fn going_backwards_is_no_difference() {
        assert_eq!(counts(90, 90, 50).since(&counts(100, 40, 20)), Difference::Backwards(INPUT, 100, 90));
        assert_eq!(counts(190, 90, 10).since(&counts(100, 40, 20)), Difference::Backwards(OUTPUT, 20, 10));
        let Difference::Known(difference) = counts(190, 30, 30).since(&counts(100, 40, 20)) else {
            panic!("cached input alone went backwards");
        };
        assert_eq!((difference.get("cached_input_tokens"), difference.get(TOTAL)), (None, Some(100)));
    }

    #[test]
    fn the_same_twice_is_no_difference_either() {
        assert_eq!(counts(1, 0, 2).since(&counts(1, 0, 2)), Difference::None);
        assert!(!counts(0, 0, 0).is_some() && !Counts::default().is_some());
    }

    #[test]
    fn differences_of_the_largest_numbers_are_exact() {
        let (low, high) = (counts((1 << 53) + 1, 0, 1), counts(u64::MAX, 0, 2));
        assert_eq!(high.since(&low), Difference::Known(counts(u64::MAX - (1 << 53) - 1, 0, 1)));
        assert_eq!(high.plus(&low).get(INPUT), None);
    }

    #[test]
    fn there_is_an_end_to_the_fields() {
        let mut all = Counts::default();
        assert!((0..FIELDS_CAP).all(|number| all.set(&number.to_string(), Some(1))));
        assert!(!all.set("more", Some(1)) && all.set("0", Some(2)));
    }
}
