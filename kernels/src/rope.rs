//! Rotary position embedding.

/// Cosines and sines for `tokens` positions from `first`, as `[tokens][cos[dim / 2], sin[dim / 2]]`.
///
/// Pair `i` turns by `position * scale * base^(-2i / dim) / factors[i]`; `scale` is below 1 where a context was
/// stretched linearly, `factors` is empty or holds `dim / 2` values. Computed in f64: positions may be large.
///
/// # Panics
/// When `out` is not `tokens * dim` long or `factors` has another length.
pub fn rope_table(first: usize, tokens: usize, dim: usize, base: f32, scale: f32, factors: &[f32], out: &mut [f32]) {
    let pairs = dim / 2;
    assert!(out.len() == tokens * dim && dim.is_multiple_of(2), "{} for {tokens} x {dim}", out.len());
    assert!(factors.is_empty() || factors.len() == pairs, "{} factors for {pairs} pairs", factors.len());
    for pair in 0..pairs {
        let factor = factors.get(pair).map_or(1.0, |&factor| f64::from(factor));
        let frequency = f64::from(base).powf(-2.0 * pair as f64 / dim as f64) * f64::from(scale) / factor;
        for token in 0..tokens {
            let (sin, cos) = ((first + token) as f64 * frequency).sin_cos();
            out[token * dim + pair] = cos as f32;
            out[token * dim + pairs + pair] = sin as f32;
        }
    }
}

/// Turns pairs `(2i, 2i + 1)` of the first `dim` values of every head of `x` `[tokens, heads, head_dim]`.
///
/// # Panics
/// When `x` is not whole tokens or `table` has fewer of them.
pub fn rope_interleaved(x: &mut [f32], heads: usize, head_dim: usize, dim: usize, table: &[f32]) {
    each_head(x, heads, head_dim, dim, table, |head, cos, sin| {
        for ((pair, cos), sin) in head.chunks_exact_mut(2).zip(cos).zip(sin) {
            let (a, b) = (pair[0], pair[1]);
            pair[0] = a * cos - b * sin;
            pair[1] = a * sin + b * cos;
        }
    });
}

/// Turns pairs `(i, dim / 2 + i)` of the first `dim` values of every head of `x` `[tokens, heads, head_dim]`.
///
/// # Panics
/// As [`rope_interleaved`].
pub fn rope_halves(x: &mut [f32], heads: usize, head_dim: usize, dim: usize, table: &[f32]) {
    each_head(x, heads, head_dim, dim, table, |head, cos, sin| {
        let (low, high) = head.split_at_mut(cos.len());
        for (((a, b), cos), sin) in low.iter_mut().zip(high).zip(cos).zip(sin) {
            (*a, *b) = (*a * cos - *b * sin, *a * sin + *b * cos);
        }
    });
}

/// Calls `turn(first dim values, cosines, sines)` for every head.
fn each_head(
    x: &mut [f32],
    heads: usize,
    head_dim: usize,
    dim: usize,
    table: &[f32],
    turn: impl Fn(&mut [f32], &[f32], &[f32]),
) {
    let width = heads * head_dim;
    assert!(x.len().is_multiple_of(width) && dim <= head_dim, "{} of {heads} x {head_dim}", x.len());
    assert!(table.len() >= x.len() / width * dim, "a table of {} for {} tokens", table.len(), x.len() / width);
    for (token, table) in x.chunks_exact_mut(width).zip(table.chunks_exact(dim)) {
        let (cos, sin) = table.split_at(dim / 2);
        for head in token.chunks_exact_mut(head_dim) {
            turn(&mut head[..dim], cos, sin);
        }
    }
}

#[cfg(test)]
mod tests;
