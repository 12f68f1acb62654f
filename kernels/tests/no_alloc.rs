//! No op allocates: counted over all threads while every op runs.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs, unsafe_code, reason = "tests")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use plimsoll_kernels::{
    AttentionSpec, Input, KvLayout, KvView, Level, Matrix, Pool, Product, WeightType, activation_bytes, add, attention,
    attention_scratch_per_thread, gelu_tanh_mul, kv_append, matmul, matmul_scratch_per_thread, quantize_activations,
    rms_norm, rms_norm_in_place, rope_halves, rope_interleaved, rope_table, scale, silu_mul, softcap,
};

/// The system's allocator, counted.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: forwards to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const COLS: usize = 512;
const ROWS: usize = 200;
const MOST_TOKENS: usize = 70;
const HEADS: usize = 8;
const KV: KvLayout = KvLayout { kv_heads: 2, key_dim: 64, value_dim: 64 };

/// Everything that the ops need, allocated beforehand.
struct Buffers {
    weights: Vec<Vec<u8>>,
    x: Vec<f32>,
    q8: Vec<u8>,
    out: Vec<f32>,
    norm: Vec<f32>,
    rope: Vec<f32>,
    pages: Vec<u8>,
    table: Vec<u32>,
    attended: Vec<f32>,
    matmul_scratch: Vec<u8>,
    attention_scratch: Vec<u64>,
}

fn every_op(pool: &Pool, tokens: usize, b: &mut Buffers) {
    let x = &mut b.x[..tokens * COLS];
    let q8 = &mut b.q8[..activation_bytes(tokens, COLS)];
    quantize_activations(pool, x, tokens, COLS, q8);
    for (ty, weights) in WeightType::ALL.into_iter().zip(&b.weights) {
        let matrix = Matrix::new(ty, ROWS, COLS, weights).unwrap();
        let (one, two) = b.out.split_at_mut(MOST_TOKENS * ROWS);
        let mut products = [
            Product { matrix, out: &mut one[..tokens * ROWS], accumulate: false },
            Product { matrix, out: &mut two[..tokens * ROWS], accumulate: true },
        ];
        let input = if ty.accepts_q8() { Input::Q8(q8) } else { Input::F32(x) };
        matmul(pool, input, tokens, &mut products, &mut b.matmul_scratch);
        matrix.row(3, &mut b.norm);
    }
    rms_norm(x, &b.norm, 1e-5, &mut b.out[..tokens * COLS]);
    rms_norm_in_place(x, &b.norm, 1e-5);
    rope_table(5, tokens, 64, 1e4, 1.0, &[], &mut b.rope[..tokens * 64]);
    rope_halves(x, HEADS, 64, 64, &b.rope);
    rope_interleaved(x, HEADS, 64, 64, &b.rope);
    let first = 100;
    let (keys, values) = x[..tokens * 2 * 128].split_at(tokens * 128);
    kv_append(&mut b.pages, KV, &b.table, 0, first, keys, values);
    let view = KvView { pages: &b.pages, table: &b.table, first_page: 0, layout: KV };
    let spec =
        AttentionSpec { heads: HEADS, first_position: first, tokens, window: None, scale: 0.1, softcap: Some(9.0) };
    // SAFETY: any words are bytes.
    let (_, scratch, _) = unsafe { b.attention_scratch.align_to_mut::<u8>() };
    attention(pool, x, &view, &spec, &mut b.attended[..tokens * HEADS * 64], scratch);
    silu_mul(pool, &mut b.attended, &b.out[..MOST_TOKENS * HEADS * 64]);
    gelu_tanh_mul(pool, &mut b.attended, &b.out[..MOST_TOKENS * HEADS * 64]);
    softcap(&mut b.attended, 30.0);
    scale(&mut b.attended, 0.5);
    add(x, &b.out[..tokens * COLS]);
}

/// One test: the counter is the process's.
#[test]
fn ops_do_not_allocate() {
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        let pool = Pool::with_level(3, level).unwrap();
        let packed = |ty: WeightType| vec![0x11; ty.packed_bytes(ROWS, COLS).unwrap()];
        let attention_bytes = pool.threads() * attention_scratch_per_thread(HEADS / 2, 64, 64);
        let mut buffers = Buffers {
            weights: WeightType::ALL.into_iter().map(packed).collect(),
            x: vec![0.5; MOST_TOKENS * COLS],
            q8: vec![0; activation_bytes(MOST_TOKENS, COLS)],
            out: vec![0.0; 2 * MOST_TOKENS * COLS],
            norm: vec![1.0; COLS],
            rope: vec![0.0; MOST_TOKENS * 64],
            pages: vec![0; 3 * KV.page_bytes()],
            table: vec![2, 0, 1],
            attended: vec![0.0; MOST_TOKENS * HEADS * 64],
            matmul_scratch: vec![0; pool.threads() * matmul_scratch_per_thread()],
            attention_scratch: vec![0; attention_bytes / 8],
        };
        let before = ALLOCATIONS.load(Ordering::SeqCst);
        for tokens in [1, 3, 8, MOST_TOKENS] {
            every_op(&pool, tokens, &mut buffers);
            // Long enough for the workers to park.
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(ALLOCATIONS.load(Ordering::SeqCst) - before, 0, "{level:?}");
    }
}
