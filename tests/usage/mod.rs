//! `usage-diff`, by what it is asked to get right.

mod cases;
mod many;
mod streams;
