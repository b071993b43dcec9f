//! What is computed from a stream: no I/O, no clock, no threads.

pub mod line;
pub mod scan;
