//! How fast this machine reads memory: the limit of decode, which reads every weight for every token.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

/// Bytes that each thread reads in a pass: well beyond the caches.
const BYTES_PER_THREAD: usize = 192 << 20;
/// Passes; the fastest counts, as nothing but the memory should limit it.
const PASSES: usize = 5;
const LANES: usize = 32;

/// Bytes per second that `threads` threads read together.
pub(crate) fn read_bandwidth(threads: u32) -> f64 {
    let threads = usize::try_from(threads.max(1)).unwrap_or(1);
    let words = BYTES_PER_THREAD / size_of::<u64>();
    let buffers: Vec<Vec<u64>> = (0..threads).map(|_| (0_u64..).take(words).collect()).collect();
    let barrier = Barrier::new(threads);
    let seconds = std::thread::scope(|scope| {
        let readers: Vec<_> = buffers
            .iter()
            .map(|buffer| {
                let barrier = &barrier;
                scope.spawn(move || {
                    (0..PASSES)
                        .map(|_| {
                            barrier.wait();
                            let begin = Instant::now();
                            black_box(sum(black_box(buffer)));
                            barrier.wait();
                            begin.elapsed().as_secs_f64()
                        })
                        .fold(f64::INFINITY, f64::min)
                })
            })
            .collect();
        readers.into_iter().filter_map(|reader| reader.join().ok()).fold(0.0, f64::max)
    });
    let bytes = u32::try_from(BYTES_PER_THREAD / (1 << 20) * threads).unwrap_or(u32::MAX);
    f64::from(bytes) * f64::from(1 << 20) / seconds.max(f64::MIN_POSITIVE)
}

/// Wide enough to keep the memory busy: independent sums, one cache line apart.
fn sum(words: &[u64]) -> u64 {
    let mut sums = [0_u64; LANES];
    for group in words.chunks_exact(LANES) {
        for (sum, word) in sums.iter_mut().zip(group) {
            *sum = sum.wrapping_add(*word);
        }
    }
    sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
}
