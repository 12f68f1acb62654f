//! The one formula: a configuration becomes regions. Sizes and offsets come from the same walk.

use crate::choice::Configuration;
use crate::kv::{self, KvClass};
use crate::memory_plan::{HostItem, HostPart, Region, RegionName, Segment, SegmentBytes};
use crate::shape::{LayerShape, ModelShape, PlanSettings, REGION_ALIGNMENT};
use crate::units::{Bytes, Tokens};
use crate::weights;

/// Segments of the slab start at a multiple of this and are a multiple of it long: the smallest memory page.
pub const SEGMENT_ALIGNMENT: u64 = 4096;

/// Rows that a loader thread packs at once.
const STAGING_ROWS: u64 = 8;

/// Bytes of one value in the loader: as the file stores it (at most an f32), and decoded to f32.
const STAGING_VALUE: u64 = 4 + 4;

/// Bytes of an f32.
const F32: u64 = 4;

/// Bytes of a u32.
const U32: u64 = 4;

/// A configuration laid out.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) regions: Vec<Region>,
    pub(crate) segments: Vec<SegmentBytes>,
    pub(crate) host: Vec<HostPart>,
    pub(crate) slab: Bytes,
    pub(crate) total: Bytes,
    pub(crate) classes: Vec<KvClass>,
    pub(crate) staging_per_thread: Bytes,
}

/// Lays `configuration` out.
pub(crate) fn layout(
    shape: &ModelShape,
    settings: &PlanSettings,
    resident: Bytes,
    configuration: Configuration,
) -> Layout {
    let Configuration { precision, kv, context, chunk } = configuration;
    let classes = kv::classes(shape, context, chunk, settings.chats);
    let mut slab = SlabLayout::default();

    slab.begin(Segment::Weights);
    for (index, weight) in shape.weights.iter().enumerate() {
        slab.place(RegionName::Weight(index), weights::weight_bytes(shape, weight, precision));
    }

    slab.begin(Segment::Kv);
    for (index, layer) in shape.layers.iter().enumerate() {
        let pages = classes.iter().find(|class| class.window == layer.window).map_or(0, |class| class.pages);
        slab.place(RegionName::Kv(index), kv::page_bytes(layer, kv).times(u64::from(pages)));
    }

    let workspace_start = slab.begin(Segment::Workspace);
    for (index, class) in classes.iter().enumerate() {
        slab.place(RegionName::PageTable(index), Bytes::of(u64::from(class.pages), U32));
    }
    place_activations(&mut slab, shape, settings, chunk);
    let staging_per_thread = staging_per_thread(shape);
    let staging = staging_per_thread.times(u64::from(settings.threads));
    slab.alias(RegionName::LoadStaging, workspace_start, staging);

    let (regions, mut segments) = slab.finish();
    let slab_bytes: Bytes = segments.iter().map(|part| part.bytes).sum();
    let host = host_parts(shape, settings, context);
    let host_bytes: Bytes = host.iter().map(|part| part.bytes).sum();
    segments.push(SegmentBytes { segment: Segment::Host, offset: None, bytes: host_bytes });
    segments.push(SegmentBytes { segment: Segment::Runtime, offset: None, bytes: resident });
    let total = slab_bytes.plus(host_bytes).plus(resident);
    Layout { regions, segments, host, slab: slab_bytes, total, classes, staging_per_thread }
}

/// Everything whose size follows the chunk, the threads or the vocabulary, but not the context.
fn place_activations(slab: &mut SlabLayout, shape: &ModelShape, settings: &PlanSettings, chunk: Tokens) {
    let rows = |width: u64| Bytes::of(chunk.wide(), width).times(F32);
    let embedding = u64::from(shape.embedding);
    let threads = u64::from(settings.threads);
    let vocabulary = u64::from(shape.vocabulary);
    let groups = matrix_columns(shape).div_ceil(32);
    let kernels = shape.kernels;

    slab.place(RegionName::Residual, rows(embedding));
    slab.place(RegionName::Normed, rows(embedding));
    slab.place(RegionName::Activations, Bytes::of(chunk.wide(), groups).times(kernels.activation_group_bytes));
    slab.place(RegionName::Qkv, rows(widest(shape, qkv_width)));
    slab.place(RegionName::AttentionOut, rows(widest(shape, |layer| product(layer.heads, layer.value_dim))));
    slab.place(RegionName::GateUp, rows(widest(shape, |layer| product(layer.feed_forward, 2))));
    slab.place(RegionName::Projected, rows(embedding));
    slab.place(RegionName::MatmulScratch, kernels.matmul_scratch_per_thread.aligned(REGION_ALIGNMENT).times(threads));
    slab.place(
        RegionName::AttentionScratch,
        kernels.attention_scratch_per_thread.aligned(REGION_ALIGNMENT).times(threads),
    );
    let key_dim = widest(shape, |layer| u64::from(layer.key_dim));
    slab.place(RegionName::Rope, rows(key_dim).times(u64::from(shape.rope_tables)));
    slab.place(RegionName::Logits, Bytes::of(u64::from(settings.logits_rows), vocabulary).times(F32));
    slab.place(RegionName::Candidates, Bytes::of(vocabulary, U32 + F32));
    slab.place(RegionName::Tokens, Bytes::of(chunk.wide(), U32));
}

fn host_parts(shape: &ModelShape, settings: &PlanSettings, context: Tokens) -> Vec<HostPart> {
    let ids = Bytes::of(context.wide(), U32).times(u64::from(settings.chats));
    vec![
        HostPart { item: HostItem::Tokenizer, bytes: shape.tokenizer },
        HostPart { item: HostItem::CachedTokens, bytes: ids },
        HostPart { item: HostItem::PromptTokens, bytes: ids },
    ]
}

fn qkv_width(layer: &LayerShape) -> u64 {
    let queries = product(layer.heads, layer.key_dim);
    let keys = product(layer.kv_heads, layer.key_dim);
    let values = product(layer.kv_heads, layer.value_dim);
    queries.saturating_add(keys).saturating_add(values)
}

fn product(a: u32, b: u32) -> u64 {
    u64::from(a).saturating_mul(u64::from(b))
}

fn widest(shape: &ModelShape, width: impl Fn(&LayerShape) -> u64) -> u64 {
    shape.layers.iter().map(width).max().unwrap_or(0)
}

/// Columns of the widest matrix: the longest row that is ever quantized as an activation, or packed.
fn matrix_columns(shape: &ModelShape) -> u64 {
    shape.weights.iter().filter(|weight| weight.rows > 1).map(|weight| weight.cols).max().unwrap_or(0)
}

fn staging_per_thread(shape: &ModelShape) -> Bytes {
    let widest = shape.weights.iter().map(|weight| weight.cols).max().unwrap_or(0);
    Bytes::of(widest, STAGING_ROWS * STAGING_VALUE).aligned(REGION_ALIGNMENT)
}

/// Places regions one after another.
#[derive(Debug, Default)]
struct SlabLayout {
    regions: Vec<Region>,
    aliases: Vec<Region>,
    segments: Vec<SegmentBytes>,
    end: Bytes,
}

impl SlabLayout {
    /// Ends the segment before and starts `segment`; returns where.
    fn begin(&mut self, segment: Segment) -> Bytes {
        self.close();
        self.segments.push(SegmentBytes { segment, offset: Some(self.end), bytes: Bytes::ZERO });
        self.end
    }

    fn place(&mut self, name: RegionName, bytes: Bytes) {
        let Some(current) = self.segments.last() else { return };
        let offset = self.end.aligned(REGION_ALIGNMENT);
        self.regions.push(Region { segment: current.segment, name, offset, bytes });
        self.end = offset.plus(bytes);
    }

    /// A region over others of the current segment, which grows if it is too short.
    fn alias(&mut self, name: RegionName, offset: Bytes, bytes: Bytes) {
        let Some(current) = self.segments.last() else { return };
        self.aliases.push(Region { segment: current.segment, name, offset, bytes });
        self.end = self.end.max(offset.plus(bytes));
    }

    fn close(&mut self) {
        self.end = self.end.aligned(SEGMENT_ALIGNMENT);
        if let Some(current) = self.segments.last_mut() {
            current.bytes = self.end.minus(current.offset.unwrap_or_default());
        }
    }

    fn finish(mut self) -> (Vec<Region>, Vec<SegmentBytes>) {
        self.close();
        self.regions.append(&mut self.aliases);
        (self.regions, self.segments)
    }
}
