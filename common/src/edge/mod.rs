//! What touches the world: files, pipes, signals, child processes.

pub mod folder;
pub mod follow;
pub mod hold;
pub mod line_chunks;
pub mod output;
pub mod output_path;
pub mod paths;
pub mod pump;
pub mod reader;
mod remove_tree;
mod reserve;
pub mod signals;
pub mod spool;
mod tail;
pub mod temp_names;
pub mod worker;
mod written;
