//! The life of a worker: spin for the next region, run tasks, park when nothing comes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::region::Shared;

/// How long a worker spins for the next region. Regions of one token follow each other within some microseconds.
const SPIN: Duration = Duration::from_micros(50);

/// Spins between two looks at the clock.
const SPINS_PER_LOOK: u32 = 32;

pub(super) fn work(shared: &Shared, index: usize) {
    // Worker 0 is the caller.
    let worker = index + 1;
    let mut seen = shared.gate();
    shared.started.fetch_add(1, Ordering::Release);
    while !shared.stop.load(Ordering::SeqCst) {
        if seen % 2 == 1 {
            shared.enter(|task, tasks| {
                let result = catch_unwind(AssertUnwindSafe(|| {
                    while let Some(index) = shared.take(tasks) {
                        task(index, worker);
                    }
                }));
                if let Err(payload) = result {
                    shared.skip_rest();
                    shared.keep_panic(payload);
                }
            });
        }
        seen = wait(shared, index, seen);
    }
}

/// The gate once it differs from `seen`, or earlier when the pool stops.
fn wait(shared: &Shared, index: usize, seen: usize) -> usize {
    let since = Instant::now();
    loop {
        for _ in 0..SPINS_PER_LOOK {
            let gate = shared.gate();
            if gate != seen {
                return gate;
            }
            std::hint::spin_loop();
        }
        if shared.stop.load(Ordering::SeqCst) {
            return seen;
        }
        if since.elapsed() > SPIN {
            shared.sleep(index, seen);
        }
    }
}
