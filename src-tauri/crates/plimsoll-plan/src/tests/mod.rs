//! Tests of the planner. `fixtures` has real model shapes, `formula` a second, independent computation.

mod admission;
mod explicit;
mod fixtures;
mod formula;
mod golden;
mod properties;
mod snapshots;
