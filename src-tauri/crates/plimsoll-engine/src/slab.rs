//! The one allocation of a device: every weight, KV page and workspace byte lies in it, at the plan's offsets.
#![allow(unsafe_code, reason = "the slab is the engine's only owner of raw memory; see the SAFETY comments")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use plimsoll_plan::Bytes;

use crate::error::ModelError;

/// Alignment of the slab: one page, so that segments can be paged and locked on their own.
const SLAB_ALIGNMENT: usize = 4096;

/// One zeroed, page-aligned allocation, touched page by page so that what it promises exists.
pub(crate) struct Slab {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the slab owns its memory and has no interior mutability; access goes through `&mut self`.
unsafe impl Send for Slab {}

impl Slab {
    /// Takes `size` bytes from the system and touches every page.
    pub(crate) fn allocate(size: Bytes) -> Result<Self, ModelError> {
        let refused = || ModelError::OutOfMemory { needed: size };
        let bytes = usize::try_from(size.0).map_err(|_| refused())?.max(1);
        let layout = Layout::from_size_align(bytes, SLAB_ALIGNMENT).map_err(|_| refused())?;
        // SAFETY: the layout's size is at least 1.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(refused)?;
        let mut slab = Self { start, layout };
        slab.touch();
        Ok(slab)
    }

    /// Bytes taken.
    pub(crate) fn size(&self) -> Bytes {
        Bytes(self.layout.size() as u64)
    }

    /// The whole slab.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `start` points to `layout.size()` initialised (zeroed) bytes owned by this slab, and the
        // exclusive borrow of `self` makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }

    /// Writes one byte of each page: memory that was only promised would fail later, in the middle of an answer.
    fn touch(&mut self) {
        for page in self.bytes().chunks_mut(SLAB_ALIGNMENT) {
            if let Some(byte) = page.first_mut() {
                // SAFETY: `byte` is a valid exclusive reference. The write is volatile so that the compiler does
                // not drop a store of the zero that is known to be there.
                unsafe { std::ptr::write_volatile(byte, 0) };
            }
        }
    }
}

/// A region as the sampler's candidates; `None` when its start or length does not fit.
pub(crate) fn as_candidates(region: &mut [u8]) -> Option<&mut [(u32, f32)]> {
    // Without padding, every byte of a pair belongs to a number, whatever the order of the two.
    const { assert!(size_of::<(u32, f32)>() == 8) };
    // SAFETY: the pair has no padding and every bit pattern is a u32 and an f32, so initialised bytes are valid
    // pairs and pairs are initialised bytes. `align_to_mut` keeps length and alignment.
    let (before, pairs, after) = unsafe { region.align_to_mut() };
    (before.is_empty() && after.is_empty()).then_some(pairs)
}

impl Drop for Slab {
    fn drop(&mut self) {
        // SAFETY: allocated in `allocate` with this very layout, freed once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
