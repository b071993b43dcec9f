//! While Codex runs: its process, its pipes, and where each byte of them goes.

pub mod outputs;
pub mod pipes;
pub mod session;
pub mod stderr_sink;
pub mod stream;
pub mod supervise;
