//! Matrix products: packed weights times activations.
//!
//! Several products that share their input run as one parallel region. With few tokens (decode) a product reads each
//! weight once, straight from its panel; with many (prefill) each thread first expands a block of weights into its
//! scratch and uses it for all tokens.

mod floats;
mod quantized;
mod tasks;

use crate::activations::Activations;
use crate::matrix::Matrix;
use crate::pool::Pool;
use crate::shared::SharedMut;
use tasks::TaskList;

/// What the weights are multiplied by.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// Int8 activations from [`crate::quantize_activations`], for types that accept them
    /// ([`crate::WeightType::accepts_q8`]).
    Q8(&'a [u8]),
    /// `[tokens, cols]`, for the other types.
    F32(&'a [f32]),
}

/// One matrix of a region and where its result goes.
#[derive(Debug)]
pub struct Product<'a> {
    /// `[rows, cols]`.
    pub matrix: Matrix<'a>,
    /// `[tokens, rows]`, row-major.
    pub out: &'a mut [f32],
    /// Add to what `out` holds (a residual), instead of overwriting it.
    pub accumulate: bool,
}

/// Scratch of one thread in [`matmul`], in bytes. A multiple of 64.
pub const fn matmul_scratch_per_thread() -> usize {
    quantized::SCRATCH
}

/// `out[t][r] (+)= sum over c of matrix[r][c] * input[t][c]`, for every product.
///
/// `scratch` holds [`matmul_scratch_per_thread`] bytes for each thread of the pool; starting at a multiple of 64 it is
/// up to a third faster. Nothing is allocated.
///
/// # Panics
/// When a length does not fit, or the input is of the wrong kind for a matrix.
pub fn matmul(pool: &Pool, input: Input<'_>, tokens: usize, products: &mut [Product<'_>], scratch: &mut [u8]) {
    if tokens == 0 {
        return;
    }
    assert!(scratch.len() >= pool.threads() * matmul_scratch_per_thread(), "{} bytes of scratch", scratch.len());
    for product in &*products {
        let matrix = &product.matrix;
        assert_eq!(product.out.len(), tokens * matrix.rows(), "{tokens} tokens, {} rows", matrix.rows());
        let (kind, len) = match input {
            Input::Q8(bytes) => (true, bytes.len() == crate::activation_bytes(tokens, matrix.cols())),
            Input::F32(x) => (false, x.len() == tokens * matrix.cols()),
        };
        assert!(
            kind == matrix.weight_type().accepts_q8() && len,
            "input of {:?} {tokens} x {}",
            matrix.weight_type(),
            matrix.cols()
        );
    }
    let scratch = SharedMut::new(scratch);
    let planes = match input {
        Input::Q8(_) => crate::activations::PLANES,
        Input::F32(_) => 1,
    };
    let tasks = TaskList::new(pool, tokens, planes, products);
    pool.run(tasks.len(), &|task, worker| {
        let task = tasks.task(task);
        // SAFETY: a worker runs one task at a time.
        let scratch = unsafe { scratch.slice(worker * matmul_scratch_per_thread(), matmul_scratch_per_thread()) };
        match input {
            Input::Q8(bytes) => {
                let activations = Activations::new(bytes, tokens, task.product.matrix.cols());
                quantized::run(pool.level(), &task, &activations, scratch);
            }
            Input::F32(x) => floats::run(pool.level(), &task, x),
        }
    });
}

#[cfg(test)]
mod tests;
