//! The program `orca`.
fn main() {}
