//! What Send would do now: an exact count of the rendered prompt, the verdict, and every way out.

use plimsoll_chat::{Conversation, LedgerRequest, LocalTime, PromptVariant, Remedy as Way, RenderedPrompt, settle};
use plimsoll_ipc::{ErrorCode, IpcError, PromptCheck, PromptCheckRequest, Remedy, Settings};
use plimsoll_plan::{Refusal, Tokens};

use crate::admission::{Demand, admit_to};
use crate::core::Core;
use crate::errors::{busy, no_model, not_found};
use crate::gauge::Outlook;
use crate::locking::lock;
use crate::preview::added;
use crate::report::kv_bytes;
use crate::slot::Loaded;

/// The shortest answer limit that is offered as a way out.
const LEAST_OUTPUT: Tokens = Tokens(16);

impl Core {
    /// Answers for the conversation as it stands with this draft at its end.
    pub(crate) fn check(&self, request: &PromptCheckRequest) -> Result<PromptCheck, IpcError> {
        let settings = self.settings.get();
        let output = Tokens(request.output_tokens.unwrap_or(settings.output_tokens));
        let (tree, date) = {
            let conversation = lock(&self.conversation);
            if conversation.id != request.conversation {
                return Err(not_found("conversation", request.conversation));
            }
            (conversation.tree().clone(), conversation.date)
        };
        let mut check = PromptCheck {
            request: request.request,
            prompt_tokens: 0,
            draft_tokens: 0,
            cached_tokens: 0,
            output_tokens: output.0,
            context_tokens: settings.context_tokens,
            reserve_bytes: 0,
            allowed: false,
            refusal: None,
            remedies: Vec::new(),
        };
        match self.slot.loaded() {
            None => check.refusal = Some(no_model()),
            Some(loaded) => {
                let question = Question { loaded: &loaded, tree: &tree, date, settings: &settings };
                if let Err(error) = self.answer(&question, &request.draft, output, &mut check) {
                    check.refusal = Some(error);
                }
            }
        }
        check.allowed = check.refusal.is_none();
        self.gauge.set_outlook(outlook(&check, &request.draft));
        Ok(check)
    }

    fn answer(
        &self,
        question: &Question<'_>,
        draft: &str,
        output: Tokens,
        check: &mut PromptCheck,
    ) -> Result<(), IpcError> {
        let Question { loaded, settings, .. } = *question;
        check.context_tokens = loaded.plan.context.0;
        let ids = question.ids(draft, 0)?;
        let without = question.ids("", 0)?;
        let demand = Demand { ids: &ids, output };
        let asked = demand.request();
        let cached = loaded.cached_prefix(&ids);
        let reserved = Tokens(asked.prompt.0.saturating_add(output.0).min(loaded.plan.context.0));
        check.prompt_tokens = asked.prompt.0;
        check.draft_tokens = asked.prompt.0.saturating_sub(u32::try_from(without.len()).unwrap_or(0));
        check.cached_tokens = cached.0;
        check.reserve_bytes = kv_bytes(&loaded.plan, reserved).minus(kv_bytes(&loaded.plan, cached)).0;
        if self.generations.gate().is_running() {
            return Err(busy());
        }
        if draft.trim().is_empty() {
            return Err(IpcError::new(ErrorCode::EmptyPrompt, "there is nothing to send"));
        }
        if let Err(refused) = admit_to(loaded, settings, &demand) {
            check.remedies = match refused.refusal {
                Refusal::OutputAboveLimit { limit, .. } => shorter_answer(loaded, asked.prompt, output, limit),
                _ => self.ways_out(question, draft, output)?,
            };
            return Err(refused.to_ipc());
        }
        // The count of a base model is that of plain completion; a chat message it cannot take.
        loaded.prompter.chat_template().map(|_| ())
    }

    fn ways_out(&self, question: &Question<'_>, draft: &str, output: Tokens) -> Result<Vec<Remedy>, IpcError> {
        let loaded = question.loaded;
        let turns = question.tree.turns();
        let request = LedgerRequest {
            turns: &turns,
            draft,
            draft_is_editable: true,
            output,
            least_output: LEAST_OUTPUT,
            context: loaded.plan.context,
            trained_context: loaded.plan.trained_context,
        };
        let mut count = |variant: PromptVariant<'_>| {
            let ids = question.ids(variant.draft, variant.without_turns)?;
            Ok::<_, IpcError>(Tokens(u32::try_from(ids.len()).unwrap_or(u32::MAX)))
        };
        let mut enlarge = |context: Tokens| {
            let settings = Settings { context_tokens: context.0, ..question.settings.clone() };
            let plan = self.plan_for(loaded.file.shape(), &settings).ok()?;
            plan.fits.then(|| added(&plan, &loaded.plan))
        };
        let ledger = settle(&request, &mut count, &mut enlarge)?;
        let excess = u32::try_from(ledger.excess).unwrap_or(u32::MAX);
        Ok(ledger.remedies.into_iter().map(|way| remedy(way, excess)).collect())
    }
}

/// A draft at the end of a conversation, for one loaded model.
#[derive(Clone, Copy)]
struct Question<'a> {
    loaded: &'a Loaded,
    tree: &'a Conversation,
    date: Option<LocalTime>,
    settings: &'a Settings,
}

impl Question<'_> {
    /// Ids of the prompt with the `without` oldest turns left out.
    fn ids(&self, draft: &str, without: usize) -> Result<Vec<u32>, IpcError> {
        let prompter = &self.loaded.prompter;
        let rendered = if prompter.is_base() {
            let messages = self.tree.prompt_with_draft(draft, "", without);
            RenderedPrompt::plain(messages.into_iter().map(|message| message.content).collect::<String>())
        } else {
            let messages = self.tree.prompt_with_draft(draft, &self.settings.system_prompt, without);
            prompter.render(messages, true, self.date)?
        };
        Ok(prompter.ids_with(&rendered, &self.loaded.memo))
    }
}

/// The longest answer that both the user's limit and the context allow.
fn shorter_answer(loaded: &Loaded, prompt: Tokens, output: Tokens, limit: Tokens) -> Vec<Remedy> {
    let room = Tokens(loaded.plan.context.0.saturating_sub(prompt.0)).min(limit);
    if room.0 == 0 {
        return Vec::new();
    }
    vec![Remedy::ShortenAnswer { output_tokens: room.0, gain_tokens: output.0.saturating_sub(room.0) }]
}

fn remedy(way: Way, excess: u32) -> Remedy {
    match way {
        Way::ShortenAnswer { output, gain } => Remedy::ShortenAnswer { output_tokens: output.0, gain_tokens: gain.0 },
        Way::DropOldestTurns { messages, names, gain } => Remedy::DropOldestTurns {
            messages: messages.into_iter().map(|id| id.0).collect(),
            names,
            gain_tokens: gain.0,
        },
        Way::EnlargeContext { context, cost } => {
            Remedy::EnlargeContext { context_tokens: context.0, cost_bytes: cost.0 }
        }
        Way::ShortenDraft { keep_utf16, .. } => Remedy::ShortenDraft { keep_utf16, excess_tokens: excess },
        Way::NewConversation { gain } => Remedy::NewConversation { gain_tokens: gain.0 },
    }
}

/// What the gauge shows of a check.
fn outlook(check: &PromptCheck, draft: &str) -> Outlook {
    if draft.trim().is_empty() {
        return Outlook::default();
    }
    let blocked = check.refusal.as_ref().is_some_and(|refusal| {
        matches!(
            refusal.code,
            ErrorCode::ContextExceeded
                | ErrorCode::OutputLimitExceeded
                | ErrorCode::PromptLimitExceeded
                | ErrorCode::PlanDoesNotFit
        )
    });
    Outlook { reserve: Tokens(check.prompt_tokens.saturating_add(check.output_tokens)), blocked }
}
