//! While Codex runs: its process, its pipes, and where each byte of them goes.

pub mod outputs;
pub mod pipes;
pub mod progress_file;
pub mod ready;
pub mod session;
pub mod started;
pub mod stderr_sink;
pub mod stream;
pub mod supervise;
