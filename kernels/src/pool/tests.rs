//! The pool under panics, oversubscription, reuse and drop.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::*;

/// Runs a region and counts how often each task ran.
fn counts(pool: &Pool, tasks: usize) -> Vec<usize> {
    let counts: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
    pool.run(tasks, &|task, worker| {
        assert!(worker < pool.threads());
        counts[task].fetch_add(1, Ordering::Relaxed);
    });
    counts.into_iter().map(AtomicUsize::into_inner).collect()
}

#[test]
fn every_task_runs_once() {
    for threads in [1, 2, 3, 8] {
        let pool = Pool::new(threads).unwrap();
        assert_eq!(pool.threads(), threads);
        for tasks in [0, 1, 2, 3, 7, 64, 1000] {
            assert_eq!(counts(&pool, tasks), vec![1; tasks], "{threads} threads, {tasks} tasks");
        }
    }
    assert_eq!(Pool::new(0).unwrap().threads(), 1, "the caller is always there");
}

#[test]
fn no_two_tasks_share_a_worker_at_a_time() {
    let pool = Pool::new(4).unwrap();
    let busy: Vec<AtomicUsize> = (0..4).map(|_| AtomicUsize::new(0)).collect();
    for _ in 0..200 {
        pool.run(16, &|_, worker| {
            assert_eq!(busy[worker].fetch_add(1, Ordering::SeqCst), 0);
            std::hint::spin_loop();
            busy[worker].fetch_sub(1, Ordering::SeqCst);
        });
    }
}

#[test]
fn writes_of_the_workers_are_visible_after_the_region() {
    let pool = Pool::new(4).unwrap();
    for round in 0..5000 {
        let cells: Vec<AtomicUsize> = (0..8).map(|_| AtomicUsize::new(0)).collect();
        pool.run(8, &|task, _| cells[task].store(round + task, Ordering::Relaxed));
        assert!(cells.iter().enumerate().all(|(task, cell)| cell.load(Ordering::Relaxed) == round + task));
    }
}

#[test]
fn a_panic_reaches_the_caller_and_the_pool_stays_usable() {
    let pool = Pool::new(3).unwrap();
    for bad in [0, 5, 63] {
        let result = catch_unwind(AssertUnwindSafe(|| {
            pool.run(64, &|task, _| assert!(task != bad, "task {bad} fails"));
        }));
        let payload = result.unwrap_err();
        let message = payload.downcast_ref::<String>().unwrap();
        assert!(message.contains(&format!("task {bad} fails")), "{message}");
        assert_eq!(counts(&pool, 100), vec![1; 100]);
    }
}

#[test]
fn many_pools_on_few_cores_all_finish() {
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let pool = Pool::new(8).unwrap();
                for _ in 0..300 {
                    assert_eq!(counts(&pool, 24), vec![1; 24]);
                }
            });
        }
    });
    // Spinning without a bound takes minutes here; the bound leaves room for a busy machine.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn callers_on_several_threads_take_turns() {
    let pool = Pool::new(3).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    assert_eq!(counts(&pool, 9), vec![1; 9]);
                }
            });
        }
    });
}

#[test]
fn parked_workers_wake_up_and_drop_joins_them() {
    let pool = Pool::new(4).unwrap();
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(2));
        // Each task waits for a second thread, so this ends only when a parked worker comes.
        let arrived = AtomicUsize::new(0);
        pool.run(2, &|_, _| {
            arrived.fetch_add(1, Ordering::SeqCst);
            while arrived.load(Ordering::SeqCst) < 2 {
                std::thread::yield_now();
            }
        });
    }
    let shared = Arc::downgrade(&pool.shared);
    drop(pool);
    assert_eq!(shared.strong_count(), 0, "no worker is left");
}
