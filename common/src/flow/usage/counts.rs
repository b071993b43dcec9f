//! Numbers of tokens by the name of their field, and arithmetic on them.

use std::borrow::Cow;

/// How many fields are kept; Codex 0.171.0 has five.
pub const FIELDS_CAP: usize = 64;

/// The field that is not in the stream but computed here: input plus output. Cached input is a part of input, and
/// reasoning output a part of output.
pub const TOTAL: &str = "total_tokens";

/// The field of the input, cached input included.
pub const INPUT: &str = "input_tokens";

/// The field of the output, reasoning included.
pub const OUTPUT: &str = "output_tokens";

/// The fields of today's Codex, in the order in which they are shown; others follow by name.
const ORDER: [&str; 5] =
    [INPUT, "cached_input_tokens", "cache_write_input_tokens", OUTPUT, "reasoning_output_tokens"];

/// Whole numbers by the name of their field, each name once. `None` is a number that is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    fields: Vec<(Cow<'static, str>, Option<u64>)>,
}

impl Counts {
    /// Sets a field. Returns false when there are too many of them.
    pub fn set(&mut self, name: &str, value: Option<u64>) -> bool {
        if let Some((_, old)) = self.fields.iter_mut().find(|(other, _)| other == name) {
            *old = value;
        } else if self.fields.len() < FIELDS_CAP {
            let name = ORDER
                .into_iter()
                .find(|usual| *usual == name)
                .map_or_else(|| Cow::Owned(name.to_owned()), Cow::Borrowed);
            self.fields.push((name, value));
        } else {
            return false;
        }
        true
    }

    /// The value of a field, or the computed [`TOTAL`]. `None` when there is no such field, or it is not known.
    pub fn get(&self, name: &str) -> Option<u64> {
        if name == TOTAL {
            return self.get(INPUT)?.checked_add(self.get(OUTPUT)?);
        }
        self.fields.iter().find(|(other, _)| other == name).and_then(|(_, value)| *value)
    }

    /// Whether there is a field with this name, known or not.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(other, _)| other == name)
    }

    /// All fields in the order in which they are shown, [`TOTAL`] last.
    pub fn fields(&self) -> Vec<(&str, Option<u64>)> {
        let rank = |name: &str| ORDER.iter().position(|usual| *usual == name).unwrap_or(ORDER.len());
        let mut all: Vec<(&str, Option<u64>)> =
            self.fields.iter().map(|(name, value)| (name.as_ref(), *value)).collect();
        all.sort_by_key(|(name, _)| (rank(name), *name));
        all.push((TOTAL, self.get(TOTAL)));
        all
    }

    /// The values that are known, without the total.
    pub fn values(&self) -> impl Iterator<Item = u64> {
        self.fields.iter().filter_map(|(_, value)| *value)
    }

    /// Whether a usage was reported: when a server sends none, Codex prints zeros.
    pub fn is_reported(&self) -> bool {
        self.values().any(|value| value > 0)
    }

    /// Combines each field with the same one of `other`. A field that one of them does not have is not known.
    pub fn combine(&self, other: &Counts, combine: impl Fn(u64, u64) -> Option<u64>) -> Counts {
        let mut all = self.clone();
        for (name, value) in &mut all.fields {
            *value = value.zip(other.get(name)).and_then(|(one, other)| combine(one, other));
        }
        for (name, _) in &other.fields {
            if !self.has(name) {
                all.set(name, None);
            }
        }
        all
    }

    /// The sum with `other`. A field that one of them does not have is not known, nor is one that exceeds 2^64 - 1.
    pub fn plus(&self, other: &Counts) -> Counts {
        self.combine(other, u64::checked_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Input, cached input and output.
    fn counts(input: u64, cached: u64, output: u64) -> Counts {
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
        assert_eq!(all.fields(), expected);
        assert_eq!(counts(u64::MAX, 0, 1).get(TOTAL), None);
    }

    #[test]
    fn a_field_that_one_of_two_lacks_has_no_sum() {
        let (mut old, mut new) = (counts(100, 40, 20), counts(250, 90, 50));
        old.set("gone", Some(1));
        new.set("new", Some(2));
        let sum = new.plus(&old);
        assert_eq!((sum.get(INPUT), sum.get("gone"), sum.get("new")), (Some(350), None, None));
        assert!(sum.has("gone") && sum.has("new"));
        assert_eq!(counts(u64::MAX, 0, 0).plus(&counts(1, 0, 0)).get(INPUT), None);
    }

    #[test]
    fn zeros_are_no_report() {
        assert!(!counts(0, 0, 0).is_reported() && !Counts::default().is_reported());
        assert!(counts(0, 0, 1).is_reported());
    }

    #[test]
    fn the_number_of_fields_is_limited() {
        let mut all = Counts::default();
        assert!((0..FIELDS_CAP).all(|number| all.set(&number.to_string(), Some(1))));
        assert!(!all.set("more", Some(1)) && all.set("0", Some(2)));
    }
}
