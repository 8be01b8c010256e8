//! The orthant program.
fn main() {}
