//! Cuts the products of a region into tasks: blocks of panels, and blocks of tokens where panels are few.

use std::ops::Range;

use super::Product;
use crate::activations::TILE;
use crate::matrix::Matrix;
use crate::pool::Pool;
use crate::shared::SharedMut;
use crate::weight_type::PANEL_ROWS;

/// Most products in one region.
const MOST_PRODUCTS: usize = 8;

/// Panels of a task in prefill: what the scratch holds expanded.
pub(super) const BLOCK_PANELS: usize = 4;

/// Weight bytes of a task in decode: long enough that taking it costs nothing.
const DECODE_BYTES: usize = 12 << 10;

/// Tasks per thread, so that threads of different speed end together.
const TASKS_PER_THREAD: usize = 4;

/// Activation rows below which expanding weights does not pay: they go through the decode kernels.
pub(super) const PREFILL_ROWS: usize = 16;

/// Fewest rows in a block of rows: expanding the weights again for each block must stay cheap.
const BLOCK_ROWS: usize = 64;

/// A product as tasks see it.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) matrix: Matrix<'a>,
    pub(super) out: Out<'a>,
    pub(super) accumulate: bool,
    /// Panels of a task.
    panels: usize,
    /// Activation rows of a task.
    tokens: usize,
    /// Activation rows of a token; their products add up.
    planes: usize,
    /// Number of the first task behind this product.
    end: usize,
}

/// One task.
pub(super) struct Task<'t, 'a> {
    pub(super) product: &'t Part<'a>,
    pub(super) panels: Range<usize>,
    pub(super) tokens: Range<usize>,
}

/// The output of a product, shared by tasks that write different rows or tokens of it.
#[derive(Clone, Copy)]
pub(super) struct Out<'a> {
    values: SharedMut<'a, f32>,
    rows: usize,
}

impl Out<'_> {
    /// Where `rows` of `token` go.
    ///
    /// # Safety
    /// No two tasks may use the same place.
    #[expect(clippy::mut_from_ref, reason = "the caller keeps tasks apart")]
    pub(super) unsafe fn rows(&self, token: usize, rows: Range<usize>) -> &mut [f32] {
        // SAFETY: by the caller.
        unsafe { self.values.slice(token * self.rows + rows.start, rows.len()) }
    }
}

/// The tasks of a region.
pub(super) struct TaskList<'a> {
    parts: [Option<Part<'a>>; MOST_PRODUCTS],
    all_tokens: usize,
    len: usize,
}

impl<'a> TaskList<'a> {
    /// `planes` is the number of activation rows of one token.
    pub(super) fn new(pool: &Pool, tokens: usize, planes: usize, products: &'a mut [Product<'_>]) -> Self {
        let tokens = tokens * planes;
        assert!(products.len() <= MOST_PRODUCTS, "{} products in one region", products.len());
        let all_panels: usize = products.iter().map(|product| product.matrix.panels()).sum();
        let wanted = TASKS_PER_THREAD * pool.threads();
        let mut parts = [None; MOST_PRODUCTS];
        let mut end = 0;
        for (product, part) in products.iter_mut().zip(&mut parts) {
            let matrix = product.matrix;
            let panel_bytes = (matrix.data().len() / matrix.panels()).max(1);
            let (panels, block) = if tokens < PREFILL_ROWS {
                let large_enough = DECODE_BYTES.div_ceil(panel_bytes);
                (large_enough.max(all_panels / (wanted * 2)).max(1), tokens)
            } else {
                let row_blocks = all_panels.div_ceil(BLOCK_PANELS);
                let token_blocks = wanted.div_ceil(row_blocks).min(tokens / BLOCK_ROWS).max(1);
                (BLOCK_PANELS, tokens.div_ceil(token_blocks).next_multiple_of(3 * TILE))
            };
            end += matrix.panels().div_ceil(panels) * tokens.div_ceil(block);
            let out = Out { values: SharedMut::new(product.out), rows: matrix.rows() };
            *part = Some(Part { matrix, out, accumulate: product.accumulate, panels, tokens: block, planes, end });
        }
        Self { parts, all_tokens: tokens, len: end }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn task(&self, task: usize) -> Task<'_, 'a> {
        let mut first = 0;
        for product in self.parts.iter().flatten() {
            if task < product.end {
                let index = task - first;
                let token_blocks = self.all_tokens.div_ceil(product.tokens);
                let panel = index / token_blocks * product.panels;
                let token = index % token_blocks * product.tokens;
                return Task {
                    product,
                    panels: panel..product.matrix.panels().min(panel + product.panels),
                    tokens: token..self.all_tokens.min(token + product.tokens),
                };
            }
            first = product.end;
        }
        unreachable!("task {task} of {}", self.len)
    }
}

impl Task<'_, '_> {
    /// Writes `N` rows of the matrix from `panel` on, as far as the task has them, or adds them: for each token from
    /// activation row `row` on, the sum of its rows of `sums`.
    pub(super) fn store<const N: usize>(&self, panel: usize, row: usize, sums: &[[f32; N]], accumulate: bool) {
        let planes = self.product.planes;
        let first = panel * PANEL_ROWS;
        let last = self.product.matrix.rows().min(self.panels.end * PANEL_ROWS).min(first + N);
        for (token, sums) in (row / planes..).zip(sums.chunks_exact(planes)) {
            let mut values = sums[0];
            for plane in &sums[1..] {
                for (value, plane) in values.iter_mut().zip(plane) {
                    *value += plane;
                }
            }
            // SAFETY: tasks of a region differ in panels or tokens.
            let out = unsafe { self.product.out.rows(token, first..last) };
            if accumulate {
                for (out, value) in out.iter_mut().zip(values) {
                    *out += value;
                }
            } else {
                out.copy_from_slice(&values[..last - first]);
            }
        }
    }
}
