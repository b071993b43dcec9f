//! How far a wave has come.

/// How many agents of a wave have settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Those that have.
    pub settled: usize,
    /// All of them.
    pub total: usize,
}

/// The cells of a bar.
const CELLS: usize = 10;

impl Tally {
    /// The part that has settled, in percent, half up. Of no agents it is 100.
    pub fn percentage(self) -> usize {
        self.part_of(100)
    }

    /// The part that has settled as a bar of ten cells: `█` for `floor(10*settled/total+0.5)` of them, else `░`.
    pub fn bar(self) -> String {
        let full = self.part_of(CELLS);
        "█".repeat(full) + &"░".repeat(CELLS - full)
    }

    /// `floor(whole*settled/total+0.5)`, without fractions that round.
    fn part_of(self, whole: usize) -> usize {
        (2 * whole * self.settled + self.total).checked_div(2 * self.total).unwrap_or(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_rounded_half_up() {
        for (settled, total, percentage, full) in [
            (0, 1, 0, 0),
            (1, 2, 50, 5),
            (2, 2, 100, 10),
            (1, 3, 33, 3),
            (2, 3, 67, 7),
            (1, 8, 13, 1),
            (1, 20, 5, 1),
            (1, 200, 1, 0),
            (199, 200, 100, 10),
            (1, 10_000, 0, 0),
        ] {
            let tally = Tally { settled, total };
            assert_eq!(tally.percentage(), percentage, "{tally:?}");
            assert_eq!(tally.bar().matches('█').count(), full, "{tally:?}");
            assert_eq!(tally.bar().chars().count(), 10);
        }
        assert_eq!(Tally { settled: 0, total: 0 }.percentage(), 100);
    }
}
