//! Pure memory planning: model shape, device memory and settings become a MemoryPlan. No I/O, no async, no clock.
