//! Input and output: files, pipes, signals, threads.

pub mod follow;
pub mod hold;
pub mod line_chunks;
pub mod output;
pub mod paths;
pub mod pump;
pub mod reader;
pub mod signals;
pub mod spool;
pub mod worker;
