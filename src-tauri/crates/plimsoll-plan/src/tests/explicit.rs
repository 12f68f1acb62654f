//! Explicit settings are kept or refused, never changed; automatic ones follow the stated order.

use super::fixtures::{GIB, MIB, device, gemma3_270m, llama31_8b, mistral_7b, qwen25_7b, settings, smollm2_135m};
use crate::{Bytes, DoesNotFit, KvType, ModelShape, PlanError, PlanSettings, Precision, Tokens, plan};

fn refusal(shape: &ModelShape, change: impl Fn(&mut PlanSettings)) -> PlanError {
    let mut settings = settings();
    change(&mut settings);
    plan(shape, &device(64 * GIB), &settings).unwrap_err()
}

#[test]
fn settings_out_of_range_are_refused_with_the_numbers() {
    let shape = smollm2_135m();
    assert_eq!(
        refusal(&shape, |s| s.context = Some(Tokens(8193))),
        PlanError::ContextAboveTrained { wanted: Tokens(8193), trained: Tokens(8192) }
    );
    assert_eq!(refusal(&shape, |s| s.context = Some(Tokens(0))), PlanError::ZeroContext);
    assert_eq!(refusal(&shape, |s| s.chunk = Some(Tokens(0))), PlanError::ZeroChunk);
    assert_eq!(refusal(&shape, |s| s.chats = 0), PlanError::ZeroChats);
    assert_eq!(refusal(&shape, |s| s.threads = 0), PlanError::ZeroThreads);
    assert_eq!(refusal(&shape, |s| s.logits_rows = 0), PlanError::ZeroLogitsRows);
    for fraction in [0.0, 0.049, 0.951, -1.0, f64::INFINITY] {
        assert_eq!(refusal(&shape, |s| s.utilization = fraction), PlanError::BadUtilization { fraction });
    }
    assert!(matches!(refusal(&shape, |s| s.utilization = f64::NAN), PlanError::BadUtilization { .. }));
    assert_eq!(
        refusal(&shape, |s| {
            s.chunk = Some(Tokens(2));
            s.chats = 3;
        }),
        PlanError::ChunkBelowChats { chunk: Tokens(2), chats: 3 }
    );
}

#[test]
fn a_file_gives_only_its_own_precision() {
    assert_eq!(
        refusal(&smollm2_135m(), |s| s.precision = Some(Precision::Fp16)),
        PlanError::PrecisionUnavailable { wanted: Precision::Fp16, file: Precision::Int4 }
    );
    let plan = plan(&smollm2_135m(), &device(64 * GIB), &settings()).unwrap();
    let available: Vec<_> = plan.candidates.iter().map(|row| (row.precision, row.available)).collect();
    assert_eq!(available, [(Precision::Fp16, false), (Precision::Int8, false), (Precision::Int4, true)]);
}

#[test]
fn the_planner_never_takes_a_kv_type_that_the_engine_lacks() {
    assert_eq!(
        refusal(&smollm2_135m(), |s| s.kv = Some(KvType::Int8)),
        PlanError::KvUnavailable { wanted: KvType::Int8 }
    );
    let mut shape = qwen25_7b();
    shape.supported_kv = vec![];
    assert_eq!(refusal(&shape, |_| {}), PlanError::NoKvType);
    shape.supported_kv = vec![KvType::Fp16];
    // Too small for FP16 KV at this context: INT8 would help, and is not there.
    let plan = plan(&shape, &device(11 * GIB), &PlanSettings { context: Some(Tokens(32768)), ..settings() }).unwrap();
    assert!(!plan.fits);
    assert_eq!(plan.kv, KvType::Fp16);
}

#[test]
fn shapes_that_are_no_decoder_are_refused() {
    let mut shape = gemma3_270m();
    shape.layers[3].kv_heads = 3;
    assert_eq!(refusal(&shape, |_| {}), PlanError::BadLayer { layer: 3, field: "number of heads" });
    let mut shape = gemma3_270m();
    shape.layers[2].window = Some(Tokens(0));
    assert_eq!(refusal(&shape, |_| {}), PlanError::BadLayer { layer: 2, field: "window" });
    let mut shape = gemma3_270m();
    shape.layers.clear();
    assert_eq!(refusal(&shape, |_| {}), PlanError::EmptyShape { field: "layers" });
}

#[test]
fn sizes_beyond_exact_numbers_are_an_overflow() {
    let mut shape = llama31_8b();
    shape.weights[0].bytes = Bytes(u64::MAX);
    assert!(matches!(refusal(&shape, |_| {}), PlanError::Overflow { .. }));
    let mut shape = llama31_8b();
    shape.requantizable = false;
    shape.weights[1].bytes = Bytes(u64::MAX / 2);
    shape.weights[2].bytes = Bytes(u64::MAX / 2);
    assert!(matches!(refusal(&shape, |_| {}), PlanError::Overflow { .. }));
    assert!(matches!(
        refusal(&qwen25_7b(), |s| {
            s.chats = u32::MAX;
            s.chunk = Some(Tokens(u32::MAX));
        }),
        PlanError::Overflow { .. }
    ));
}

#[test]
fn shortage_takes_chunk_then_kv_then_precision() {
    // A tight context-free ladder: the budget shrinks below each configuration's total in turn.
    let shape = llama31_8b();
    let wanted = PlanSettings { context: Some(Tokens(16384)), utilization: 0.95, ..settings() };
    let mut device = device(64 * GIB);
    let mut steps = Vec::new();
    loop {
        let plan = plan(&shape, &device, &wanted).unwrap();
        if !plan.fits {
            break;
        }
        let step = (plan.precision, plan.kv, plan.chunk.0);
        if steps.last() != Some(&step) {
            steps.push(step);
        }
        // One byte less than this plan takes.
        device.free = Some(plan.total.minus(device.resident).plus(device.headroom).minus(Bytes(1)));
    }
    let mut expected = Vec::new();
    for precision in [Precision::Fp16, Precision::Int8, Precision::Int4] {
        for kv in [KvType::Fp16, KvType::Int8] {
            expected.extend([512, 256, 128, 64].map(|chunk| (precision, kv, chunk)));
        }
    }
    assert_eq!(steps, expected);
}

#[test]
fn what_does_not_fit_says_what_would() {
    let shape = mistral_7b();
    let plan = plan(&shape, &device(4 * GIB), &settings()).unwrap();
    let DoesNotFit { needed, budget, largest_context } = plan.require_fit().unwrap_err();
    assert_eq!((needed, budget, largest_context), (plan.total, plan.budget, plan.largest_context));
    assert_eq!(plan.shortfall, Bytes(needed.0 - budget.0));
    assert_eq!(plan.context, Tokens(4096), "a smaller context is proposed, not imposed");
}

#[test]
fn without_a_wanted_context_the_largest_that_fits_is_taken() {
    let automatic = PlanSettings { context: None, ..settings() };
    let small = plan(&smollm2_135m(), &device(8 * GIB), &automatic).unwrap();
    assert_eq!((small.context, small.fits), (Tokens(8192), true));
    // Better weights are not given up for a context that nobody asked for.
    let large = plan(&llama31_8b(), &device(32 * GIB), &automatic).unwrap();
    assert_eq!((large.precision, large.kv, large.fits), (Precision::Fp16, KvType::Fp16, true));
    assert!(large.context > Tokens(4096) && large.context < Tokens(131_072), "{}", large.context);
    assert_eq!(large.context.0 % 64, 0);
    let none = plan(&llama31_8b(), &device(2 * GIB), &automatic).unwrap();
    assert_eq!((none.fits, none.largest_context), (false, Tokens(0)));
}

#[test]
fn a_small_context_has_a_small_chunk() {
    let short = PlanSettings { context: Some(Tokens(100)), ..settings() };
    assert_eq!(plan(&smollm2_135m(), &device(8 * GIB), &short).unwrap().chunk, Tokens(128));
    let explicit = PlanSettings { chunk: Some(Tokens(300)), ..short };
    assert_eq!(plan(&smollm2_135m(), &device(8 * GIB), &explicit).unwrap().chunk, Tokens(300));
}

#[test]
fn loading_needs_no_byte_beyond_the_plan() {
    // So many threads that their staging is larger than a tiny workspace.
    let wanted = PlanSettings { threads: 512, chunk: Some(Tokens(1)), ..settings() };
    let mut shape = smollm2_135m();
    shape.kernels.matmul_scratch_per_thread = Bytes(0);
    shape.kernels.attention_scratch_per_thread = Bytes(0);
    let plan = plan(&shape, &device(8 * GIB), &wanted).unwrap();
    let staging = plan.region(crate::RegionName::LoadStaging).unwrap();
    assert_eq!(staging.bytes, plan.staging_per_thread.times(512));
    assert_eq!(staging.offset.plus(staging.bytes).aligned(4096), plan.slab);
    assert!(staging.bytes > Bytes(40 * MIB));
}
