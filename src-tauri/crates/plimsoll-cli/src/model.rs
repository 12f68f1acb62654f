//! From the command line to a plan and a loaded model.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use plimsoll_backend::errors::ToIpc as _;
use plimsoll_backend::paths::DataPaths;
use plimsoll_device::{Probe as _, SystemProbe, device_memory};
use plimsoll_engine::{Engine, ModelFile};
use plimsoll_ipc::{ErrorCode, IpcError};
use plimsoll_plan::{MemoryPlan, PlanSettings, Tokens, plan};
use serde::Serialize;

use crate::args::ModelArguments;
use crate::failure::Failure;

/// Context when none is named, as far as the model was trained for it.
const DEFAULT_CONTEXT: Tokens = Tokens(4096);

/// A file and its plan.
pub(crate) struct Planned {
    pub(crate) file: ModelFile,
    pub(crate) plan: MemoryPlan,
}

/// A loaded model.
pub(crate) struct Running {
    pub(crate) file: ModelFile,
    pub(crate) plan: MemoryPlan,
    pub(crate) engine: Engine,
}

/// What a command needs beyond the common options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needs {
    /// Context when the command line names none; `None` = the usual default.
    pub(crate) context: Option<Tokens>,
    /// Conversations at once.
    pub(crate) chats: u32,
}

impl Default for Needs {
    fn default() -> Self {
        Self { context: None, chats: 1 }
    }
}

/// The file that `<MODEL>` names: a path, or the id of an installed model.
pub(crate) fn locate(model: &str) -> Result<PathBuf, Failure> {
    let path = Path::new(model);
    if path.is_file() {
        return Ok(path.to_owned());
    }
    let installed = DataPaths::open(None).map_err(Failure::new)?.models().join(format!("{model}.gguf"));
    if installed.is_file() {
        return Ok(installed);
    }
    let missing = IpcError::new(ErrorCode::NotFound, format!("`{model}` is neither a file nor an installed model"));
    Err(Failure::new(missing.with_detail(model)))
}

/// Opens a file without planning.
pub(crate) fn open(model: &str) -> Result<ModelFile, Failure> {
    Ok(ModelFile::open(&locate(model)?)?)
}

/// Opens a file and plans it. The memory is read first: what the file's own tables take is in the plan.
pub(crate) fn plan_model(arguments: &ModelArguments, needs: Needs) -> Result<Planned, Failure> {
    if !matches!(arguments.device.as_str(), "auto" | "cpu") {
        let message = format!("device `{}` is not available: this program computes on the processor", arguments.device);
        return Err(Failure::new(IpcError::new(ErrorCode::BadSetting, message).with_detail("device")));
    }
    let path = locate(&arguments.model)?;
    let probe = SystemProbe::new();
    let cpu = probe.cpu();
    let name = cpu.name.clone().unwrap_or_else(|| "CPU".to_owned());
    let device = device_memory(name, &probe.memory())?;
    let file = ModelFile::open(&path)?;
    let trained = file.info().trained_context;
    let context = arguments.context.map(Tokens).or(needs.context).unwrap_or(DEFAULT_CONTEXT.min(trained));
    let settings = PlanSettings {
        context: Some(context),
        precision: arguments.precision.explicit(),
        kv: arguments.kv.explicit(),
        chunk: None,
        utilization: arguments.utilization,
        chats: needs.chats,
        threads: arguments.threads.unwrap_or_else(|| cpu.compute_threads()),
        logits_rows: 1,
    };
    let plan = plan(file.shape(), &device, &settings)?;
    Ok(Planned { file, plan })
}

/// Opens, plans and loads.
pub(crate) fn load(arguments: &ModelArguments, needs: Needs) -> Result<Running, Failure> {
    plan_model(arguments, needs)?.load()
}

impl Planned {
    /// Loads what was planned.
    pub(crate) fn load(self) -> Result<Running, Failure> {
        let Self { file, plan } = self;
        plan.require_fit()?;
        let threads = usize::try_from(plan.threads).unwrap_or(1);
        let engine = Engine::load(&file, &plan, threads, &mut |_| ControlFlow::Continue(()))?;
        Ok(Running { file, plan, engine })
    }
}

/// Planned, taken and peak memory.
#[derive(Debug, Serialize)]
pub(crate) struct MemoryReport {
    /// The plan's total.
    planned: u64,
    /// What was taken: slab and host structures, and what the process held before.
    allocated: u64,
    /// Largest resident memory of the process; `null` where it cannot be read.
    peak_rss: Option<u64>,
    slab: Pair,
    host: Pair,
    segments: Vec<Part>,
}

#[derive(Debug, Serialize)]
struct Pair {
    planned: u64,
    allocated: u64,
}

#[derive(Debug, Serialize)]
struct Part {
    segment: &'static str,
    bytes: u64,
}

impl Running {
    /// Memory as planned and as taken, read now.
    pub(crate) fn memory(&self) -> MemoryReport {
        use plimsoll_plan::Segment;
        let plan = &self.plan;
        let taken = self.engine.allocated();
        let host = plan.segment(Segment::Host);
        MemoryReport {
            planned: plan.total.0,
            allocated: taken.slab.plus(taken.host).plus(plan.segment(Segment::Runtime)).0,
            peak_rss: SystemProbe::new().memory().process_peak.map(|peak| peak.0),
            slab: Pair { planned: plan.slab.0, allocated: taken.slab.0 },
            host: Pair { planned: host.0, allocated: taken.host.0 },
            segments: plan
                .segments
                .iter()
                .map(|part| Part { segment: plimsoll_backend::report::segment_name(part.segment), bytes: part.bytes.0 })
                .collect(),
        }
    }
}

/// A file that cannot be read or written, as a failure that names it.
pub(crate) fn io_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(error.to_ipc()).of(path.display().to_string())
}
