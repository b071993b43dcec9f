//! What touches the world: files, pipes, signals, child processes.

pub mod backlog;
pub mod environment;
pub mod fanout;
mod folder;
pub mod follow;
pub mod halves;
pub mod hold;
pub mod input;
pub mod intake;
pub mod mount_points;
pub mod output;
pub mod output_path;
pub mod place;
pub mod program;
pub mod pump;
mod remove_tree;
mod room;
pub mod signals;
pub mod spool;
pub mod supervise;
mod tail;
pub mod temp_folder;
pub mod temp_names;
pub mod worker;
mod written;
