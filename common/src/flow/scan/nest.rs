//! Which brackets are open: one bit a level, so that deep nesting costs memory by the bit and never a stack.

/// How deep a line may nest, about a million levels. RFC 8259 lets a reader set a limit; this one costs 128 KiB.
pub const DEPTH_LIMIT: usize = WORD << 14;

/// How many containers a word holds, under the bit that marks its bottom.
const WORD: usize = 63;

/// The open containers of a line.
#[derive(Debug)]
pub(super) struct Nest {
    depth: usize,
    /// The innermost containers, the last one lowest: a bit each, set for an object, and one more that is set above
    /// them. Without any only when none is open at all.
    last: u64,
    /// The others, in full words.
    outer: Vec<u64>,
}

impl Nest {
    pub(super) fn new() -> Nest {
        Nest { depth: 0, last: 1, outer: Vec::new() }
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.depth = 0;
        self.last = 1;
        self.outer.clear();
    }

    /// How many containers are open.
    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether the innermost open container is an object. One is open.
    #[inline]
    pub(super) fn in_object(&self) -> bool {
        self.last & 1 == 1
    }

    /// Opens a container. False when it would lie deeper than [`DEPTH_LIMIT`].
    #[inline]
    #[must_use]
    pub(super) fn open(&mut self, object: bool) -> bool {
        if self.last >> WORD == 1 && !self.begin_word() {
            return false;
        }
        self.last = self.last << 1 | u64::from(object);
        self.depth += 1;
        true
    }

    /// Closes the innermost container. One is open.
    #[inline]
    pub(super) fn close(&mut self) {
        self.depth -= 1;
        self.last >>= 1;
        if self.last == 1 {
            self.last = self.outer.pop().unwrap_or(1);
        }
    }

    #[cold]
    fn begin_word(&mut self) -> bool {
        if self.depth == DEPTH_LIMIT {
            return false;
        }
        self.outer.push(self.last);
        self.last = 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_each_level() {
        let mut nest = Nest::new();
        // A pattern that repeats neither with the words nor with a power of two.
        let object = |level: usize| level.is_multiple_of(3) || level % 7 == 2;
        for round in 0..2 {
            for level in 0..300 {
                assert!(nest.open(object(level + round)));
                assert_eq!(nest.depth(), level + 1);
            }
            for level in (0..300).rev() {
                assert_eq!(nest.in_object(), object(level + round), "level {level}");
                nest.close();
            }
        }
        assert_eq!(nest.depth(), 0);
    }

    #[test]
    fn goes_back_and_forth_over_the_edge_of_a_word() {
        for edge in [62, 63, 64, 126, 127] {
            let mut nest = Nest::new();
            for level in 1..=edge {
                assert!(nest.open(level == edge));
            }
            for _ in 0..3 {
                assert!(nest.in_object());
                assert!(nest.open(false));
                assert!(!nest.in_object());
                nest.close();
            }
            nest.close();
            assert!(!nest.in_object());
        }
    }

    #[test]
    fn ends_at_the_limit() {
        let mut nest = Nest::new();
        let mut depth = 0;
        while nest.open(true) {
            depth += 1;
        }
        assert_eq!(depth, DEPTH_LIMIT);
        assert!(nest.outer.capacity() * 8 <= 128 * 1024);
        nest.clear();
        assert_eq!(nest.depth(), 0);
        assert!(nest.open(false));
        assert!(!nest.in_object());
    }
}
