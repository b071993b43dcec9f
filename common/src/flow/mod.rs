//! What is computed from a stream: no I/O, no clock, no threads.

pub mod line;
pub mod scan;
pub mod stream;

pub mod number;

pub mod event;

pub mod cause;
pub mod sentinel;

pub mod usage;

pub mod record;
