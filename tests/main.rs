//! The tests, by what they are about.

mod harness;
