//! Following files that grow, from before they are there.
//!
//! The kernel's notices are a hint and polling is the truth: whatever wakes it, what a file has become is decided
//! from what was had of it and what stat says now. No descriptor is held between two looks, so the number of files
//! has no limit but memory.

mod cursor;
mod file;
mod set;
mod wake;

pub use cursor::Change;
pub use file::{FileChange, OpenFile};
pub use set::{Pace, Set};
