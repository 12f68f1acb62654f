//! KV pages: the keys and values of 64 positions of one layer, in half precision.

use half::f16;

/// Positions in one page.
pub const KV_PAGE_TOKENS: usize = 64;

/// Shape of one layer's keys and values.
///
/// A page is `f16 keys[kv_heads][64][key_dim]`, then `f16 values[kv_heads][64][value_dim]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KvLayout {
    /// KV heads.
    pub kv_heads: usize,
    /// Dimension of a key.
    pub key_dim: usize,
    /// Dimension of a value.
    pub value_dim: usize,
}

impl KvLayout {
    /// Bytes of one page.
    pub const fn page_bytes(&self) -> usize {
        KV_PAGE_TOKENS * self.kv_heads * (self.key_dim + self.value_dim) * size_of::<f16>()
    }

    /// First byte in the page of a head's keys.
    const fn keys(&self, head: usize) -> usize {
        head * KV_PAGE_TOKENS * self.key_dim * size_of::<f16>()
    }

    /// First byte in the page of a head's values.
    const fn values(&self, head: usize) -> usize {
        (self.kv_heads * self.key_dim + head * self.value_dim) * KV_PAGE_TOKENS * size_of::<f16>()
    }
}

/// One layer's pages, with the table that finds a position.
#[derive(Debug, Clone, Copy)]
pub struct KvView<'a> {
    /// The layer's pool of pages.
    pub pages: &'a [u8],
    /// Physical page of logical page `first_page + i`.
    pub table: &'a [u32],
    /// Logical page of the first entry; position `p` is in logical page `p / 64`.
    pub first_page: usize,
    /// Shape.
    pub layout: KvLayout,
}

impl<'a> KvView<'a> {
    /// Keys of `head` in logical page `page`: `[64][key_dim]` f16.
    pub(crate) fn keys(&self, page: usize, head: usize) -> &'a [u8] {
        let bytes = KV_PAGE_TOKENS * self.layout.key_dim * size_of::<f16>();
        &self.page(page)[self.layout.keys(head)..][..bytes]
    }

    /// Values of `head` in logical page `page`: `[64][value_dim]` f16.
    pub(crate) fn values(&self, page: usize, head: usize) -> &'a [u8] {
        let bytes = KV_PAGE_TOKENS * self.layout.value_dim * size_of::<f16>();
        &self.page(page)[self.layout.values(head)..][..bytes]
    }

    fn page(&self, page: usize) -> &'a [u8] {
        let bytes = self.layout.page_bytes();
        &self.pages[self.table[page - self.first_page] as usize * bytes..][..bytes]
    }
}

/// Writes the keys `[tokens, kv_heads, key_dim]` and values `[tokens, kv_heads, value_dim]` of the positions from
/// `first` into their pages. Parameters as in [`KvView`].
///
/// # Panics
/// When a position has no page, or a length does not fit.
pub fn kv_append(
    pages: &mut [u8],
    layout: KvLayout,
    table: &[u32],
    first_page: usize,
    first: usize,
    keys: &[f32],
    values: &[f32],
) {
    let (key_row, value_row) = (layout.kv_heads * layout.key_dim, layout.kv_heads * layout.value_dim);
    assert!(keys.len().is_multiple_of(key_row), "{} keys of {key_row}", keys.len());
    assert_eq!(keys.len() / key_row * value_row, values.len(), "values of {} tokens", keys.len() / key_row);
    for (token, (keys, values)) in keys.chunks_exact(key_row).zip(values.chunks_exact(value_row)).enumerate() {
        let position = first + token;
        let physical = table[position / KV_PAGE_TOKENS - first_page] as usize;
        let page = &mut pages[physical * layout.page_bytes()..][..layout.page_bytes()];
        let slot = position % KV_PAGE_TOKENS;
        for (head, key) in keys.chunks_exact(layout.key_dim).enumerate() {
            to_half(key, &mut page[layout.keys(head) + slot * layout.key_dim * size_of::<f16>()..]);
        }
        for (head, value) in values.chunks_exact(layout.value_dim).enumerate() {
            to_half(value, &mut page[layout.values(head) + slot * layout.value_dim * size_of::<f16>()..]);
        }
    }
}

/// Rounds to half precision, ties to even.
fn to_half(from: &[f32], to: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if crate::Level::detected() >= crate::Level::Avx2 {
        // SAFETY: the level says that the instructions exist; the function checks the lengths.
        return unsafe { crate::cpu::avx2::to_half(from, &mut to[..2 * from.len()]) };
    }
    for (from, to) in from.iter().zip(to.chunks_exact_mut(2)) {
        to.copy_from_slice(&f16::from_f32(*from).to_le_bytes());
    }
}

#[cfg(test)]
mod tests;
