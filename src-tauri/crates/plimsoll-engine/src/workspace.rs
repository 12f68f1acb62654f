//! Cuts the slab into the plan's regions. Each region is handed out once, so no two borrowers overlap.

use plimsoll_plan::{Bytes, MemoryPlan, Region, RegionName, Segment};

use crate::error::ModelError;
use crate::slab::as_candidates;

/// The slab in three parts, by the plan's order: weights, KV pages, workspace.
pub(crate) struct Parts<'s> {
    /// One slice per tensor, in the binding's order.
    pub(crate) weights: Vec<&'s mut [u8]>,
    /// One page pool per layer.
    pub(crate) kv: Vec<&'s mut [u8]>,
    /// The whole workspace segment; the loader stages rows in it before it is cut up.
    pub(crate) workspace: &'s mut [u8],
    /// Where the workspace starts in the slab.
    workspace_start: usize,
}

impl<'s> Parts<'s> {
    /// Cuts `slab` as `plan` says.
    pub(crate) fn split(plan: &MemoryPlan, slab: &'s mut [u8]) -> Result<Self, ModelError> {
        let start = plan
            .segments
            .iter()
            .find(|part| part.segment == Segment::Workspace)
            .and_then(|part| part.offset)
            .map_or(0, to_size);
        let (front, workspace) = slab.split_at_mut_checked(start).ok_or_else(|| mismatch("workspace", 0, start))?;
        let mut cutter = Cutter { rest: front, at: 0 };
        let (mut weights, mut kv) = (Vec::new(), Vec::new());
        for region in &plan.regions {
            match region.name {
                RegionName::Weight(_) => weights.push(cutter.take(region)?),
                RegionName::Kv(_) => kv.push(cutter.take(region)?),
                _ => {}
            }
        }
        Ok(Self { weights, kv, workspace, workspace_start: start })
    }

    /// What the loader may write rows to.
    pub(crate) fn staging(&mut self, plan_bytes: Bytes) -> &mut [u8] {
        let bytes = to_size(plan_bytes).min(self.workspace.len());
        self.workspace.get_mut(..bytes).unwrap_or_default()
    }

    /// Ends loading: weights become read-only, the workspace is cut into its regions.
    pub(crate) fn finish(self, plan: &MemoryPlan) -> Result<Loaded<'s>, ModelError> {
        let workspace = Workspace::cut(plan, self.workspace, self.workspace_start)?;
        let weights = self.weights.into_iter().map(|weight| &*weight).collect();
        Ok(Loaded { weights, kv: self.kv, workspace })
    }
}

/// The slab once the weights are in it.
pub(crate) struct Loaded<'s> {
    /// One slice per tensor, in the binding's order.
    pub(crate) weights: Vec<&'s [u8]>,
    /// One page pool per layer.
    pub(crate) kv: Vec<&'s mut [u8]>,
    pub(crate) workspace: Workspace<'s>,
}

/// Scratch of one forward pass; shapes as in [`RegionName`].
pub(crate) struct Workspace<'s> {
    pub(crate) page_tables: Vec<&'s mut [u32]>,
    pub(crate) residual: &'s mut [f32],
    pub(crate) normed: &'s mut [f32],
    pub(crate) activations: &'s mut [u8],
    pub(crate) qkv: &'s mut [f32],
    pub(crate) attention_out: &'s mut [f32],
    pub(crate) gate_up: &'s mut [f32],
    pub(crate) projected: &'s mut [f32],
    pub(crate) matmul_scratch: &'s mut [u8],
    pub(crate) attention_scratch: &'s mut [u8],
    pub(crate) rope: &'s mut [f32],
    pub(crate) logits: &'s mut [f32],
    pub(crate) candidates: &'s mut [(u32, f32)],
}

impl<'s> Workspace<'s> {
    fn cut(plan: &MemoryPlan, workspace: &'s mut [u8], start: usize) -> Result<Self, ModelError> {
        let mut cutter = Cutter { rest: workspace, at: start };
        let mut page_tables = Vec::new();
        for (index, _) in plan.kv_classes.iter().enumerate() {
            page_tables.push(cutter.typed(plan, RegionName::PageTable(index))?);
        }
        // In the plan's order: offsets ascend.
        Ok(Self {
            page_tables,
            residual: cutter.typed(plan, RegionName::Residual)?,
            normed: cutter.typed(plan, RegionName::Normed)?,
            activations: cutter.typed(plan, RegionName::Activations)?,
            qkv: cutter.typed(plan, RegionName::Qkv)?,
            attention_out: cutter.typed(plan, RegionName::AttentionOut)?,
            gate_up: cutter.typed(plan, RegionName::GateUp)?,
            projected: cutter.typed(plan, RegionName::Projected)?,
            matmul_scratch: cutter.typed(plan, RegionName::MatmulScratch)?,
            attention_scratch: cutter.typed(plan, RegionName::AttentionScratch)?,
            rope: cutter.typed(plan, RegionName::Rope)?,
            logits: cutter.typed(plan, RegionName::Logits)?,
            candidates: as_candidates(cutter.typed(plan, RegionName::Candidates)?)
                .ok_or_else(|| mismatch("Candidates", 0, size_of::<(u32, f32)>()))?,
        })
    }
}

/// Hands out ascending ranges of one slice.
struct Cutter<'s> {
    rest: &'s mut [u8],
    /// Offset of `rest` in the slab.
    at: usize,
}

impl<'s> Cutter<'s> {
    fn take(&mut self, region: &Region) -> Result<&'s mut [u8], ModelError> {
        let (offset, bytes) = (to_size(region.offset), to_size(region.bytes));
        let wrong = || mismatch(&format!("{:?}", region.name), self.at, offset);
        let gap = offset.checked_sub(self.at).ok_or_else(wrong)?;
        let rest = std::mem::take(&mut self.rest);
        let (_, rest) = rest.split_at_mut_checked(gap).ok_or_else(wrong)?;
        let (taken, rest) = rest.split_at_mut_checked(bytes).ok_or_else(wrong)?;
        self.rest = rest;
        self.at = offset + bytes;
        Ok(taken)
    }

    fn typed<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
        &mut self,
        plan: &MemoryPlan,
        name: RegionName,
    ) -> Result<&'s mut [T], ModelError> {
        let region = plan.region(name).ok_or_else(|| mismatch(&format!("{name:?}"), 0, 0))?;
        let bytes = self.take(&region)?;
        let length = bytes.len();
        bytemuck::try_cast_slice_mut(bytes).map_err(|_| mismatch(&format!("{name:?}"), length, size_of::<T>()))
    }
}

fn to_size(bytes: Bytes) -> usize {
    usize::try_from(bytes.0).unwrap_or(usize::MAX)
}

fn mismatch(region: &str, planned: usize, needed: usize) -> ModelError {
    ModelError::PlanMismatch { region: region.to_owned(), planned: Bytes(planned as u64), needed: Bytes(needed as u64) }
}
