//! Loading: one at a time, planned before anything is dropped, and planned again on what is then free.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_device::device_memory;
use plimsoll_engine::{Engine, ModelError, ModelFile};
use plimsoll_ipc::{AppEvent, IpcError, ModelEntry, ModelStatus, Settings};
use plimsoll_plan::{DeviceMemory, MemoryPlan, ModelShape, plan};

use crate::core::Core;
use crate::errors::{ToIpc, busy};
use crate::locking::lock;
use crate::models::entry_of;
use crate::report::{plan_report, plan_settings};
use crate::slot::Loaded;

/// Progress is told at most this often.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

impl Core {
    /// Main memory as a plan for the next model sees it: what the loaded model holds counts as free again.
    pub(crate) fn device(&self) -> Result<DeviceMemory, IpcError> {
        let mut device = device_memory(self.device_name(), &self.probe.memory()).map_err(|error| error.to_ipc())?;
        if let Some(loaded) = self.slot.loaded() {
            let held = loaded.held();
            device.free = device.free.map(|free| free.plus(held).min(device.total));
            // What the process took since then is in no plan: another price for the same settings would only confuse.
            device.resident = loaded.plan.device.resident;
        }
        Ok(device)
    }

    /// The plan of a model under these settings, on the memory that there is now.
    pub(crate) fn plan_for(&self, shape: &ModelShape, settings: &Settings) -> Result<MemoryPlan, IpcError> {
        let wanted = plan_settings(settings, self.compute_threads());
        plan(shape, &self.device()?, &wanted).map_err(|error| error.to_ipc())
    }

    /// Loads a model under these settings and makes them the settings in force.
    ///
    /// A model that cannot be used, or whose plan does not fit even with the memory that the loaded one gives back,
    /// is refused with the numbers, and the loaded one stays. Once that is given back, a failure leaves nothing
    /// loaded.
    pub(crate) fn load(&self, id: &str, settings: Settings) -> Result<ModelStatus, IpcError> {
        let _one_at_a_time = lock(&self.loads);
        let result = self.load_alone(id, settings);
        if let Err(error) = &result
            && self.slot.loaded().is_none()
            && !matches!(error.code, plimsoll_ipc::ErrorCode::Busy)
        {
            tracing::warn!(id, %error, "a model was not loaded");
            self.announce(ModelStatus::Failed { model: id.to_owned(), error: error.clone() });
        }
        self.gauge.touch();
        result
    }

    fn load_alone(&self, id: &str, mut settings: Settings) -> Result<ModelStatus, IpcError> {
        let started = Instant::now();
        settings.model = Some(id.to_owned());
        crate::settings::validate(&settings)?;
        let listed = self.library.find(id)?;
        let fitting = self.plan_for(listed.usable()?, &settings)?;
        fitting.require_fit().map_err(|error| error.to_ipc())?;

        let loading = |done, total| ModelStatus::Loading { model: id.to_owned(), done_bytes: done, total_bytes: total };
        let weights = fitting.segment(plimsoll_plan::Segment::Weights).0;
        self.drop_loaded(loading(0, weights))?;

        // Free memory is read again, before the tokenizer takes its part: what the plan counts as the model's own
        // must not be counted as held already.
        let device = self.device()?;
        let file = ModelFile::open(listed.entry.path.as_ref()).map_err(|error| error.to_ipc())?;
        let wanted = plan_settings(&settings, self.compute_threads());
        let plan = plan(file.shape(), &device, &wanted).map_err(|error| error.to_ipc())?;
        plan.require_fit().map_err(|error| error.to_ipc())?;
        let entry = entry_of(id.to_owned(), &file);
        let loaded = self.load_engine(entry, file, plan, &loading)?;

        let status = ModelStatus::Ready {
            model: loaded.entry.clone(),
            plan: plan_report(&loaded.plan, id),
            load_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        self.slot.fill(Arc::new(loaded), status.clone());
        self.events.emit(AppEvent::ModelStatus(status.clone()));
        self.save_settings(settings)?;
        Ok(status)
    }

    fn load_engine(
        &self,
        entry: ModelEntry,
        file: ModelFile,
        plan: MemoryPlan,
        loading: &dyn Fn(u64, u64) -> ModelStatus,
    ) -> Result<Loaded, IpcError> {
        let mut told: Option<Instant> = None;
        let mut progress = |step: plimsoll_engine::LoadProgress| {
            let due = told.is_none_or(|told| told.elapsed() >= PROGRESS_EVERY) || step.done == step.total;
            if due {
                told = Some(Instant::now());
                self.announce(loading(step.done.0, step.total.0));
            }
            ControlFlow::Continue(())
        };
        let threads = usize::try_from(plan.threads).unwrap_or(1);
        let engine = Engine::load(&file, &plan, threads, &mut progress).map_err(|error| self.with_free(&error))?;
        Ok(Loaded::new(entry, file, plan, engine))
    }

    /// Ends the loaded model and gives its memory back. Refused while an answer is being written.
    pub(crate) fn drop_loaded(&self, next: ModelStatus) -> Result<(), IpcError> {
        let old = {
            let gate = self.generations.gate();
            if gate.is_running() {
                return Err(busy());
            }
            self.slot.take(next.clone())
        };
        if let Some(old) = old {
            old.close();
        }
        self.events.emit(AppEvent::ModelStatus(next));
        Ok(())
    }

    /// The model to load at start: the one in the settings, or the only usable one.
    pub(crate) fn chosen_model(&self) -> Option<String> {
        if let Some(model) = self.settings.get().model {
            return Some(model);
        }
        let usable: Vec<_> = self.library.list().into_iter().filter(|listed| listed.shape.is_some()).collect();
        match usable.as_slice() {
            [only] => Some(only.entry.id.clone()),
            _ => None,
        }
    }

    pub(crate) fn unload(&self) -> Result<ModelStatus, IpcError> {
        let _one_at_a_time = lock(&self.loads);
        self.drop_loaded(ModelStatus::Empty)?;
        self.gauge.touch();
        Ok(ModelStatus::Empty)
    }

    fn announce(&self, status: ModelStatus) {
        self.slot.set_status(status.clone());
        self.events.emit(AppEvent::ModelStatus(status));
    }

    /// When the system refuses memory, the error says what is free.
    fn with_free(&self, error: &ModelError) -> IpcError {
        let ipc = error.to_ipc();
        match (error, self.probe.memory().available) {
            (ModelError::OutOfMemory { .. }, Some(free)) => ipc.with_number("free", free.0),
            _ => ipc,
        }
    }
}
