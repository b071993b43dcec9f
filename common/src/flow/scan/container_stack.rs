//! The open objects and arrays of a line: one bit a level, without recursion.

/// The maximum nesting depth, about a million levels. RFC 8259 allows a limit; this one costs 128 KiB of memory.
pub const DEPTH_LIMIT: usize = WORD << 14;

/// The number of containers in a word. The bit above them marks the bottom.
const WORD: usize = 63;

/// The open containers of a line, innermost last.
#[derive(Debug)]
pub(super) struct ContainerStack {
    depth: usize,
    /// The innermost containers, a bit each, set for an object; the innermost is the lowest bit. A set bit above them
    /// marks the bottom. Empty (1) only when no container is open.
    last: u64,
    /// The outer containers, in full words.
    outer: Vec<u64>,
}

impl ContainerStack {
    pub(super) fn new() -> ContainerStack {
        ContainerStack { depth: 0, last: 1, outer: Vec::new() }
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.depth = 0;
        self.last = 1;
        self.outer.clear();
    }

    /// The number of open containers.
    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether the innermost open container is an object. At least one must be open.
    #[inline]
    pub(super) fn in_object(&self) -> bool {
        self.last & 1 == 1
    }

    /// Opens a container. Returns false when that would exceed [`DEPTH_LIMIT`].
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

    /// Closes the innermost container. At least one must be open.
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
        let mut stack = ContainerStack::new();
        // A pattern that repeats neither with the words nor with a power of two.
        let object = |level: usize| level.is_multiple_of(3) || level % 7 == 2;
        for round in 0..2 {
            for level in 0..300 {
                assert!(stack.open(object(level + round)));
                assert_eq!(stack.depth(), level + 1);
            }
            for level in (0..300).rev() {
                assert_eq!(stack.in_object(), object(level + round), "level {level}");
                stack.close();
            }
        }
        assert_eq!(stack.depth(), 0);
    }

    #[test]
    fn goes_back_and_forth_over_the_edge_of_a_word() {
        for edge in [62, 63, 64, 126, 127] {
            let mut stack = ContainerStack::new();
            for level in 1..=edge {
                assert!(stack.open(level == edge));
            }
            for _ in 0..3 {
                assert!(stack.in_object());
                assert!(stack.open(false));
                assert!(!stack.in_object());
                stack.close();
            }
            stack.close();
            assert!(!stack.in_object());
        }
    }

    #[test]
    fn ends_at_the_limit() {
        let mut stack = ContainerStack::new();
        let mut depth = 0;
        while stack.open(true) {
            depth += 1;
        }
        assert_eq!(depth, DEPTH_LIMIT);
        assert!(stack.outer.capacity() * 8 <= 128 * 1024);
        stack.clear();
        assert_eq!(stack.depth(), 0);
        assert!(stack.open(false));
        assert!(!stack.in_object());
    }
}
