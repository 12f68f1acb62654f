//! The planner's types in the contract's words.

use plimsoll_ipc::{CandidateReport, KvChoice, PlanReport, PrecisionChoice, SegmentReport, Settings};
use plimsoll_plan::{Bytes, KvType, MemoryPlan, PlanSettings, Precision, Segment, Tokens};

/// Conversations that the engine runs at once.
pub(crate) const CHATS: u32 = 1;

/// The plan as the page shows it.
pub fn plan_report(plan: &MemoryPlan, model: &str) -> PlanReport {
    PlanReport {
        model: model.to_owned(),
        device: plan.device.name.clone(),
        device_total_bytes: plan.device.total.0,
        device_free_bytes: plan.device.free.unwrap_or(plan.device.total).0,
        budget_bytes: plan.budget.0,
        segments: plan
            .segments
            .iter()
            .map(|part| SegmentReport { name: segment_name(part.segment).to_owned(), bytes: part.bytes.0 })
            .collect(),
        total_bytes: plan.total.0,
        kv_bytes_per_token: plan.kv_bytes_per_token.0,
        precision: precision_choice(plan.precision),
        kv: kv_choice(plan.kv),
        context_tokens: plan.context.0,
        trained_context: plan.trained_context.0,
        largest_context: plan.largest_context.0,
        chunk_tokens: plan.chunk.0,
        fits: plan.fits,
        candidates: plan
            .candidates
            .iter()
            .map(|row| CandidateReport {
                precision: precision_choice(row.precision),
                available: row.available,
                weights_bytes: row.weights.0,
                total_bytes: row.total.0,
                largest_context: row.largest_context.0,
                fits: row.fits,
            })
            .collect(),
    }
}

/// What the user wants, for the planner. `cores` stands in for `threads == 0`.
pub(crate) fn plan_settings(settings: &Settings, cores: u32) -> PlanSettings {
    PlanSettings {
        context: Some(Tokens(settings.context_tokens)),
        precision: explicit_precision(settings.precision),
        kv: explicit_kv(settings.kv),
        chunk: None,
        utilization: settings.memory_fraction,
        chats: CHATS,
        threads: if settings.threads == 0 { cores } else { settings.threads },
        logits_rows: 1,
    }
}

/// The segment's name in the contract.
pub fn segment_name(segment: Segment) -> &'static str {
    match segment {
        Segment::Weights => "weights",
        Segment::Kv => "kv",
        Segment::Workspace => "workspace",
        Segment::Host => "host",
        Segment::Runtime => "runtime",
    }
}

/// The precision's name in files and messages.
pub fn precision_name(precision: Precision) -> &'static str {
    match precision {
        Precision::Int4 => "int4",
        Precision::Int8 => "int8",
        Precision::Fp16 => "fp16",
    }
}

/// The KV type's name in files and messages.
pub fn kv_name(kv: KvType) -> &'static str {
    match kv {
        KvType::Int4 => "int4",
        KvType::Int8 => "int8",
        KvType::Fp16 => "fp16",
    }
}

/// An explicit precision for the planner; `None` = choose.
pub fn explicit_precision(choice: PrecisionChoice) -> Option<Precision> {
    match choice {
        PrecisionChoice::Auto => None,
        PrecisionChoice::Int4 => Some(Precision::Int4),
        PrecisionChoice::Int8 => Some(Precision::Int8),
        PrecisionChoice::Fp16 => Some(Precision::Fp16),
    }
}

/// An explicit KV type for the planner; `None` = choose.
pub fn explicit_kv(choice: KvChoice) -> Option<KvType> {
    match choice {
        KvChoice::Auto => None,
        KvChoice::Int4 => Some(KvType::Int4),
        KvChoice::Int8 => Some(KvType::Int8),
        KvChoice::Fp16 => Some(KvType::Fp16),
    }
}

fn precision_choice(precision: Precision) -> PrecisionChoice {
    match precision {
        Precision::Int4 => PrecisionChoice::Int4,
        Precision::Int8 => PrecisionChoice::Int8,
        Precision::Fp16 => PrecisionChoice::Fp16,
    }
}

fn kv_choice(kv: KvType) -> KvChoice {
    match kv {
        KvType::Int4 => KvChoice::Int4,
        KvType::Int8 => KvChoice::Int8,
        KvType::Fp16 => KvChoice::Fp16,
    }
}

/// KV bytes that `tokens` tokens of one conversation occupy under `plan`: whole pages in every layer, and no more
/// than the layer's own pool. Reads the plan's regions; there is no second formula.
pub fn kv_bytes(plan: &MemoryPlan, tokens: Tokens) -> Bytes {
    plan.kv_classes
        .iter()
        .map(|class| {
            let pages = u64::from(tokens.pages().min(class.pages_per_chat));
            class
                .layers
                .iter()
                .filter_map(|&layer| plan.region(plimsoll_plan::RegionName::Kv(layer)))
                .map(|region| Bytes(region.bytes.0 / u64::from(class.pages.max(1))).times(pages))
                .sum()
        })
        .sum()
}
