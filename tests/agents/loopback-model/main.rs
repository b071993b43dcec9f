//! Stand-in.

fn main() {}
