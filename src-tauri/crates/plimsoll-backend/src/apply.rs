//! Applying settings: whole or not at all.

use plimsoll_ipc::{AppEvent, IpcError, ModelStatus, Settings};

use crate::core::Core;
use crate::errors::ToIpc;
use crate::preview::same_configuration;
use crate::report::plan_report;
use crate::settings::{same_plan, validate};

impl Core {
    /// Saves settings, and loads the model again where the plan changes. What does not fit changes nothing.
    pub(crate) fn apply(&self, settings: Settings) -> Result<ModelStatus, IpcError> {
        validate(&settings)?;
        let before = self.settings.get();
        let loaded = self.slot.loaded();
        let Some(model) = settings.model.clone() else {
            if loaded.is_some() {
                self.unload()?;
            }
            self.save_settings(settings)?;
            return Ok(self.slot.status());
        };
        if same_plan(&before, &settings) {
            self.save_settings(settings)?;
            return Ok(self.slot.status());
        }
        let shape = self.shape_of(&model)?;
        let plan = self.plan_for(&shape, &settings)?;
        plan.require_fit().map_err(|error| error.to_ipc())?;
        match loaded {
            Some(loaded) if same_configuration(&loaded, &model, &plan) => {
                // For example a larger budget: nothing that is loaded changes, and the page learns the new numbers.
                self.save_settings(settings)?;
                self.restate(&plan_report(&plan, &model));
                Ok(self.slot.status())
            }
            _ => self.load(&model, settings),
        }
    }

    /// Makes settings the ones in force, and tells the page.
    pub(crate) fn save_settings(&self, settings: Settings) -> Result<(), IpcError> {
        let changed = self.settings.get() != settings;
        self.settings.save(settings.clone())?;
        if changed {
            self.events.emit(AppEvent::Settings(settings));
        }
        self.gauge.touch();
        Ok(())
    }

    fn restate(&self, report: &plimsoll_ipc::PlanReport) {
        if let ModelStatus::Ready { model, load_ms, .. } = self.slot.status() {
            let status = ModelStatus::Ready { model, plan: report.clone(), load_ms };
            self.slot.set_status(status.clone());
            self.events.emit(AppEvent::ModelStatus(status));
        }
    }
}
