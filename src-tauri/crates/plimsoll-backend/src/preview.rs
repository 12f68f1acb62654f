//! What each setting would cost or free, before it is applied. Every price comes from the one planner.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_ipc::{IpcError, KvChoice, SettingOption, Settings, SettingsPreview};
use plimsoll_plan::{Bytes, KvType, MemoryPlan, ModelShape, Precision, Tokens};

use crate::core::Core;
use crate::errors::no_model;
use crate::report::{kv_bytes, kv_name, plan_report, precision_name};
use crate::slot::Loaded;

/// Least context and answer that are offered.
const LEAST_CONTEXT: u32 = 512;
const LEAST_OUTPUT: u32 = 128;
/// Memory fractions that are offered.
const FRACTIONS: [f64; 6] = [0.25, 0.5, 0.6, 0.75, 0.85, 0.9];
const KV_TYPES: [(KvType, KvChoice); 3] =
    [(KvType::Fp16, KvChoice::Fp16), (KvType::Int8, KvChoice::Int8), (KvType::Int4, KvChoice::Int4)];

impl Core {
    /// Prices `settings`. Changes nothing.
    pub(crate) fn preview(&self, mut settings: Settings) -> Result<SettingsPreview, IpcError> {
        crate::settings::validate(&settings)?;
        let loaded = self.slot.loaded();
        if settings.model.is_none() {
            settings.model = loaded.as_ref().map(|loaded| loaded.entry.id.clone());
        }
        let model = settings.model.clone().ok_or_else(no_model)?;
        let shape = self.shape_of(&model)?;
        let plan = self.plan_for(&shape, &settings)?;
        let prices = Prices {
            core: self,
            shape: &shape,
            settings: &settings,
            plan: &plan,
            base: loaded.as_ref().map_or(&plan, |loaded| &loaded.plan),
            base_output: if loaded.is_some() { self.settings.get().output_tokens } else { settings.output_tokens },
        };
        Ok(SettingsPreview {
            delta_bytes: loaded.as_ref().map_or(0, |loaded| difference(plan.total.0, loaded.plan.total.0)),
            needs_reload: loaded.as_ref().is_some_and(|loaded| !same_configuration(loaded, &model, &plan)),
            precision: prices.precision(),
            kv: prices.kv()?,
            context: prices.context()?,
            output: prices.output(),
            memory_fraction: prices.memory_fraction()?,
            plan: plan_report(&plan, &model),
        })
    }

    /// The planner's input for a model, loaded or not.
    pub(crate) fn shape_of(&self, model: &str) -> Result<Arc<ModelShape>, IpcError> {
        match self.slot.loaded() {
            Some(loaded) if loaded.entry.id == model => Ok(Arc::new(loaded.file.shape().clone())),
            _ => self.library.find(model)?.usable().cloned(),
        }
    }
}

/// Would loading `model` with `plan` give what is loaded already?
pub(crate) fn same_configuration(loaded: &Loaded, model: &str, plan: &MemoryPlan) -> bool {
    let in_force = &loaded.plan;
    loaded.entry.id == model
        && in_force.precision == plan.precision
        && in_force.kv == plan.kv
        && in_force.context == plan.context
        && in_force.chunk == plan.chunk
        && in_force.threads == plan.threads
}

struct Prices<'a> {
    core: &'a Core,
    shape: &'a ModelShape,
    settings: &'a Settings,
    /// What the previewed settings give.
    plan: &'a MemoryPlan,
    /// What is in force; the previewed plan when nothing is loaded.
    base: &'a MemoryPlan,
    base_output: u32,
}

impl Prices<'_> {
    fn precision(&self) -> Vec<SettingOption> {
        let mut rows: Vec<SettingOption> = self
            .plan
            .candidates
            .iter()
            .map(|row| SettingOption {
                value: precision_name(row.precision).to_owned(),
                total_bytes: row.total.0,
                delta_bytes: difference(row.total.0, self.base.total.0),
                context_tokens: self.plan.context.0,
                delta_tokens: difference(self.plan.context.wide(), self.base.context.wide()),
                fits: row.fits,
                available: row.available,
                reason: reason(row.available, "file_precision", row.fits),
            })
            .collect();
        let order = [Precision::Int4, Precision::Int8, Precision::Fp16].map(precision_name);
        rows.sort_by_key(|row| order.iter().position(|name| *name == row.value));
        rows
    }

    fn kv(&self) -> Result<Vec<SettingOption>, IpcError> {
        KV_TYPES
            .into_iter()
            .map(|(kv, choice)| {
                // A type that the engine cannot run is still priced: the page says what it would free.
                let available = self.shape.supported_kv.contains(&kv);
                let mut shape = self.shape.clone();
                if !available {
                    shape.supported_kv.push(kv);
                }
                let plan = self.core.plan_for(&shape, &Settings { kv: choice, ..self.settings.clone() })?;
                Ok(SettingOption {
                    available,
                    reason: reason(available, "not_built", plan.fits),
                    ..self.option(kv_name(kv).to_owned(), &plan)
                })
            })
            .collect()
    }

    fn context(&self) -> Result<Vec<SettingOption>, IpcError> {
        let trained = self.plan.trained_context.0;
        let mut values: BTreeSet<u32> = doublings(LEAST_CONTEXT, trained).collect();
        values.extend([trained, self.settings.context_tokens.min(trained)]);
        values
            .into_iter()
            .map(|tokens| {
                let settings = Settings { context_tokens: tokens, ..self.settings.clone() };
                Ok(self.option(tokens.to_string(), &self.core.plan_for(self.shape, &settings)?))
            })
            .collect()
    }

    fn output(&self) -> Vec<SettingOption> {
        let context = self.plan.context.0;
        let mut values: BTreeSet<u32> = doublings(LEAST_OUTPUT, context).collect();
        values.insert(self.settings.output_tokens);
        let reserve = |tokens: u32| kv_bytes(self.plan, Tokens(tokens)).0;
        values
            .into_iter()
            .map(|tokens| {
                let fits = self.plan.fits && tokens < context;
                SettingOption {
                    value: tokens.to_string(),
                    total_bytes: reserve(tokens),
                    delta_bytes: difference(reserve(tokens), reserve(self.base_output)),
                    context_tokens: context,
                    delta_tokens: difference(tokens.into(), self.base_output.into()),
                    fits,
                    available: true,
                    reason: None,
                }
            })
            .collect()
    }

    fn memory_fraction(&self) -> Result<Vec<SettingOption>, IpcError> {
        let mut values = FRACTIONS.to_vec();
        if !values.contains(&self.settings.memory_fraction) {
            values.push(self.settings.memory_fraction);
        }
        values.sort_by(f64::total_cmp);
        values
            .into_iter()
            .map(|fraction| {
                let settings = Settings { memory_fraction: fraction, ..self.settings.clone() };
                let plan = self.core.plan_for(self.shape, &settings)?;
                Ok(SettingOption {
                    value: fraction.to_string(),
                    total_bytes: plan.budget.0,
                    delta_bytes: difference(plan.budget.0, self.base.budget.0),
                    context_tokens: plan.largest_context.0,
                    delta_tokens: difference(plan.largest_context.wide(), self.base.largest_context.wide()),
                    fits: plan.fits,
                    available: true,
                    reason: reason(true, "", plan.fits),
                })
            })
            .collect()
    }

    fn option(&self, value: String, plan: &MemoryPlan) -> SettingOption {
        SettingOption {
            value,
            total_bytes: plan.total.0,
            delta_bytes: difference(plan.total.0, self.base.total.0),
            context_tokens: plan.context.0,
            delta_tokens: difference(plan.context.wide(), self.base.context.wide()),
            fits: plan.fits,
            available: true,
            reason: reason(true, "", plan.fits),
        }
    }
}

fn reason(available: bool, why_not: &str, fits: bool) -> Option<String> {
    match (available, fits) {
        (false, _) => Some(why_not.to_owned()),
        (true, false) => Some("over_budget".to_owned()),
        (true, true) => None,
    }
}

/// 1, 2, 4 ... times `least`, up to `most`.
fn doublings(least: u32, most: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(least), |value| value.checked_mul(2)).take_while(move |value| *value <= most)
}

/// `a - b`, as a signed number.
pub(crate) fn difference(a: u64, b: u64) -> i64 {
    let magnitude = i64::try_from(a.abs_diff(b)).unwrap_or(i64::MAX);
    if a >= b { magnitude } else { -magnitude }
}

/// Bytes that a larger context adds to the plan in force.
pub(crate) fn added(plan: &MemoryPlan, in_force: &MemoryPlan) -> Bytes {
    plan.total.minus(in_force.total)
}
