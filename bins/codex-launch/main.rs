//! One supervised run.

fn main() {}
