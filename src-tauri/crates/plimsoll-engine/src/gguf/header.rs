//! Reads a header piece by piece into one buffer, never further than the file is long.

use std::io::Read;

use super::MAX_HEADER_BYTES;
use super::error::GgufError;

/// First read; most metadata of a small model fits.
const FIRST_READ: usize = 64 << 10;

/// A range of the header buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    len: u32,
}

impl Span {
    /// The bytes of this range; empty if the range is outside the buffer.
    pub(super) fn of(self, buffer: &[u8]) -> &[u8] {
        let start = self.start as usize;
        start.checked_add(self.len as usize).and_then(|end| buffer.get(start..end)).unwrap_or_default()
    }
}

/// A cursor over the header. Every read is checked against the file's length first.
pub(super) struct HeaderReader<R> {
    source: R,
    file_len: u64,
    buffer: Vec<u8>,
    position: usize,
}

impl<R: Read> HeaderReader<R> {
    pub(super) fn new(source: R, file_len: u64) -> Self {
        Self { source, file_len, buffer: Vec::new(), position: 0 }
    }

    /// Bytes of the file after the cursor.
    fn remaining(&self) -> u64 {
        self.file_len.saturating_sub(self.position as u64)
    }

    /// The buffer, cut to what was parsed, and its length.
    pub(super) fn into_bytes(mut self) -> (Vec<u8>, u64) {
        self.buffer.truncate(self.position);
        self.buffer.shrink_to_fit();
        (self.buffer, self.position as u64)
    }

    /// Bytes of a range that was read before.
    pub(super) fn bytes(&self, span: Span) -> &[u8] {
        span.of(&self.buffer)
    }

    /// The range from the start of `span` to the cursor.
    pub(super) fn since(&self, span: Span) -> Span {
        // The cursor is below `MAX_HEADER_BYTES`, which fits 32 bits.
        let end = u32::try_from(self.position).unwrap_or(span.start);
        Span { start: span.start, len: end.saturating_sub(span.start) }
    }

    /// Advances over `needed` bytes of `field`.
    pub(super) fn skip(&mut self, needed: u64, field: impl Fn() -> String) -> Result<Span, GgufError> {
        let have = self.remaining();
        if needed > have {
            return Err(GgufError::Truncated { field: field(), needed, have });
        }
        // Cannot overflow: both are at most the file's length.
        let end = self.position as u64 + needed;
        let limit = usize::try_from(end.min(MAX_HEADER_BYTES)).unwrap_or(usize::MAX);
        if end > MAX_HEADER_BYTES {
            return Err(GgufError::HeaderTooLarge { needed: end });
        }
        if limit > self.buffer.len() {
            self.fill(limit)?;
        }
        if limit > self.buffer.len() {
            // The file is shorter than it was when its length was taken.
            let have = self.buffer.len().saturating_sub(self.position) as u64;
            return Err(GgufError::Truncated { field: field(), needed, have });
        }
        let (Ok(start), Ok(len)) = (u32::try_from(self.position), u32::try_from(needed)) else {
            return Err(GgufError::HeaderTooLarge { needed: end });
        };
        self.position = limit;
        Ok(Span { start, len })
    }

    /// Reads on until the buffer holds at least `wanted` bytes or the file ends. Doubles, so that a header of many small
    /// fields costs few reads, and stays below twice the header.
    fn fill(&mut self, wanted: usize) -> Result<(), GgufError> {
        let target = wanted.max(self.buffer.len().saturating_mul(2)).max(FIRST_READ);
        let target = usize::try_from(self.file_len).unwrap_or(usize::MAX).min(target);
        let missing = target.saturating_sub(self.buffer.len());
        self.buffer.reserve_exact(missing);
        self.source.by_ref().take(missing as u64).read_to_end(&mut self.buffer)?;
        Ok(())
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self, field: impl Fn() -> String) -> Result<[u8; N], GgufError> {
        let span = self.skip(N as u64, &field)?;
        let have = self.remaining();
        let truncated = || GgufError::Truncated { field: field(), needed: N as u64, have };
        self.bytes(span).first_chunk::<N>().copied().ok_or_else(truncated)
    }

    pub(super) fn u32(&mut self, field: impl Fn() -> String) -> Result<u32, GgufError> {
        self.array(field).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, field: impl Fn() -> String) -> Result<u64, GgufError> {
        self.array(field).map(u64::from_le_bytes)
    }

    /// A count of things of at least `smallest` bytes each: refused if the rest of the file cannot hold them.
    pub(super) fn count(&mut self, field: impl Fn() -> String, smallest: u64, most: u64) -> Result<u64, GgufError> {
        let count = self.u64(&field)?;
        let limit = self.remaining().checked_div(smallest).unwrap_or(0).min(most);
        if count > limit {
            return Err(GgufError::Count { field: field(), count, limit });
        }
        Ok(count)
    }

    /// A string: its length in 8 bytes, then its bytes.
    pub(super) fn string(&mut self, field: impl Fn() -> String) -> Result<Span, GgufError> {
        let len = self.u64(&field)?;
        self.skip(len, field)
    }
}
