//! Detects the processor, the memory and what of it is free, behind trait Probe; fakes for tests.
