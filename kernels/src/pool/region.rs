//! One parallel region: what the caller publishes and the workers enter.

use std::any::Any;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use super::Task;

/// Spins of the caller on workers that are still inside a closed region, before it yields its core to them.
const SPINS_BEFORE_YIELD: u32 = 512;

/// State shared by the caller and the workers. Fields that different threads write often lie on their own lines.
pub(super) struct Shared {
    gate: Line<AtomicUsize>,
    inside: Line<AtomicUsize>,
    cursor: Line<AtomicUsize>,
    job: UnsafeCell<Job>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    asleep: Vec<Line<AtomicBool>>,
    pub(super) stop: AtomicBool,
    /// Workers that have begun to wait for regions.
    pub(super) started: AtomicUsize,
}

/// Keeps neighbours off the cache line, and off the pair that the prefetcher fetches.
#[repr(align(128))]
struct Line<T>(T);

/// The region's task, its lifetime erased.
#[derive(Clone, Copy)]
struct Job {
    task: Option<*const Task<'static>>,
    tasks: usize,
}

// SAFETY: `job` is the only field that is not Sync. It is written by `open` alone, while the gate is closed and no
// worker is inside; a worker reads it only between having counted itself inside and seen the gate open.
unsafe impl Sync for Shared {}
// SAFETY: the pointer in `job` refers to a `Sync` closure, and is only followed while `run` keeps it borrowed.
unsafe impl Send for Shared {}

impl Shared {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            gate: Line(AtomicUsize::new(0)),
            inside: Line(AtomicUsize::new(0)),
            cursor: Line(AtomicUsize::new(0)),
            job: UnsafeCell::new(Job { task: None, tasks: 0 }),
            panic: Mutex::new(None),
            asleep: (0..workers).map(|_| Line(AtomicBool::new(false))).collect(),
            stop: AtomicBool::new(false),
            started: AtomicUsize::new(0),
        }
    }

    /// Publishes a region and wakes the workers that sleep. One caller at a time; ends with [`Self::close`].
    pub(super) fn open(&self, tasks: usize, task: &Task<'_>, workers: &[JoinHandle<()>]) {
        // SAFETY: only the lifetime changes. `close` returns when no worker can follow the pointer any more, and
        // `Pool::run` borrows the closure until then.
        let task = std::ptr::from_ref(unsafe { std::mem::transmute::<&Task<'_>, &Task<'static>>(task) });
        // SAFETY: the gate is closed and `inside` was seen zero by the last `close`, so no worker reads the job: one
        // that counts itself inside from now on first sees the gate closed, or open after this write.
        unsafe { *self.job.get() = Job { task: Some(task), tasks } };
        self.cursor.0.store(0, Ordering::Relaxed);
        // An odd gate is open. Sequentially consistent with `asleep`: either the worker sees the gate open before it
        // parks, or we see it asleep.
        self.gate.0.fetch_add(1, Ordering::SeqCst);
        for (asleep, worker) in self.asleep.iter().zip(workers).take(tasks - 1) {
            if asleep.0.load(Ordering::SeqCst) && asleep.0.swap(false, Ordering::SeqCst) {
                worker.thread().unpark();
            }
        }
    }

    /// The next task, if any is left.
    pub(super) fn take(&self, tasks: usize) -> Option<usize> {
        let index = self.cursor.0.fetch_add(1, Ordering::Relaxed);
        (index < tasks).then_some(index)
    }

    /// Leaves no task to take. Half the range keeps later `take`s from wrapping round.
    pub(super) fn skip_rest(&self) {
        self.cursor.0.store(usize::MAX / 2, Ordering::Relaxed);
    }

    /// Lets no more workers in, and waits for those inside.
    pub(super) fn close(&self) {
        self.gate.0.fetch_add(1, Ordering::SeqCst);
        let mut spins = 0;
        // Acquire: what the workers wrote is visible to the caller.
        while self.inside.0.load(Ordering::SeqCst) != 0 {
            if spins < SPINS_BEFORE_YIELD {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// The first panic of a worker in the region that was closed.
    pub(super) fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps the first panic of a region for its caller.
    pub(super) fn keep_panic(&self, payload: Box<dyn Any + Send>) {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(payload);
    }

    /// Counter that changes when a region opens or closes; odd while one is open.
    pub(super) fn gate(&self) -> usize {
        self.gate.0.load(Ordering::SeqCst)
    }

    /// Enters the open region if there is one, runs `body` with its task and number of tasks, and leaves.
    pub(super) fn enter(&self, body: impl FnOnce(&Task<'_>, usize)) {
        self.inside.0.fetch_add(1, Ordering::SeqCst);
        if self.gate() % 2 == 1 {
            // SAFETY: this worker is counted inside and saw the gate open, so `close` of this region waits for it,
            // and nobody writes the job before that.
            let job = unsafe { *self.job.get() };
            if let Some(task) = job.task {
                // SAFETY: the closure outlives the region; see above.
                body(unsafe { &*task }, job.tasks);
            }
        }
        self.inside.0.fetch_sub(1, Ordering::SeqCst);
    }

    /// Parks worker `index` unless a region opens or the pool stops. May return early.
    pub(super) fn sleep(&self, index: usize, seen: usize) {
        let Some(asleep) = self.asleep.get(index) else { return };
        asleep.0.store(true, Ordering::SeqCst);
        if self.gate() == seen && !self.stop.load(Ordering::SeqCst) {
            std::thread::park();
        }
        asleep.0.store(false, Ordering::SeqCst);
    }
}
