//! Supervises one program: ends it and everything it starts, at a limit, on a signal or when its work is done.
//!
//! `plan` decides and is pure, and `run` acts. `child` starts the program, `tree` finds its descendants and signals them.

mod child;
mod plan;
mod pulse;
mod run;
mod tree;

pub use self::child::{Child, Pipes, Spec};
pub use self::plan::{Cut, Ended, Leftovers, Limits};
pub use self::pulse::Pulse;
pub use self::run::{Over, run, take_over};
pub use self::tree::{Descendant, Tree};
pub use common::sys::process::Exit;
