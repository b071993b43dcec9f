//! Running one program so that it, and everything it starts, ends when it should.
//!
//! `plan` decides and is pure; `run` acts and has no opinions. `child` starts, `tree` finds and signals.

mod child;
mod plan;
mod run;
mod tree;

pub use self::child::{Child, Pipes, Spec};
pub use self::plan::{Cut, Ended, Limits};
pub use self::run::{run, take_over};
pub use self::tree::Tree;
pub use crate::sys::process::Exit;
