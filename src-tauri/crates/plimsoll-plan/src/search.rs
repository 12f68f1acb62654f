//! The planner: tries configurations in order, and searches contexts over the same layout.

use crate::budget::budget;
use crate::choice::{self, Configuration, PRECISIONS, Preference};
use crate::error::PlanError;
use crate::kv;
use crate::layout::{Layout, layout};
use crate::memory_plan::{Candidate, MemoryPlan, Segment};
use crate::shape::{DeviceMemory, ModelShape, PlanSettings, Precision};
use crate::units::{Bytes, Tokens};
use crate::weights;

/// The largest byte count of a plan: what a JSON number carries exactly.
const LARGEST_TOTAL: Bytes = Bytes(1 << 53);

/// Context for which an automatic plan chooses its precision. Better weights are not given up for a context that
/// nobody asked for; the context then grows as far as the budget allows.
const AUTOMATIC_CONTEXT: Tokens = Tokens(4096);

/// Makes the plan for `shape` on `device`.
///
/// Explicit settings are kept as they are. The rest is chosen best first: the highest precision that fits with FP16
/// KV, a smaller chunk before INT8 KV, INT8 KV before lower precision (design.md 2.8). When nothing fits, the
/// smallest plan is returned with `fits == false`, and `largest_context` says what would.
pub fn plan(shape: &ModelShape, device: &DeviceMemory, settings: &PlanSettings) -> Result<MemoryPlan, PlanError> {
    choice::validate(shape, settings)?;
    let search = Search { shape, settings, resident: device.resident, budget: budget(device, settings.utilization)? };
    let preferences: Vec<Preference> = choice::precisions(shape, settings)
        .into_iter()
        .flat_map(|precision| choice::preferences(shape, settings, precision))
        .collect();
    let (configuration, laid_out) = search.choose(&preferences)?;
    let candidates = PRECISIONS
        .into_iter()
        .map(|precision| search.candidate(precision, configuration.context))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(MemoryPlan {
        model: shape.name.clone(),
        device: device.clone(),
        budget: search.budget,
        total: laid_out.total,
        fits: laid_out.total <= search.budget,
        shortfall: laid_out.total.minus(search.budget),
        segments: laid_out.segments,
        host: laid_out.host,
        slab: laid_out.slab,
        regions: laid_out.regions,
        staging_per_thread: laid_out.staging_per_thread,
        kv_bytes_per_token: kv::bytes_per_token(shape, configuration.kv),
        kv_classes: laid_out.classes,
        precision: configuration.precision,
        kv: configuration.kv,
        context: configuration.context,
        chunk: configuration.chunk,
        chats: settings.chats,
        threads: settings.threads,
        logits_rows: settings.logits_rows,
        trained_context: shape.trained_context,
        largest_context: search.largest_context(&preferences),
        candidates,
    })
}

struct Search<'a> {
    shape: &'a ModelShape,
    settings: &'a PlanSettings,
    resident: Bytes,
    budget: Bytes,
}

impl Search<'_> {
    fn layout(&self, configuration: Configuration) -> Layout {
        layout(self.shape, self.settings, self.resident, configuration)
    }

    fn fits(&self, configuration: Configuration) -> bool {
        self.layout(configuration).total <= self.budget
    }

    /// The configuration in force.
    fn choose(&self, preferences: &[Preference]) -> Result<(Configuration, Layout), PlanError> {
        if let Some(context) = self.settings.context {
            return self.best_at(preferences, context);
        }
        let target = AUTOMATIC_CONTEXT.min(self.shape.trained_context);
        if let Some(&preference) = preferences.iter().find(|preference| self.fits(preference.at(target))) {
            return self.best_at(&[preference], self.largest_context(&[preference]));
        }
        let largest = self.largest_context(preferences);
        self.best_at(preferences, if largest.0 == 0 { target } else { largest })
    }

    /// The first preference that fits at `context`, or else the smallest.
    fn best_at(&self, preferences: &[Preference], context: Tokens) -> Result<(Configuration, Layout), PlanError> {
        let mut smallest: Option<(Configuration, Layout)> = None;
        for preference in preferences {
            let configuration = preference.at(context);
            let laid_out = self.layout(configuration);
            if laid_out.total <= self.budget.min(LARGEST_TOTAL) {
                return Ok((configuration, laid_out));
            }
            if smallest.as_ref().is_none_or(|(_, best)| laid_out.total < best.total) {
                smallest = Some((configuration, laid_out));
            }
        }
        match smallest {
            Some((_, laid_out)) if laid_out.total > LARGEST_TOTAL => Err(PlanError::Overflow { limit: LARGEST_TOTAL }),
            Some(smallest) => Ok(smallest),
            None => Err(PlanError::NoKvType),
        }
    }

    /// The largest context at which any preference fits; 0 when none does. More context never takes less memory,
    /// so bisection finds it.
    fn largest_context(&self, preferences: &[Preference]) -> Tokens {
        let fits = |context: u32| preferences.iter().any(|preference| self.fits(preference.at(Tokens(context))));
        let trained = self.shape.trained_context.0;
        if fits(trained) {
            return Tokens(trained);
        }
        let (mut good, mut bad) = (0, trained);
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if fits(middle) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        Tokens(good)
    }

    fn candidate(&self, precision: Precision, context: Tokens) -> Result<Candidate, PlanError> {
        let preferences = choice::preferences(self.shape, self.settings, precision);
        let (configuration, laid_out) = self.best_at(&preferences, context)?;
        let weights = laid_out.segments.iter().filter(|part| part.segment == Segment::Weights);
        Ok(Candidate {
            precision,
            available: weights::is_available(self.shape, precision),
            kv: configuration.kv,
            chunk: configuration.chunk,
            weights: weights.map(|part| part.bytes).sum(),
            total: laid_out.total,
            largest_context: self.largest_context(&preferences),
            fits: laid_out.total <= self.budget,
        })
    }
}
