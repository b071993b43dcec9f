//! Whole numbers, exactly as JSON writes them.

/// The value of `digits`, a number as RFC 8259 writes it, when it is a whole one from 0 to 2^64 - 1. Points and
/// exponents are exact: `1.8e4` is 18000, and `1.5` is nothing.
///
/// By way of `f64`, numbers from 2^53 on would be rounded silently.
pub fn whole(digits: &str) -> Option<u64> {
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let (minus, mantissa) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
    let (front, back) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let back = back.trim_end_matches('0');
    let significant = format!("{front}{back}");
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    // An exponent that does not fit is out of reach of any number of digits on a line.
    let zeros = exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(back.len()).ok()?)?;
    let value = match usize::try_from(zeros) {
        Ok(zeros) if significant.len().saturating_add(zeros) <= MOST_DIGITS => {
            format!("{significant}{}", "0".repeat(zeros)).parse().ok()
        }
        Ok(_) => None,
        // A negative one takes zeros away, if there are enough.
        Err(_) => {
            let surplus = usize::try_from(zeros.unsigned_abs()).ok()?;
            let kept = significant.len().checked_sub(surplus)?;
            let (kept, surplus) = significant.split_at(kept);
            surplus.bytes().all(|digit| digit == b'0').then(|| kept.parse().ok()).flatten()
        }
    };
    value.filter(|_| !minus)
}

/// The value of `digits` when it is a whole number from -2^63 to 2^63 - 1, as [`whole`] reads it.
pub fn whole_signed(digits: &str) -> Option<i64> {
    match digits.strip_prefix('-') {
        Some(digits) => whole(digits).and_then(|value| 0_i64.checked_sub_unsigned(value)),
        None => whole(digits)?.try_into().ok(),
    }
}

/// How many digits 2^64 - 1 has.
const MOST_DIGITS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_exact_however_they_are_written() {
        for (digits, value) in [
            ("0", 0),
            ("-0", 0),
            ("-0.0e7", 0),
            ("0e99999999999999999999", 0),
            ("7", 7),
            ("1.8e4", 18_000),
            ("1.80E+4", 18_000),
            ("180000e-1", 18_000),
            ("1.50e1", 15),
            ("10.0", 10),
            ("0.001e3", 1),
            ("9007199254740993", 9_007_199_254_740_993),
            ("18446744073709551615", u64::MAX),
            ("1.8446744073709551615e19", u64::MAX),
            ("1844674407370955161500e-2", u64::MAX),
            ("1e19", 10_000_000_000_000_000_000),
        ] {
            assert_eq!(whole(digits), Some(value), "{digits}");
        }
    }

    #[test]
    fn signed_numbers_have_the_same_rule() {
        for (digits, value) in [
            ("2.0", Some(2)),
            ("-1e0", Some(-1)),
            ("-0", Some(0)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("-1.5", None),
        ] {
            assert_eq!(whole_signed(digits), value, "{digits}");
        }
    }

    #[test]
    fn anything_else_is_nothing() {
        for digits in [
            "-1",
            "1.5",
            "15e-1",
            "5e-1",
            "1e-400",
            "18446744073709551616",
            "1e20",
            "99999999999999999999",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "1e9223372036854775807",
            "0.1e-9223372036854775808",
        ] {
            assert_eq!(whole(digits), None, "{digits}");
        }
    }
}
