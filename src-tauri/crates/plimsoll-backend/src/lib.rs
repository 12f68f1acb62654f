//! Composition of plan, device, chat and engine: one async method per command. Knows no host.
