//! Loads a model into the planned slab and runs it: tokenize, prefill, decode, sample, detokenize.
//!
//! An architecture is data ([`spec::ModelSpec`]), read from the file's metadata; one forward pass executes it.
//! The engine allocates what the [`plimsoll_plan::MemoryPlan`] says, at load, and nothing while it runs.
//!
//! ```no_run
//! # use plimsoll_engine::*;
//! # fn plan_for(_: &ModelFile) -> plimsoll_plan::MemoryPlan { unimplemented!() }
//! let file = ModelFile::open(std::path::Path::new("model.gguf"))?;
//! let plan = plan_for(&file);
//! let engine = Engine::load(&file, &plan, 2, &mut |_| std::ops::ControlFlow::Continue(()))?;
//! # Ok::<(), ModelError>(())
//! ```

mod api;
pub mod detokenize;
mod engine;
mod error;
mod forward;
mod generate;
pub mod gguf;
mod kv;
mod load;
mod model_file;
mod priority;
pub mod sample;
mod slab;
pub mod spec;
pub mod tokenizer;
mod workspace;

pub use api::*;
pub use engine::Engine;
pub use error::{EngineError, ModelError};
pub use model_file::{ModelFile, ModelInfo};
pub use plimsoll_kernels::kernel_name;
