//! Products of every type: one token (bytes of weights per second) and 64 and 512 tokens (multiplications per second).
//!
//! Run with `cargo bench -p plimsoll-kernels --profile dev --bench matmul`. `PLIMSOLL_THREADS` sets the threads
//! (default 2), `PLIMSOLL_LEVEL` one of scalar, avx2, avx512.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "benchmark"
)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use plimsoll_kernels::{
    Input, Level, Matrix, Pool, Product, WeightType, activation_bytes, matmul, matmul_scratch_per_thread,
    quantize_activations,
};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// Columns; rows are chosen so that the weights do not fit in any cache.
const COLS: usize = 2048;

/// Bytes of weights in a decode benchmark.
const WEIGHT_BYTES: usize = 128 << 20;

/// Rows in a prefill benchmark.
const PREFILL_ROWS: usize = 2048;

fn pool() -> Pool {
    let threads = std::env::var("PLIMSOLL_THREADS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let level = match std::env::var("PLIMSOLL_LEVEL").as_deref() {
        Ok("scalar") => Level::Scalar,
        Ok("avx2") => Level::Avx2,
        _ => Level::detected(),
    };
    Pool::with_level(threads, level).unwrap()
}

/// Packed bytes whose f16 scales are finite.
fn packed(bytes: usize) -> Vec<u8> {
    let mut rng = SmallRng::seed_from_u64(1);
    let mut packed = vec![0; bytes];
    rng.fill(&mut packed[..]);
    for byte in &mut packed {
        *byte &= 0x37;
    }
    packed
}

fn products(criterion: &mut Criterion) {
    let pool = pool();
    let data = packed(WEIGHT_BYTES + (64 << 20));
    let mut room = vec![0; pool.threads() * matmul_scratch_per_thread() + 64];
    // Aligned as in a slab.
    let start = room.as_ptr().align_offset(64);
    let scratch = &mut room[start..];
    for tokens in [1, 4, 64, 512] {
        let mut group = criterion.benchmark_group(format!("matmul/{tokens}"));
        for ty in WeightType::ALL {
            let row_bytes = ty.packed_bytes(8, COLS).unwrap() / 8;
            let rows = if tokens < 8 { WEIGHT_BYTES / row_bytes / 8 * 8 } else { PREFILL_ROWS };
            let bytes = ty.packed_bytes(rows, COLS).unwrap();
            let matrix = Matrix::new(ty, rows, COLS, &data[..bytes]).unwrap();
            let x: Vec<f32> = (0..tokens * COLS).map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0).collect();
            let mut q8 = vec![0; activation_bytes(tokens, COLS)];
            quantize_activations(&pool, &x, tokens, COLS, &mut q8);
            let mut out = vec![0.0; tokens * rows];
            group.throughput(match tokens {
                1 | 4 => Throughput::Bytes(bytes as u64),
                _ => Throughput::Elements((rows * COLS * tokens) as u64),
            });
            group.bench_function(BenchmarkId::from_parameter(ty.ggml_name()), |bencher| {
                bencher.iter(|| {
                    let input = if ty.accepts_q8() { Input::Q8(&q8) } else { Input::F32(&x) };
                    let product = Product { matrix, out: &mut out, accumulate: false };
                    matmul(&pool, input, tokens, &mut [product], scratch);
                    black_box(&out);
                });
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(1500))
        .without_plots();
    targets = products
}
criterion_main!(benches);
