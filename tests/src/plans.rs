//! Plans and loaded engines on a machine with room to spare, and answers collected from them.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::channel;

use plimsoll_engine::sample::Sampling;
use plimsoll_engine::{Engine, EngineError, GenerateRequest, ModelFile, StepEvent, StopReason, Timings};
use plimsoll_plan::{Bytes, DeviceMemory, KvType, MemoryPlan, PlanSettings, Tokens, plan};

/// Compute threads of every test engine.
pub const THREADS: u32 = 2;

/// 64 GiB of memory, of which nothing is taken.
pub fn roomy() -> DeviceMemory {
    DeviceMemory {
        name: "test machine".to_owned(),
        total: Bytes(64 << 30),
        free: Some(Bytes(64 << 30)),
        headroom: Bytes(0),
        resident: Bytes(0),
    }
}

/// One chat with an FP16 KV cache and this context; the planner chooses the chunk when it is `None`.
pub fn settings(context: u32, chunk: Option<u32>) -> PlanSettings {
    PlanSettings {
        context: Some(Tokens(context)),
        precision: None,
        kv: Some(KvType::Fp16),
        chunk: chunk.map(Tokens),
        utilization: 0.75,
        chats: 1,
        threads: THREADS,
        logits_rows: 1,
    }
}

/// The plan for `file` on the roomy machine.
pub fn plan_for(file: &ModelFile, context: u32, chunk: Option<u32>) -> MemoryPlan {
    plan(file.shape(), &roomy(), &settings(context, chunk)).expect("there is a plan")
}

/// Opens and loads the model at `path`.
pub fn load(path: &Path, context: u32, chunk: Option<u32>) -> Engine {
    let file = ModelFile::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    load_plan(&file, &plan_for(&file, context, chunk))
}

/// Loads `file` by `plan`.
pub fn load_plan(file: &ModelFile, plan: &MemoryPlan) -> Engine {
    Engine::load(file, plan, THREADS as usize, &mut |_| ControlFlow::Continue(())).expect("the model loads")
}

/// Logits of every position, `[position][word]`, from an empty cache.
pub fn logits(engine: &Engine, ids: &[u32]) -> Vec<Vec<f32>> {
    let mut rows = Vec::with_capacity(ids.len());
    engine
        .logits(ids, &mut |position, row| {
            assert_eq!(position, rows.len(), "rows come in order");
            rows.push(row.to_vec());
        })
        .expect("the engine computes logits");
    assert_eq!(rows.len(), ids.len(), "one row per position");
    rows
}

/// A finished answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its tokens.
    pub ids: Vec<u32>,
    /// Its text, joined from the stream.
    pub text: String,
    /// Leading prompt tokens that were not computed again.
    pub cached: u32,
    /// How it ended.
    pub reason: StopReason,
    /// Its numbers.
    pub timings: Timings,
}

/// A greedy request that goes on past end-of-turn tokens.
pub fn greedy(prompt: &[u32], max_tokens: u32) -> GenerateRequest {
    GenerateRequest {
        prompt: prompt.to_vec(),
        max_tokens: Tokens(max_tokens),
        sampling: Sampling { temperature: 0.0, ..Sampling::default() },
        stop: Vec::new(),
        ignore_end: true,
    }
}

/// Runs a request to its end.
pub fn answer(engine: &Engine, request: GenerateRequest) -> Result<Answer, EngineError> {
    let (send, receive) = channel();
    let (mut ids, mut text, mut cached) = (Vec::new(), String::new(), 0);
    engine.start(
        request,
        Box::new(move |event| match event {
            StepEvent::Started { cached: tokens, .. } => cached = tokens.0,
            StepEvent::Prefill { .. } => {}
            StepEvent::Token { id, text: piece } => {
                ids.push(id);
                text.push_str(piece);
            }
            StepEvent::Finished { reason, text: rest, timings } => {
                text.push_str(rest);
                let (ids, text) = (std::mem::take(&mut ids), std::mem::take(&mut text));
                let _ = send.send(Ok(Answer { ids, text, cached, reason, timings }));
            }
            StepEvent::Failed(error) => {
                let _ = send.send(Err(error));
            }
        }),
    )?;
    receive.recv().expect("the engine finishes what it started")
}
