//! While Codex runs: its process, its pipes, and where each byte of them goes.

pub mod aside;
pub mod outputs;
pub mod pipes;
pub mod session;
pub mod stream;
pub mod supervise;
