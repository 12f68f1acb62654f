//! Integration tests, oracles, fixtures, snapshots and the real window.
