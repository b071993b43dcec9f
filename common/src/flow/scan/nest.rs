//! Which brackets are open: one bit a level, so that deep nesting costs memory by the bit and never a stack.

/// How deep a line may nest. RFC 8259 lets a reader set a limit; this one costs at most 128 KiB.
pub const DEPTH_LIMIT: usize = 1 << 20;

/// The open containers of a line, outermost first.
#[derive(Debug, Default)]
pub(super) struct Nest {
    /// Bit `n % 64` of word `n / 64` says whether container `n` is an object.
    words: Vec<u64>,
    depth: usize,
}

impl Nest {
    pub(super) fn clear(&mut self) {
        self.depth = 0;
    }

    /// How many containers are open.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether the innermost open container is an object; false when none is open.
    pub(super) fn in_object(&self) -> bool {
        match self.depth.checked_sub(1) {
            Some(level) => self.words[level / 64] >> (level % 64) & 1 == 1,
            None => false,
        }
    }

    /// Opens a container. False when it would lie deeper than [`DEPTH_LIMIT`].
    #[must_use]
    pub(super) fn open(&mut self, object: bool) -> bool {
        if self.depth == DEPTH_LIMIT {
            return false;
        }
        let (word, bit) = (self.depth / 64, self.depth % 64);
        if word == self.words.len() {
            self.words.push(0);
        }
        self.words[word] = self.words[word] & !(1 << bit) | u64::from(object) << bit;
        self.depth += 1;
        true
    }

    /// Closes the innermost container; there is one.
    pub(super) fn close(&mut self) {
        self.depth -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_each_level() {
        let mut nest = Nest::default();
        assert!(!nest.in_object());
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
    fn ends_at_the_limit() {
        let mut nest = Nest::default();
        for _ in 0..DEPTH_LIMIT {
            assert!(nest.open(true));
        }
        assert!(!nest.open(true));
        assert_eq!(nest.words.len() * 8, 128 * 1024);
        nest.clear();
        assert_eq!(nest.depth(), 0);
        assert!(nest.open(false));
        assert!(!nest.in_object());
    }
}
