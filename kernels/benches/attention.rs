//! Attention of SmolLM2-135M, Gemma-3-270M and an 8B model: prefill of 512 tokens and one query, at several depths.
//!
//! Run with `cargo bench -p plimsoll-kernels --profile dev --bench attention`. `PLIMSOLL_THREADS` sets the threads
//! (default 2).
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    missing_docs,
    reason = "benchmark"
)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use plimsoll_kernels::{
    AttentionSpec, KV_PAGE_TOKENS, KvLayout, KvView, Pool, attention, attention_scratch_per_thread, kv_append,
};

/// (name, heads, KV heads, dimension).
const SHAPES: [(&str, usize, usize, usize); 3] =
    [("smollm2-135m", 9, 3, 64), ("gemma3-270m", 4, 1, 256), ("llama-8b", 32, 8, 128)];

/// (first position, tokens).
const STEPS: [(usize, usize); 4] = [(0, 512), (1536, 512), (511, 1), (4095, 1)];

const POSITIONS: usize = 4096;

fn values(len: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0).collect()
}

fn steps(criterion: &mut Criterion) {
    let threads = std::env::var("PLIMSOLL_THREADS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let pool = Pool::new(threads).unwrap();
    for (name, heads, kv_heads, dim) in SHAPES {
        let layout = KvLayout { kv_heads, key_dim: dim, value_dim: dim };
        let table: Vec<u32> = (0..(POSITIONS / KV_PAGE_TOKENS) as u32).collect();
        let mut pages = vec![0; table.len() * layout.page_bytes()];
        let rows = values(POSITIONS * kv_heads * dim);
        kv_append(&mut pages, layout, &table, 0, 0, &rows, &rows);
        let per_thread = attention_scratch_per_thread(heads / kv_heads, dim, dim);
        let mut scratch = vec![0_u64; threads * per_thread / 8];
        let mut group = criterion.benchmark_group(format!("attention/{name}"));
        for (first, tokens) in STEPS {
            let query = values(tokens * heads * dim);
            let mut out = vec![0.0; query.len()];
            let view = KvView { pages: &pages, table: &table, first_page: 0, layout };
            let spec =
                AttentionSpec { heads, first_position: first, tokens, window: None, scale: 0.125, softcap: None };
            let seen: usize = (0..tokens).map(|token| first + token + 1).sum();
            group.throughput(match tokens {
                1 => Throughput::Bytes((seen * kv_heads * dim * 4) as u64),
                _ => Throughput::Elements((seen * heads * dim * 2) as u64),
            });
            group.bench_function(BenchmarkId::from_parameter(format!("{tokens}@{first}")), |bencher| {
                bencher.iter(|| {
                    attention(&pool, &query, &view, &spec, &mut out, bytes(&mut scratch));
                    black_box(&out);
                });
            });
        }
        group.finish();
    }
}

#[allow(unsafe_code, reason = "a scratch that is aligned as a slab's")]
fn bytes(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: any words are bytes.
    unsafe { words.align_to_mut::<u8>().1 }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(1500))
        .without_plots();
    targets = steps
}
criterion_main!(benches);
