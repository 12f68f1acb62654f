//! The contract between page and backend: commands, DTOs, events, error codes.
