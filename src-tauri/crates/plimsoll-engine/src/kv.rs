//! Which tokens the KV pages hold, and which physical page holds which logical page.
//!
//! Global layers keep every page of the context. Window layers keep a ring: logical page `i` lies in physical page
//! `i % pages`, so a page lives until the ring comes round to it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_plan::{Bytes, MemoryPlan, PAGE_TOKENS};

/// Tokens in one page, as a size.
pub(crate) const PAGE: usize = PAGE_TOKENS as usize;

/// The tokens in the cache. Length and key are one value: the cache holds exactly the positions of `tokens`.
#[derive(Debug)]
pub(crate) struct CachedTokens {
    tokens: Vec<u32>,
    /// One past the highest position written since the last clear: what rings have overwritten depends on it.
    high: usize,
    /// The window classes: (window, physical pages).
    rings: Vec<(usize, usize)>,
}

impl CachedTokens {
    /// An empty cache with room for the plan's context; it never grows beyond.
    pub(crate) fn new(plan: &MemoryPlan) -> Self {
        let ring = |window: u32, pages: u32| Some((usize::try_from(window).ok()?, usize::try_from(pages).ok()?));
        let rings = plan.kv_classes.iter().filter_map(|class| ring(class.window?.0, class.pages)).collect();
        Self::with_rings(usize::try_from(plan.context.0).unwrap_or(0), rings)
    }

    fn with_rings(context: usize, rings: Vec<(usize, usize)>) -> Self {
        Self { tokens: Vec::with_capacity(context), high: 0, rings }
    }

    /// Bytes that the list of tokens takes.
    pub(crate) fn memory(&self) -> Bytes {
        Bytes((self.tokens.capacity() * size_of::<u32>()) as u64)
    }

    /// Tokens in the cache.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.tokens.clear();
        self.high = 0;
    }

    /// A step has committed `ids` behind what was there.
    pub(crate) fn commit(&mut self, ids: &[u32]) {
        let room = self.tokens.capacity().saturating_sub(self.tokens.len());
        debug_assert!(ids.len() <= room, "admission bounds the cache by the context");
        self.tokens.extend_from_slice(ids.get(..ids.len().min(room)).unwrap_or(ids));
        self.high = self.high.max(self.tokens.len());
    }

    /// How many leading tokens of `prompt` need not be computed again. At most `prompt.len() - 1`: the last token's
    /// logits are needed.
    pub(crate) fn reusable(&self, prompt: &[u32]) -> usize {
        let common = self.tokens.iter().zip(prompt).take_while(|(a, b)| a == b).count();
        let common = common.min(prompt.len().saturating_sub(1));
        let alive = self.rings.iter().all(|&(window, pages)| {
            // The first position that the next token sees must lie in a page that no later page has overwritten.
            let first_seen = (common + 1).saturating_sub(window);
            let newest = self.high.saturating_sub(1) / PAGE;
            first_seen / PAGE + pages > newest
        });
        if alive { common } else { 0 }
    }

    /// Keeps the first `len` tokens.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.tokens.truncate(len);
    }
}

/// Locks, also after a panic elsewhere: the values behind the engine's locks are whole at every point.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The logical pages that a run of tokens sees in one class of layers, written as physical page numbers.
///
/// Returns (first logical page, number of pages).
pub(crate) fn fill_page_table(
    table: &mut [u32],
    first_position: usize,
    tokens: usize,
    window: Option<usize>,
    pages: usize,
) -> (usize, usize) {
    let first_seen = window.map_or(0, |window| (first_position + 1).saturating_sub(window));
    let first_page = first_seen / PAGE;
    let last_page = (first_position + tokens).saturating_sub(1) / PAGE;
    let count = (last_page + 1 - first_page).min(table.len());
    for (index, entry) in table.iter_mut().take(count).enumerate() {
        *entry = u32::try_from((first_page + index) % pages.max(1)).unwrap_or(u32::MAX);
    }
    (first_page, count)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_last_prompt_token_is_always_computed() {
        let mut cache = CachedTokens::with_rings(64, Vec::new());
        cache.commit(&[1, 2, 3]);
        assert_eq!(cache.reusable(&[1, 2, 3]), 2, "an identical prompt still needs its last logits");
        assert_eq!(cache.reusable(&[1, 2, 3, 4]), 3, "a longer prompt reuses all that is there");
        assert_eq!(cache.reusable(&[1, 9]), 1, "a changed token ends the common prefix");
        assert_eq!(cache.reusable(&[]), 0, "an empty prompt reuses nothing");
    }

    proptest! {
        /// A model of the ring: which logical page each physical page holds. A reusable prefix must find every
        /// position that its window sees.
        #[test]
        fn a_reused_prefix_finds_every_page_it_sees(
            lengths in prop::collection::vec(1usize..900, 1..6), cut in 0usize..900, window in 1usize..300, chunk in 1usize..130,
        ) {
            let pages = (window - 1 + chunk).div_ceil(PAGE) + 1;
            let mut cache = CachedTokens::with_rings(8192, vec![(window, pages)]);
            let mut ring = vec![usize::MAX; pages];
            let mut prompt: Vec<u32> = Vec::new();
            for (round, length) in lengths.iter().enumerate() {
                // Each round: change the tail from `cut` on, as an edited or re-rendered turn does.
                prompt.truncate(cut.min(prompt.len()));
                let tag = u32::try_from(round).unwrap() + 1;
                prompt.extend(std::iter::repeat_n(tag, *length));
                let reused = cache.reusable(&prompt);
                prop_assert!(reused < prompt.len());
                let first_seen = (reused + 1).saturating_sub(window);
                for page in first_seen / PAGE..reused.div_ceil(PAGE) {
                    prop_assert_eq!(ring[page % pages], page, "page {} of a prefix of {}", page, reused);
                }
                if reused == 0 { cache.clear(); } else { cache.truncate(reused); }
                let mut at = reused;
                while at < prompt.len() {
                    let n = chunk.min(prompt.len() - at);
                    for page in at / PAGE..=(at + n - 1) / PAGE { ring[page % pages] = page; }
                    // Every position that the chunk's first token sees is still there after the chunk was written.
                    let first_seen = (at + 1).saturating_sub(window);
                    for page in first_seen / PAGE..=(at + n - 1) / PAGE {
                        prop_assert_eq!(ring[page % pages], page);
                    }
                    cache.commit(&prompt[at..at + n]);
                    at += n;
                }
            }
        }

        #[test]
        fn page_tables_name_existing_pages(first in 0usize..5000, tokens in 1usize..512, window in prop::option::of(1usize..700)) {
            let pages = window.map_or(100, |w| (w - 1 + 512usize).div_ceil(PAGE) + 1);
            let mut table = vec![u32::MAX; pages];
            let (first_page, count) = fill_page_table(&mut table, first, tokens, window, pages);
            let needed = (first + tokens - 1) / PAGE + 1 - first_page;
            prop_assert_eq!(count, needed, "no page is left out");
            prop_assert!(table[..count].iter().all(|&page| (page as usize) < pages));
        }
    }
}
