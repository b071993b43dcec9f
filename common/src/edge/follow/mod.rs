//! Follows files that grow, and that need not exist yet.
//!
//! A notice of the kernel only says when to look. What a file has become is decided from how far it was read and what stat(2)
//! says now, as with polling. No descriptor is held between two looks, so only memory limits the number of files.

mod cursor;
mod file;
mod set;
mod wake;

pub use cursor::Change;
pub use file::{FileChange, OpenFile};
pub use set::{Pace, Set};
