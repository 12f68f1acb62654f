//! Machines laid out as files.

mod cpu;
mod machine;
mod memory;
mod planning;
