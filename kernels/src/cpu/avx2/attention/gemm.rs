//! Small f32 matrix product.

use std::arch::x86_64::{
    _mm256_add_ps, _mm256_broadcast_ss, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_setzero_ps, _mm256_storeu_ps,
};

/// Rows of a register block.
const BLOCK_ROWS: usize = 6;

/// `c[i][j] = (c[i][j] +) sum over l of a[i][l] * b[l][j]`, for `i < m`, `j < n`, `l < k`; all row-major, with `lda`
/// and so on elements from row to row. `n` is a multiple of 16.
///
/// # Panics
/// When a slice is too short or `n` is not a multiple of 16.
#[target_feature(enable = "avx2,fma")]
#[expect(clippy::too_many_arguments, reason = "the usual arguments of a matrix product")]
pub(crate) fn gemm(
    a: &[f32],
    lda: usize,
    b: &[f32],
    ldb: usize,
    c: &mut [f32],
    ldc: usize,
    m: usize,
    n: usize,
    k: usize,
    add: bool,
) {
    assert!(n.is_multiple_of(16) && n <= ldb && n <= ldc && k <= lda);
    if m == 0 || n == 0 {
        return;
    }
    assert!(a.len() >= (m - 1) * lda + k && c.len() >= (m - 1) * ldc + n);
    assert!(k == 0 || b.len() >= (k - 1) * ldb + n);
    for row in (0..m).step_by(BLOCK_ROWS) {
        let (a, c) = (&a[row * lda..], &mut c[row * ldc..]);
        for column in (0..n).step_by(16) {
            // SAFETY: the block's rows, columns and depth are within the slices, by the assertions.
            unsafe {
                let b = b.as_ptr().add(column);
                let c = c.as_mut_ptr().add(column);
                match BLOCK_ROWS.min(m - row) {
                    1 => block::<1>(a.as_ptr(), lda, b, ldb, c, ldc, k, add),
                    2 => block::<2>(a.as_ptr(), lda, b, ldb, c, ldc, k, add),
                    3 => block::<3>(a.as_ptr(), lda, b, ldb, c, ldc, k, add),
                    4 => block::<4>(a.as_ptr(), lda, b, ldb, c, ldc, k, add),
                    5 => block::<5>(a.as_ptr(), lda, b, ldb, c, ldc, k, add),
                    _ => block::<BLOCK_ROWS>(a.as_ptr(), lda, b, ldb, c, ldc, k, add),
                }
            }
        }
    }
}

/// `M` rows x 16 columns.
#[inline]
#[target_feature(enable = "avx2,fma")]
#[expect(clippy::too_many_arguments, reason = "as above")]
unsafe fn block<const M: usize>(
    a: *const f32,
    lda: usize,
    b: *const f32,
    ldb: usize,
    c: *mut f32,
    ldc: usize,
    k: usize,
    add: bool,
) {
    // SAFETY: by the caller.
    unsafe {
        let mut sums = [[_mm256_setzero_ps(); 2]; M];
        for l in 0..k {
            let columns = [_mm256_loadu_ps(b.add(l * ldb)), _mm256_loadu_ps(b.add(l * ldb + 8))];
            for i in 0..M {
                let value = _mm256_broadcast_ss(&*a.add(i * lda + l));
                sums[i][0] = _mm256_fmadd_ps(value, columns[0], sums[i][0]);
                sums[i][1] = _mm256_fmadd_ps(value, columns[1], sums[i][1]);
            }
        }
        for i in 0..M {
            for half in 0..2 {
                let at = c.add(i * ldc + 8 * half);
                let sum = if add { _mm256_add_ps(sums[i][half], _mm256_loadu_ps(at)) } else { sums[i][half] };
                _mm256_storeu_ps(at, sum);
            }
        }
    }
}
