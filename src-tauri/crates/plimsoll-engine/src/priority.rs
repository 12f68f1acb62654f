//! Keeps the window smooth: the threads that compute step back when the window wants the processor.

/// Lowers the calling thread's priority a little; threads that it starts later inherit it.
///
/// On Linux this is the thread's nice value. Elsewhere nothing is done. A refusal is harmless and is ignored.
pub(crate) fn yield_to_the_window() {
    #[cfg(target_os = "linux")]
    {
        /// Nice value of compute threads: the scheduler gives a window thread about three times their weight.
        const NICE: i32 = 5;
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE);
    }
}
