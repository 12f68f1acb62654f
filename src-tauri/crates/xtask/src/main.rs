//! Workspace automation: setup, run, test, bench, bundle.
fn main() {}
