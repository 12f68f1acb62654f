//! The handle to one engine thread per loaded model. The thread takes a closed set of commands and owns the slab.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

use plimsoll_kernels::Pool;
use plimsoll_plan::{Bytes, MemoryPlan, Tokens};

use crate::api::{Allocation, CancelToken, GenerateRequest, KvUsage, LoadProgress, StepEvent};
use crate::error::{EngineError, ModelError};
use crate::forward::Decoder;
use crate::generate::{Answer, Sink};
use crate::kv::{CachedTokens, lock};
use crate::load::load_weights;
use crate::model_file::ModelFile;
use crate::priority::yield_to_the_window;
use crate::slab::Slab;
use crate::spec::{Binding, ModelSpec};
use crate::tokenizer::Tokenizer;
use crate::workspace::Parts;

/// A loaded model. Dropping it cancels what runs, ends its thread and gives the slab back.
#[derive(Debug)]
pub struct Engine {
    commands: Sender<Command>,
    shared: Arc<Shared>,
    tokenizer: Arc<Tokenizer>,
    thread: Option<JoinHandle<()>>,
    cached: Arc<Mutex<CachedTokens>>,
    context: Tokens,
    vocabulary: usize,
    allocation: Allocation,
}

/// What the engine thread and its callers both see.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    busy: AtomicBool,
    used: AtomicU32,
    reserved: AtomicU32,
    running: Mutex<Option<CancelToken>>,
}

impl Shared {
    /// The cache holds `used` tokens.
    pub(crate) fn publish(&self, used: usize) {
        self.used.store(u32::try_from(used).unwrap_or(u32::MAX), Ordering::Release);
    }
}

enum Command {
    Generate { answer: GenerateRequest, cancel: CancelToken, asked: Instant, sink: Box<Sink> },
    Logits { ids: Vec<u32>, rows: Sender<LogitsRow>, taken: Receiver<()> },
    Clear { done: Sender<()> },
}

enum LogitsRow {
    Row(Vec<f32>),
    End(Result<(), EngineError>),
}

enum Loading {
    Progress(LoadProgress),
    Ready(Allocation),
    Failed(ModelError),
}

impl Engine {
    /// Takes the plan's slab, packs the file's weights into it and starts the engine thread.
    ///
    /// `progress` is called on this thread as weights are packed; `Break` cancels.
    pub fn load(
        file: &ModelFile,
        plan: &MemoryPlan,
        threads: usize,
        progress: &mut dyn FnMut(LoadProgress) -> ControlFlow<()>,
    ) -> Result<Self, ModelError> {
        plan.require_fit().map_err(|refusal| ModelError::DoesNotFit {
            needed: refusal.needed,
            budget: refusal.budget,
            largest_context: refusal.largest_context,
        })?;
        let context = plan.context;
        let shared = Arc::new(Shared::default());
        let cached = Arc::new(Mutex::new(CachedTokens::new(plan)));
        let (commands, inbox) = channel();
        let (report, reports) = channel();
        let cancel = CancelToken::default();
        let thread = {
            let job = Job {
                path: file.path().to_owned(),
                spec: file.spec().clone(),
                binding: file.binding().clone(),
                plan: plan.clone(),
                tokenizer: Arc::clone(file.tokenizer()),
                threads: threads.max(1),
                shared: Arc::clone(&shared),
                cached: Arc::clone(&cached),
                cancel: cancel.clone(),
            };
            std::thread::Builder::new()
                .name("plimsoll-engine".to_owned())
                .spawn(move || job.run(&report, &inbox))
                .map_err(ModelError::Threads)?
        };
        let allocation = loop {
            match reports.recv() {
                Ok(Loading::Progress(step)) => {
                    if progress(step).is_break() {
                        cancel.cancel();
                    }
                }
                Ok(Loading::Ready(allocation)) => break allocation,
                Ok(Loading::Failed(error)) => {
                    let _ = thread.join();
                    return Err(error);
                }
                Err(_) => {
                    let _ = thread.join();
                    return Err(ModelError::Stopped("the thread ended without a report".to_owned()));
                }
            }
        };
        Ok(Self {
            commands,
            shared,
            tokenizer: Arc::clone(file.tokenizer()),
            thread: Some(thread),
            cached,
            context,
            vocabulary: file.spec().vocabulary,
            allocation,
        })
    }

    /// Admits and starts an answer. Prompt and longest output must fit the context; one answer runs at a time.
    ///
    /// `sink` runs on the engine thread; it must be quick.
    pub fn start(&self, request: GenerateRequest, sink: Box<Sink>) -> Result<CancelToken, EngineError> {
        let asked = Instant::now();
        self.check_prompt(&request.prompt)?;
        request.sampling.validate()?;
        let prompt = Tokens(u32::try_from(request.prompt.len()).unwrap_or(u32::MAX));
        let reserved = Tokens(prompt.0.saturating_add(request.max_tokens.0));
        if reserved > self.context {
            return Err(EngineError::ContextExceeded { prompt, output: request.max_tokens, context: self.context });
        }
        self.claim()?;
        let cancel = CancelToken::default();
        self.shared.reserved.store(reserved.0, Ordering::Release);
        *lock(&self.shared.running) = Some(cancel.clone());
        let command = Command::Generate { answer: request, cancel: cancel.clone(), asked, sink };
        if self.commands.send(command).is_err() {
            self.shared.release();
            return Err(EngineError::Stopped("its thread has ended".to_owned()));
        }
        Ok(cancel)
    }

    /// Is an answer being written?
    pub fn is_busy(&self) -> bool {
        self.shared.busy.load(Ordering::Acquire)
    }

    /// Tokens in the KV cache.
    pub fn kv_usage(&self) -> KvUsage {
        let used = Tokens(self.shared.used.load(Ordering::Acquire));
        let reserved = Tokens(self.shared.reserved.load(Ordering::Acquire)).max(used);
        KvUsage { used, reserved, capacity: self.context }
    }

    /// How many leading tokens of `prompt` an answer started now would not compute again.
    pub fn cached_prefix(&self, prompt: &[u32]) -> Tokens {
        Tokens(u32::try_from(lock(&self.cached).reusable(prompt)).unwrap_or(0))
    }

    /// What the engine took from the system.
    pub fn allocated(&self) -> Allocation {
        self.allocation
    }

    /// The model's tokenizer.
    pub fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.tokenizer
    }

    /// Forgets the KV cache.
    pub fn clear(&self) -> Result<(), EngineError> {
        let (done, wait) = channel();
        self.send(Command::Clear { done })?;
        wait.recv().map_err(|_| EngineError::Stopped("its thread has ended".to_owned()))
    }

    /// Logits `[vocabulary]` of every position of `ids`, in order, each given to `row` once. Starts from an empty
    /// cache and leaves it empty. For tools: it copies each row.
    pub fn logits(&self, ids: &[u32], row: &mut dyn FnMut(usize, &[f32])) -> Result<(), EngineError> {
        self.check_prompt(ids)?;
        let prompt = Tokens(u32::try_from(ids.len()).unwrap_or(u32::MAX));
        if prompt > self.context {
            return Err(EngineError::ContextExceeded { prompt, output: Tokens(0), context: self.context });
        }
        self.claim()?;
        let (rows, inbox) = channel();
        let (take, taken) = channel();
        if let Err(error) = self.send(Command::Logits { ids: ids.to_vec(), rows, taken }) {
            self.shared.release();
            return Err(error);
        }
        let mut index = 0;
        loop {
            match inbox.recv() {
                Ok(LogitsRow::Row(logits)) => {
                    row(index, &logits);
                    index += 1;
                    let _ = take.send(());
                }
                Ok(LogitsRow::End(result)) => return result,
                Err(_) => return Err(EngineError::Stopped("its thread has ended".to_owned())),
            }
        }
    }

    fn check_prompt(&self, ids: &[u32]) -> Result<(), EngineError> {
        if ids.is_empty() {
            return Err(EngineError::EmptyPrompt);
        }
        match ids.iter().find(|&&id| usize::try_from(id).map_or(true, |id| id >= self.vocabulary)) {
            Some(&id) => {
                Err(EngineError::BadToken { id, vocabulary: u32::try_from(self.vocabulary).unwrap_or(u32::MAX) })
            }
            None => Ok(()),
        }
    }

    fn claim(&self) -> Result<(), EngineError> {
        let claimed = self.shared.busy.compare_exchange(false, true, Ordering::AcqRel, Ordering::Acquire);
        claimed.map(|_| ()).map_err(|_| EngineError::Busy)
    }

    fn send(&self, command: Command) -> Result<(), EngineError> {
        self.commands.send(command).map_err(|_| EngineError::Stopped("its thread has ended".to_owned()))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(running) = lock(&self.shared.running).as_ref() {
            running.cancel();
        }
        // Closing the channel ends the thread's loop.
        self.commands = channel().0;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn release(&self) {
        *lock(&self.running) = None;
        self.reserved.store(0, Ordering::Release);
        self.busy.store(false, Ordering::Release);
    }
}

/// Frees the reservation when an answer ends, however it ends.
struct Reservation<'a>(&'a Shared);

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// Everything the engine thread starts from.
struct Job {
    path: std::path::PathBuf,
    spec: ModelSpec,
    binding: Binding,
    plan: MemoryPlan,
    tokenizer: Arc<Tokenizer>,
    threads: usize,
    shared: Arc<Shared>,
    cached: Arc<Mutex<CachedTokens>>,
    cancel: CancelToken,
}

impl Job {
    fn run(self, report: &Sender<Loading>, inbox: &Receiver<Command>) {
        yield_to_the_window();
        let pool = match Pool::new(self.threads) {
            Ok(pool) => pool,
            Err(error) => {
                let _ = report.send(Loading::Failed(ModelError::Threads(error)));
                return;
            }
        };
        let mut slab = match Slab::allocate(self.plan.slab) {
            Ok(slab) => slab,
            Err(error) => {
                let _ = report.send(Loading::Failed(error));
                return;
            }
        };
        let taken = slab.size();
        let mut tell = |step| {
            let _ = report.send(Loading::Progress(step));
            !self.cancel.is_cancelled()
        };
        let loaded = Parts::split(&self.plan, slab.bytes()).and_then(|mut parts| {
            load_weights(&self.path, &self.binding, &self.plan, &mut parts, self.threads, &mut tell)?;
            Decoder::new(&self.spec, &self.binding, &self.plan, parts, &pool, Arc::clone(&self.cached))
        });
        let mut decoder = match loaded {
            Ok(decoder) => decoder,
            Err(error) => {
                let _ = report.send(Loading::Failed(error));
                return;
            }
        };
        // The prompt and answer of the one running request are bounded by the context, as the cache's own list is.
        let lists = Bytes(u64::from(self.plan.context.0)).times(size_of::<u32>() as u64);
        let host = self.tokenizer.memory().plus(lock(&self.cached).memory()).plus(lists);
        let _ = report.send(Loading::Ready(Allocation { slab: taken, host }));
        while let Ok(command) = inbox.recv() {
            self.serve(command, &mut decoder);
        }
    }

    fn serve(&self, command: Command, decoder: &mut Decoder<'_>) {
        match command {
            Command::Clear { done } => {
                decoder.clear();
                self.shared.publish(decoder.cached());
                let _ = done.send(());
            }
            Command::Generate { answer, cancel, asked, mut sink } => {
                let reservation = Reservation(&self.shared);
                let mut answer = Answer::new(answer, cancel, &self.tokenizer, asked);
                let outcome = catch_unwind(AssertUnwindSafe(|| match &mut answer {
                    Ok(answer) => answer.run(decoder, &self.shared, sink.as_mut()),
                    Err(error) => Err(error.clone()),
                }));
                let outcome = self.settle(outcome, decoder);
                // Freed before the last event: whoever hears `Finished` may start the next answer at once.
                drop(reservation);
                // A sink that panics must not take the engine with it.
                let _ = catch_unwind(AssertUnwindSafe(|| match (outcome, &mut answer) {
                    (Ok((reason, timings)), Ok(answer)) => {
                        sink(StepEvent::Finished { reason, text: answer.rest(), timings });
                    }
                    (Err(error), _) => sink(StepEvent::Failed(error)),
                    (_, Err(error)) => sink(StepEvent::Failed(error.clone())),
                }));
            }
            Command::Logits { ids, rows, taken } => {
                let reservation = Reservation(&self.shared);
                decoder.clear();
                let outcome = catch_unwind(AssertUnwindSafe(|| {
                    decoder.each_logits(&ids, &mut |row| {
                        rows.send(LogitsRow::Row(row.to_vec())).is_ok() && taken.recv().is_ok()
                    })
                }));
                let outcome = self.settle(outcome, decoder);
                decoder.clear();
                self.shared.publish(decoder.cached());
                drop(reservation);
                let _ = rows.send(LogitsRow::End(outcome));
            }
        }
    }

    /// After an error or a panic the cache may hold half a step: forget it.
    fn settle<T>(
        &self,
        outcome: std::thread::Result<Result<T, EngineError>>,
        decoder: &mut Decoder<'_>,
    ) -> Result<T, EngineError> {
        let error = match outcome {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panic");
                tracing::error!(text, "the engine caught a panic");
                EngineError::Internal(text.to_owned())
            }
        };
        decoder.clear();
        self.shared.publish(0);
        Err(error)
    }
}
