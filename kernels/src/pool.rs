//! Persistent worker threads for the parallel regions of a forward pass.
//!
//! A region costs no allocation and, while the workers spin, no system call. Workers spin for a short time and then
//! park. The caller works too, and waits only for workers that have begun: on an oversubscribed machine it finishes
//! the region alone instead of waiting for a worker that has no core.

mod region;
mod worker;

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::level::Level;
use region::Shared;

/// A task of a region: called with (task, worker); `worker` is below [`Pool::threads`], and no two tasks run at the
/// same time with the same worker.
pub type Task<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// A pool of threads; the thread that calls [`Pool::run`] is one of them.
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// Held by the caller during a region: regions of several callers run one after the other.
    turn: Mutex<()>,
    level: Level,
}

impl Pool {
    /// A pool of `threads` threads (at least 1), the caller included, on the best level of this machine.
    ///
    /// # Errors
    /// When the system refuses a thread; those already started end.
    pub fn new(threads: usize) -> io::Result<Self> {
        Self::with_level(threads, Level::detected())
    }

    /// As [`Pool::new`], with kernels of at most `level`: for tests and benchmarks.
    pub fn with_level(threads: usize, level: Level) -> io::Result<Self> {
        let count = threads.max(1) - 1;
        let mut pool = Self {
            shared: Arc::new(Shared::new(count)),
            workers: Vec::with_capacity(count),
            turn: Mutex::new(()),
            level: level.min(Level::detected()),
        };
        for index in 0..count {
            let shared = Arc::clone(&pool.shared);
            let name = format!("compute-{}", index + 1);
            let handle = std::thread::Builder::new().name(name).spawn(move || worker::work(&shared, index))?;
            pool.workers.push(handle);
        }
        // A thread allocates while it starts; once all have started, nothing here allocates any more.
        while pool.shared.started.load(Ordering::Acquire) < count {
            std::thread::yield_now();
        }
        Ok(pool)
    }

    /// Threads, the caller included.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Instruction set of the kernels that run in this pool.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Runs `task(0..tasks, worker)` on all threads and returns when all are done. Threads take tasks in ascending
    /// order as they become free.
    ///
    /// Must not be called from inside a task of the same pool.
    ///
    /// # Panics
    /// When a task panics: with the first panic, after all running tasks have ended; remaining tasks are dropped.
    /// The pool stays usable.
    pub fn run(&self, tasks: usize, task: &Task<'_>) {
        if tasks == 0 {
            return;
        }
        if tasks == 1 || self.workers.is_empty() {
            for index in 0..tasks {
                task(index, 0);
            }
            return;
        }
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.open(tasks, task, &self.workers);
        let own = catch_unwind(AssertUnwindSafe(|| {
            while let Some(index) = self.shared.take(tasks) {
                task(index, 0);
            }
        }));
        if own.is_err() {
            self.shared.skip_rest();
        }
        self.shared.close();
        let other: Option<Box<dyn Any + Send>> = self.shared.take_panic();
        drop(turn);
        if let Some(payload) = own.err().or(other) {
            resume_unwind(payload);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        for worker in self.workers.drain(..) {
            worker.thread().unpark();
            // A worker cannot end by a panic: tasks are caught. There is nobody to tell in a destructor anyway.
            let _ = worker.join();
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("threads", &self.threads()).field("level", &self.level).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
