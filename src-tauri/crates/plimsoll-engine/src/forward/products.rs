//! Matrix products of the forward pass: quantizes the input once for all matrices that share it.

use plimsoll_kernels as kernels;
use plimsoll_kernels::{Input, Matrix, Pool, Product};

use super::internal;
use crate::error::EngineError;

/// (matrix, output `[n, rows]`, add to what is there).
pub(crate) type Job<'a, 's> = (&'a Matrix<'s>, &'a mut [f32], bool);

/// Multiplies `input` `[n, cols]` by every job's matrix.
///
/// Quantized matrices take int8 activations, 16- and 32-bit ones take the floats; where all agree, the jobs run
/// as one parallel region.
pub(crate) fn project<const JOBS: usize>(
    pool: &Pool,
    input: &[f32],
    n: usize,
    activations: &mut [u8],
    jobs: &mut [Job<'_, '_>; JOBS],
    scratch: &mut [u8],
) -> Result<(), EngineError> {
    let cols = input.len() / n.max(1);
    let quantized = jobs.iter().filter(|(matrix, _, _)| matrix.weight_type().accepts_q8()).count();
    let mut q8: &[u8] = &[];
    if quantized > 0 {
        let needed = kernels::activation_bytes(n, cols);
        let buffer = activations.get_mut(..needed).ok_or_else(|| internal("the activations region is too small"))?;
        kernels::quantize_activations(pool, input, n, cols, buffer);
        q8 = buffer;
    }
    if quantized == JOBS || quantized == 0 {
        let source = if quantized == 0 { Input::F32(input) } else { Input::Q8(q8) };
        let mut products =
            jobs.each_mut().map(|(matrix, out, accumulate)| Product { matrix: **matrix, out, accumulate: *accumulate });
        kernels::matmul(pool, source, n, &mut products, scratch);
        return Ok(());
    }
    for (matrix, out, accumulate) in jobs {
        let source = if matrix.weight_type().accepts_q8() { Input::Q8(q8) } else { Input::F32(input) };
        let mut product = [Product { matrix: **matrix, out, accumulate: *accumulate }];
        kernels::matmul(pool, source, n, &mut product, scratch);
    }
    Ok(())
}
