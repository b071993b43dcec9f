//! What touches the world: files, pipes, signals, child processes.

pub mod folder;
pub mod follow;
pub mod hold;
pub mod input;
pub mod intake;
pub mod output;
pub mod output_path;
pub mod place;
pub mod pump;
mod remove_tree;
mod room;
pub mod signals;
pub mod spool;
mod tail;
pub mod temp_names;
pub mod worker;
mod written;
