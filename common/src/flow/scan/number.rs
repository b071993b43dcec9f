//! The numbers of RFC 8259, section 6, a byte at a time.

/// The position inside a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// After the minus.
    Minus,
    /// After a leading zero, which no digit may follow.
    Zero,
    /// In the digits before a point or exponent.
    Whole,
    /// After the point.
    Point,
    /// In the digits after the point.
    Fraction,
    /// After `e`.
    E,
    /// After the sign of the exponent.
    Sign,
    /// In the digits of the exponent.
    Exponent,
}

impl Number {
    /// The state after the first byte; `None` when it cannot begin a number.
    pub(super) fn begin(byte: u8) -> Option<Number> {
        match byte {
            b'-' => Some(Number::Minus),
            b'0' => Some(Number::Zero),
            b'1'..=b'9' => Some(Number::Whole),
            _ => None,
        }
    }

    /// The state after the next byte; `None` when the byte is not part of the number.
    pub(super) fn next(self, byte: u8) -> Option<Number> {
        use Number::*;
        match (self, byte) {
            (Minus, b'0') => Some(Zero),
            (Minus, b'1'..=b'9') | (Whole, b'0'..=b'9') => Some(Whole),
            (Zero | Whole, b'.') => Some(Point),
            (Point | Fraction, b'0'..=b'9') => Some(Fraction),
            (Zero | Whole | Fraction, b'e' | b'E') => Some(E),
            (E, b'+' | b'-') => Some(Sign),
            (E | Sign | Exponent, b'0'..=b'9') => Some(Exponent),
            _ => None,
        }
    }

    /// Whether the number may end here.
    pub(super) fn is_whole(self) -> bool {
        matches!(self, Number::Zero | Number::Whole | Number::Fraction | Number::Exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(text: &str) -> bool {
        let (first, rest) = text.as_bytes().split_first().unwrap();
        Number::begin(*first)
            .and_then(|state| rest.iter().try_fold(state, |state, byte| state.next(*byte)))
            .is_some_and(Number::is_whole)
    }

    #[test]
    fn takes_exactly_the_numbers_of_the_grammar() {
        for yes in
            ["0", "-0", "7", "10", "-12.50", "0.0", "1e5", "1E+5", "0e-0", "123456789012345678901", "1.5e9"]
        {
            assert!(accepts(yes), "{yes}");
        }
        for no in [
            "-", "+1", "00", "01", "-01", "1.", ".5", "1.e5", "1e", "1e+", "1e5.0", "0x1", "1_0", "--1", "e5",
        ] {
            assert!(!accepts(no), "{no}");
        }
    }
}
