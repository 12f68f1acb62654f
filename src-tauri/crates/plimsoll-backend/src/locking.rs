//! Locks that outlive a panic elsewhere.
//!
//! Order, outermost first: loads, generations, model slot, conversation, settings. No lock is held over an await
//! point; nothing slower than a channel send happens under any but the first.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. Every value behind a lock here is whole between two statements, so a poisoned lock holds a good value.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
