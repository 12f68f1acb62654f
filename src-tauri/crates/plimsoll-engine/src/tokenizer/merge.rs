//! Merging of neighbouring symbols, best pair first: what both tokenizer families share.
//!
//! A doubly linked list of symbols and a heap of candidate pairs: O(n log n) for n characters, whatever the text is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No neighbour, or no token.
pub(super) const NONE: u32 = u32::MAX;

/// A run of bytes of the text that is one symbol now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Symbol {
    /// Token of these bytes, or [`NONE`].
    pub(super) id: u32,
    pub(super) start: u32,
    /// Zero once the symbol is part of the one before.
    pub(super) len: u32,
    previous: u32,
    next: u32,
}

/// What two neighbours would become, and how soon: the smallest rank is merged first, then the leftmost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Merged {
    pub(super) rank: u32,
    pub(super) id: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    rank: u32,
    left: u32,
    right: u32,
    /// Bytes of both when this was found: different now means that one of them has changed.
    len: u32,
    id: u32,
}

/// Working memory, kept between words.
#[derive(Debug, Default)]
pub(super) struct Merger {
    symbols: Vec<Symbol>,
    heap: BinaryHeap<Reverse<Candidate>>,
}

impl Merger {
    /// Starts a new word.
    pub(super) fn clear(&mut self) {
        self.symbols.clear();
        self.heap.clear();
    }

    /// Appends a symbol of `len` bytes after the last one.
    pub(super) fn push(&mut self, id: u32, len: u32) {
        let index = u32::try_from(self.symbols.len()).unwrap_or(NONE);
        let (previous, start) = match self.symbols.last_mut() {
            Some(last) => {
                last.next = index;
                (index.wrapping_sub(1), last.start.saturating_add(last.len))
            }
            None => (NONE, 0),
        };
        self.symbols.push(Symbol { id, start, len, previous, next: NONE });
    }

    /// Merges until no pair is left that `merge_of` knows.
    pub(super) fn run(&mut self, merge_of: impl Fn(Symbol, Symbol) -> Option<Merged>) {
        let pairs = self.symbols.iter().zip(self.symbols.iter().skip(1)).zip(0_u32..);
        let first = pairs.filter_map(|((left, right), index)| {
            let merged = merge_of(*left, *right)?;
            Some(Reverse(candidate(merged, index, left, right)))
        });
        self.heap.extend(first);
        while let Some(Reverse(best)) = self.heap.pop() {
            if let Some((left, right)) = self.current(&best) {
                self.merge(best, left, right, &merge_of);
            }
        }
    }

    /// The symbols that are left, in order.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Symbol> {
        self.symbols.iter().copied().filter(|symbol| symbol.len > 0)
    }

    fn get(&self, index: u32) -> Option<Symbol> {
        self.symbols.get(index as usize).copied()
    }

    /// Both symbols of a candidate, if neither was merged since.
    fn current(&self, candidate: &Candidate) -> Option<(Symbol, Symbol)> {
        let (left, right) = (self.get(candidate.left)?, self.get(candidate.right)?);
        let fresh = left.len > 0 && right.len > 0 && left.len.saturating_add(right.len) == candidate.len;
        fresh.then_some((left, right))
    }

    fn merge(
        &mut self,
        best: Candidate,
        left: Symbol,
        right: Symbol,
        merge_of: &impl Fn(Symbol, Symbol) -> Option<Merged>,
    ) {
        let whole = Symbol { id: best.id, len: best.len, next: right.next, ..left };
        if let Some(slot) = self.symbols.get_mut(best.left as usize) {
            *slot = whole;
        }
        if let Some(slot) = self.symbols.get_mut(best.right as usize) {
            slot.len = 0;
        }
        if let Some(after) = self.symbols.get_mut(right.next as usize) {
            after.previous = best.left;
            let after = *after;
            if let Some(merged) = merge_of(whole, after) {
                self.heap
                    .push(Reverse(Candidate { right: right.next, ..candidate(merged, best.left, &whole, &after) }));
            }
        }
        if let Some(before) = self.get(left.previous)
            && let Some(merged) = merge_of(before, whole)
        {
            self.heap
                .push(Reverse(Candidate { right: best.left, ..candidate(merged, left.previous, &before, &whole) }));
        }
    }
}

fn candidate(merged: Merged, left_index: u32, left: &Symbol, right: &Symbol) -> Candidate {
    let len = left.len.saturating_add(right.len);
    Candidate { rank: merged.rank, left: left_index, right: left_index.wrapping_add(1), len, id: merged.id }
}
