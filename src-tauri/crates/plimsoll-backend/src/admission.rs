//! Admission to the loaded model's KV cache: the same answer for the check while typing and for Send.

use plimsoll_ipc::{IpcError, Settings};
use plimsoll_plan::{AdmissionLimits, KvPool, Lease, Refusal, Request, Tokens, admit};

use crate::errors::refusal_to_ipc;
use crate::slot::Loaded;

/// A prompt as the model's tokenizer reads it, and the longest answer to it.
#[derive(Debug)]
pub(crate) struct Demand<'a> {
    pub(crate) ids: &'a [u32],
    pub(crate) output: Tokens,
}

impl Demand<'_> {
    pub(crate) fn request(&self) -> Request {
        Request { prompt: Tokens(u32::try_from(self.ids.len()).unwrap_or(u32::MAX)), max_output: self.output }
    }
}

/// Admits a demand under the user's limits, or says why not.
pub(crate) fn admit_to(loaded: &Loaded, settings: &Settings, demand: &Demand<'_>) -> Result<Lease, Refused> {
    let context = loaded.plan.context;
    let held = loaded.cached_prefix(demand.ids).pages().min(context.pages());
    let pool = KvPool { context, free: context.pages().saturating_sub(held), held };
    let limits = AdmissionLimits { prompt: None, output: Some(Tokens(settings.output_tokens)) };
    let request = demand.request();
    admit(request, limits, pool).map_err(|refusal| Refused { refusal, request })
}

/// A refusal and what was asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refused {
    pub(crate) refusal: Refusal,
    request: Request,
}

impl Refused {
    pub(crate) fn to_ipc(self) -> IpcError {
        refusal_to_ipc(&self.refusal, self.request)
    }
}
