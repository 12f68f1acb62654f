//! A mutable slice that the tasks of a parallel region write to, each its own part.

use std::marker::PhantomData;

/// A `&mut [T]` from which tasks take parts that do not overlap.
pub(crate) struct SharedMut<'a, T> {
    start: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

impl<T> Clone for SharedMut<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedMut<'_, T> {}

// SAFETY: as `&mut [T]` handed to several threads in disjoint parts, which `slice` asks of its callers.
unsafe impl<T: Send> Sync for SharedMut<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for SharedMut<'_, T> {}

impl<'a, T> SharedMut<'a, T> {
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), len: slice.len(), slice: PhantomData }
    }

    /// `len` elements from `first`.
    ///
    /// # Safety
    /// Parts in use at the same time must not overlap.
    pub(crate) unsafe fn slice(&self, first: usize, len: usize) -> &'a mut [T] {
        assert!(first <= self.len && len <= self.len - first, "{first} + {len} of {}", self.len);
        // SAFETY: in bounds by the assertion, unaliased by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(first), len) }
    }
}
