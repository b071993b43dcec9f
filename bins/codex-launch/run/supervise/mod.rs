//! Running one program so that it, and everything it starts, ends when it should.
//!
//! `plan` decides and is pure; `run` acts and has no opinions. `child` starts, `tree` finds and signals.

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
