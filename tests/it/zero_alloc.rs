//! One engine thread, its pool and nobody else: what the process allocates while an answer is written.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    missing_docs,
    reason = "tests"
)]

use std::alloc::System;
use std::sync::mpsc::sync_channel;

use plimsoll_engine::{Engine, ModelFile, StepEvent};
use plimsoll_plan::Segment;
use plimsoll_tests::plans::{greedy, load_plan, plan_for};
use plimsoll_tests::tiny::Tiny;
use plimsoll_tests::{fixtures, models};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocations and bytes that are in use.
fn in_use() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

/// Allocations, reallocations and releases so far.
fn events() -> usize {
    let stats = ALLOCATOR.stats();
    stats.allocations + stats.reallocations + stats.deallocations
}

/// Allocator events between the start of prefill and the last token, as the engine thread sees them.
fn events_of_answer(engine: &Engine, prompt: &[u32], max_tokens: u32) -> (usize, usize) {
    // Counters are read on the engine thread; the channel has room, so that sending allocates nothing.
    let (send, receive) = sync_channel(4);
    let (mut started, mut tokens) = (0, 0);
    let mut last = 0;
    engine
        .start(
            greedy(prompt, max_tokens),
            Box::new(move |event| match event {
                StepEvent::Started { .. } => started = events(),
                StepEvent::Prefill { .. } => last = events(),
                StepEvent::Token { .. } => {
                    tokens += 1;
                    last = events();
                }
                StepEvent::Finished { .. } => send.send((last - started, tokens)).unwrap(),
                StepEvent::Failed(error) => panic!("{error}"),
            }),
        )
        .unwrap();
    receive.recv().unwrap()
}

/// Loads by a plan and checks that the process grew by the plan, then writes three answers without allocating.
fn check(file: &ModelFile, context: u32, prompt: &[u32], max_tokens: u32) {
    let plan = plan_for(file, context, None);
    let before = in_use();
    let engine = load_plan(file, &plan);
    let grown = in_use() - before;
    let slab = usize::try_from(plan.slab.0).unwrap();
    let host = usize::try_from(plan.segment(Segment::Host).0).unwrap();
    assert!(grown >= slab, "{}: the slab of {slab} bytes is there ({grown} bytes grown)", plan.model);
    // Thread handles, channels and the copied plan: small change, and independent of the context.
    let allowance = 256 << 10;
    assert!(grown <= slab + host + allowance, "{}: {grown} bytes for a slab of {slab}, host {host}", plan.model);

    let longer: Vec<u32> = prompt.iter().chain(prompt).copied().collect();
    // From an empty cache, from the cached prefix, and after a change in the middle.
    for prompt in [prompt, &longer, &longer[prompt.len() / 2..]] {
        let (events, tokens) = events_of_answer(&engine, prompt, max_tokens);
        assert_eq!(tokens, max_tokens as usize);
        assert_eq!(events, 0, "{}: allocations while prefilling {} tokens and decoding", plan.model, prompt.len());
    }
    // The last answer's own tables are given back after its last event; a command behind it waits for that.
    engine.clear().unwrap();
    let after = in_use() - before;
    assert!(after <= grown + (64 << 10), "{}: {after} bytes after three answers, {grown} before", plan.model);
}

/// One test: the counters are the process's.
#[test]
fn prefill_and_decode_allocate_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for tiny in [Tiny::llama(), Tiny::gemma3()] {
        let path = folder.path().join("tiny.gguf");
        tiny.file().write(&path);
        let file = ModelFile::open(&path).unwrap();
        let prompt =
            file.tokenizer().encode(&fixtures::prose()[..200], plimsoll_engine::tokenizer::SpecialTokens::AsText);
        check(&file, 1024, &prompt, 40);
    }
    for path in [models::smollm2(), models::gemma3()] {
        let file = ModelFile::open(&path).unwrap();
        let prompt =
            file.tokenizer().encode(&fixtures::prose()[..2600], plimsoll_engine::tokenizer::SpecialTokens::AsText);
        check(&file, 2048, &prompt, 24);
    }
}
