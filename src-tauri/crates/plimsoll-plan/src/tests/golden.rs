//! Values worked out by hand in research/memory.md 1.0, and from vLLM's and llama.cpp's published caches.

use super::fixtures::{GIB, MIB, device, gemma3_270m, llama31_8b, mistral_7b, qwen25_7b, settings, smollm2_135m};
use crate::{
    Bytes, KvType, LayerShape, MemoryPlan, ModelShape, PlanSettings, Precision, RegionName, Segment, Tokens,
    page_bytes, pages_per_chat, plan,
};

fn planned(shape: &ModelShape, change: impl Fn(&mut PlanSettings)) -> MemoryPlan {
    let mut settings = settings();
    change(&mut settings);
    plan(shape, &device(64 * GIB), &settings).unwrap()
}

#[test]
fn llama_3_1_8b_takes_131072_bytes_a_token() {
    let plan = planned(&llama31_8b(), |s| {
        s.context = Some(Tokens(8192));
        s.kv = Some(KvType::Fp16);
    });
    assert_eq!(plan.kv_bytes_per_token, Bytes(131_072));
    assert_eq!(plan.segment(Segment::Kv), Bytes(1024 * MIB));
}

#[test]
fn int8_and_int4_pages_hold_their_scales() {
    let layer = LayerShape { heads: 32, kv_heads: 8, key_dim: 128, value_dim: 128, feed_forward: 1, window: None };
    assert_eq!(page_bytes(&layer, KvType::Fp16), Bytes(262_144));
    // 64 x 8 x 256 values, and 64 x 8 x 2 scales.
    assert_eq!(page_bytes(&layer, KvType::Int8), Bytes(131_072 + 2048));
    // Half of it, and 64 x 8 x 8 scales: the 0.28125 of q4_0.
    assert_eq!(page_bytes(&layer, KvType::Int4), Bytes(65_536 + 8192));
    assert_eq!(page_bytes(&layer, KvType::Int4).0 * 32, page_bytes(&layer, KvType::Fp16).0 * 9);
}

#[test]
fn qwen_7b_takes_1792_mib_at_32768_tokens() {
    let plan = planned(&qwen25_7b(), |s| s.context = Some(Tokens(32768)));
    assert_eq!(plan.kv_bytes_per_token, Bytes(57_344));
    assert_eq!(plan.segment(Segment::Kv), Bytes(1792 * MIB));
}

#[test]
fn smollm2_holds_what_its_tensors_say() {
    let plan = planned(&smollm2_135m(), |s| s.context = Some(Tokens(2048)));
    // 49152 x 576 at 34/32; 30 x (576 x (576 + 192 + 192 + 576) + 3 x 576 x 1536) at 20/32; 61 norms of 576 f32.
    let tensors = 30_081_024 + 66_355_200 + 61 * 576 * 4;
    assert_eq!(plan.segment(Segment::Weights), Bytes(tensors).aligned(4096));
    // 30 layers x 3 heads x 128 values x 2 bytes.
    assert_eq!(plan.kv_bytes_per_token, Bytes(23_040));
    assert_eq!(plan.segment(Segment::Kv), Bytes(2048 * 23_040));
}

#[test]
fn gemma_window_layers_stop_growing() {
    // W - 1 + C = 511 + 512 tokens = 16 pages, and one for a window that starts inside a page.
    assert_eq!(pages_per_chat(Some(Tokens(512)), Tokens(32768), Tokens(512)), 17);
    assert_eq!(pages_per_chat(Some(Tokens(512)), Tokens(512), Tokens(512)), 8);
    let short = planned(&gemma3_270m(), |s| s.context = Some(Tokens(2048)));
    let long = planned(&gemma3_270m(), |s| s.context = Some(Tokens(32768)));
    let page = 64 * 512 * 2;
    for (plan, global) in [(&short, 32), (&long, 512)] {
        assert_eq!(plan.region(RegionName::Kv(0)).unwrap().bytes, Bytes(17 * page));
        assert_eq!(plan.region(RegionName::Kv(5)).unwrap().bytes, Bytes(global * page));
        assert_eq!(plan.segment(Segment::Kv), Bytes((15 * 17 + 3 * global) * page));
    }
    assert_eq!(short.kv_classes[0].layers.len(), 15);
    assert_eq!(short.kv_classes[1].layers, [5, 11, 17]);
    assert_eq!(short.kv_class_of(11).unwrap().0, 1);
}

#[test]
fn a_model_of_windows_only_costs_nothing_beyond_its_window() {
    let plan = planned(&mistral_7b(), |s| s.context = Some(Tokens(32768)));
    assert_eq!(plan.kv_bytes_per_token, Bytes(0));
    assert_eq!(plan.kv_classes[0].pages_per_chat, (4095 + 512_u32).div_ceil(64) + 1);
}

#[test]
fn every_chat_has_its_own_pages() {
    let one = planned(&gemma3_270m(), |_| {});
    let three = planned(&gemma3_270m(), |s| s.chats = 3);
    assert_eq!(three.segment(Segment::Kv).0, 3 * one.segment(Segment::Kv).0);
    assert_eq!(three.kv_classes[0].pages, 3 * one.kv_classes[0].pages_per_chat);
}

#[test]
fn quantizing_while_loading_has_its_group_scales() {
    let shape = llama31_8b();
    let at = |precision| planned(&shape, |s| s.precision = Some(precision)).segment(Segment::Weights).0;
    let (fp16, int8, int4) = (at(Precision::Fp16), at(Precision::Int8), at(Precision::Int4));
    let norms = 65 * 4096 * 4;
    assert_eq!((int8 - norms) * 64, (fp16 - norms) * 34);
    assert_eq!((int4 - norms) * 64, (fp16 - norms) * 20);
}

#[test]
fn the_budget_is_the_smaller_bound() {
    let plan = planned(&smollm2_135m(), |s| s.utilization = 0.5);
    assert_eq!(plan.budget, Bytes(32 * GIB));
    let plan = planned(&smollm2_135m(), |s| s.utilization = 0.95);
    assert_eq!(plan.budget, Bytes(48 * GIB - 2 * GIB + 40 * MIB));
}

#[test]
fn unknown_free_memory_leaves_the_share_of_the_total() {
    let mut device = device(64 * GIB);
    device.free = None;
    let plan = plan(&smollm2_135m(), &device, &settings()).unwrap();
    assert_eq!(plan.budget, Bytes(48 * GIB));
    assert_eq!(plan.device.free, None);
}
