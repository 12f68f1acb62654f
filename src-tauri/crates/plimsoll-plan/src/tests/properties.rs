//! What holds for every shape, device and setting.

use proptest::prelude::*;

use super::fixtures::{Dense, GIB, MIB};
use super::formula;
use crate::{
    Bytes, DeviceMemory, KvType, MemoryPlan, ModelShape, PlanSettings, Precision, Region, RegionName,
    SEGMENT_ALIGNMENT, Segment, Tokens, plan,
};

fn precision() -> impl Strategy<Value = Precision> {
    prop_oneof![Just(Precision::Fp16), Just(Precision::Int8), Just(Precision::Int4)]
}

fn kv_types() -> impl Strategy<Value = Vec<KvType>> {
    prop_oneof![Just(vec![KvType::Fp16]), Just(vec![KvType::Fp16, KvType::Int8, KvType::Int4])]
}

prop_compose! {
    fn shapes()(
        layers in 1_u32..12, embedding in 1_u32..40, kv_heads in 1_u32..5, group in 1_u32..5,
        head_dim in prop_oneof![Just(64_u32), Just(80), Just(128), Just(256)],
        feed_forward in 1_u32..60, vocabulary in 100_u32..50_000, trained in 1_u32..40_000, tied: bool,
        precision in precision(), supported_kv in kv_types(), windowed: bool, odd in 0_u64..300,
    ) -> ModelShape {
        let mut shape = Dense {
            name: "random", architecture: "llama", layers, embedding: embedding * 32, heads: kv_heads * group,
            kv_heads, head_dim, feed_forward: feed_forward * 32, vocabulary, trained, tied, precision,
            group_bytes: (20, 34),
            window: if windowed { |layer| (layer % 3 != 2).then_some(Tokens(500)) } else { |_| None },
        }
        .shape();
        shape.weights[1].bytes = Bytes(odd);
        shape.supported_kv = supported_kv;
        shape
    }
}

prop_compose! {
    fn devices()(total in 64 * MIB..96 * GIB, free in prop::option::of(0.0..1.0), resident in 0..100 * MIB)
        -> DeviceMemory {
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "test")]
        let free = free.map(|part: f64| Bytes((total as f64 * part) as u64));
        DeviceMemory {
            name: "random".into(), total: Bytes(total), free, headroom: Bytes(total / 16), resident: Bytes(resident),
        }
    }
}

prop_compose! {
    fn choices()(
        context in prop::option::of(1_u32..40_000), precision in prop::option::of(precision()),
        kv in prop::option::of(prop_oneof![Just(KvType::Fp16), Just(KvType::Int8), Just(KvType::Int4)]),
        chunk in prop::option::of(1_u32..1500), utilization in 0.05..0.95_f64, chats in 1_u32..5,
        threads in 1_u32..65, logits_rows in 1_u32..4,
    ) -> PlanSettings {
        PlanSettings {
            context: context.map(Tokens), precision, kv, chunk: chunk.map(Tokens), utilization, chats, threads,
            logits_rows,
        }
    }
}

/// Checks one plan against everything that must hold of it alone.
fn check(shape: &ModelShape, device: &DeviceMemory, wanted: &PlanSettings, plan: &MemoryPlan) {
    // Explicit choices are kept.
    assert!(wanted.context.is_none_or(|context| context == plan.context));
    assert!(wanted.precision.is_none_or(|precision| precision == plan.precision));
    assert!(wanted.kv.is_none_or(|kv| kv == plan.kv));
    assert!(wanted.chunk.is_none_or(|chunk| chunk == plan.chunk));
    assert!(shape.supported_kv.contains(&plan.kv));
    assert!(plan.chunk.0 >= plan.chats);
    assert!(plan.context <= shape.trained_context);

    // The sum of the parts is the whole.
    assert_eq!(plan.segments.iter().map(|part| part.bytes).sum::<Bytes>(), plan.total);
    let in_slab = [Segment::Weights, Segment::Kv, Segment::Workspace].map(|segment| plan.segment(segment));
    assert_eq!(in_slab.into_iter().sum::<Bytes>(), plan.slab);
    assert_eq!(plan.host.iter().map(|part| part.bytes).sum::<Bytes>(), plan.segment(Segment::Host));
    assert_eq!(plan.segment(Segment::Runtime), device.resident);

    // Regions lie one after another with less than a cache line between them, inside their aligned segments.
    let (placed, aliases): (Vec<Region>, Vec<Region>) =
        plan.regions.iter().copied().partition(|region| region.name != RegionName::LoadStaging);
    for pair in placed.windows(2) {
        let end = pair[0].offset.plus(pair[0].bytes);
        let gap = pair[1].offset.0.checked_sub(end.0).expect("regions overlap");
        let limit = if pair[0].segment == pair[1].segment { 64 } else { usize::MAX as u64 };
        assert!(gap < limit, "{pair:?}");
    }
    for region in &plan.regions {
        let segment = plan.segments.iter().find(|part| part.segment == region.segment).unwrap();
        let (start, end) = (segment.offset.unwrap(), segment.offset.unwrap().plus(segment.bytes));
        assert!(start.0.is_multiple_of(SEGMENT_ALIGNMENT) && segment.bytes.0.is_multiple_of(SEGMENT_ALIGNMENT));
        assert!(region.offset.0.is_multiple_of(64));
        assert!(region.offset >= start && region.offset.plus(region.bytes) <= end, "{region:?}");
        assert_eq!(plan.region(region.name), Some(*region), "names are unique");
    }
    assert_eq!(aliases.len(), 1);
    assert_eq!(aliases[0].segment, Segment::Workspace);

    // The independent formulas.
    let chunk = plan.chunk.0;
    assert_eq!(u128::from(plan.segment(Segment::Weights).0), formula::weights(shape, plan.precision));
    let kv = formula::kv(shape, plan.kv, plan.context.0, chunk, plan.chats);
    assert_eq!(u128::from(plan.segment(Segment::Kv).0), kv);
    assert_eq!(u128::from(plan.segment(Segment::Workspace).0), formula::workspace(shape, plan));

    // Fit, and its negation with numbers.
    assert_eq!(plan.fits, plan.total <= plan.budget);
    if let (true, Some(free)) = (plan.fits, device.free) {
        assert!(plan.slab.plus(plan.segment(Segment::Host)) <= free.minus(device.headroom));
    }
    assert_eq!(plan.shortfall.0, plan.total.0.saturating_sub(plan.budget.0));
    assert!(!plan.fits || plan.largest_context >= plan.context);
    assert!(plan.fits || plan.largest_context < plan.context);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn plans_are_whole(shape in shapes(), device in devices(), wanted in choices()) {
        if let Ok(plan) = plan(&shape, &device, &wanted) {
            check(&shape, &device, &wanted, &plan);
        }
    }

    #[test]
    fn the_largest_context_is_the_largest(shape in shapes(), device in devices(), wanted in choices()) {
        let Ok(first) = plan(&shape, &device, &wanted) else { return Ok(()) };
        let at = |context| plan(&shape, &device, &PlanSettings { context: Some(context), ..wanted }).unwrap();
        let largest = first.largest_context;
        prop_assert!(largest.0 == 0 || at(largest).fits);
        prop_assert!(largest == shape.trained_context || !at(Tokens(largest.0 + 1)).fits);
        prop_assert!(largest == shape.trained_context || largest.0.is_multiple_of(64));
    }

    #[test]
    fn more_memory_never_takes_anything_away(
        shape in shapes(), device in devices(), wanted in choices(), more in 0..32 * GIB,
    ) {
        let Ok(before) = plan(&shape, &device, &wanted) else { return Ok(()) };
        let mut larger = device.clone();
        larger.total = larger.total.plus(Bytes(more));
        larger.free = larger.free.map(|free| free.plus(Bytes(more)));
        let after = plan(&shape, &larger, &wanted).unwrap();
        prop_assert!(after.budget >= before.budget);
        prop_assert!(after.fits || !before.fits);
        prop_assert!(after.largest_context >= before.largest_context);
        prop_assert!(after.precision >= before.precision || !before.fits);
        for (before, after) in before.candidates.iter().zip(&after.candidates) {
            prop_assert!(after.fits || !before.fits);
            prop_assert!(after.largest_context >= before.largest_context);
        }
    }

    #[test]
    fn the_same_question_has_the_same_answer(shape in shapes(), device in devices(), wanted in choices()) {
        prop_assert_eq!(plan(&shape, &device, &wanted), plan(&shape, &device, &wanted));
    }
}
