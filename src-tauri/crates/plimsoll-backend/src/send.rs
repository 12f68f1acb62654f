//! Send: the same admission as the check, and then everything at once or nothing.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use plimsoll_chat::{Conversation, MessageId, Piece, PromptMessage, RenderedPrompt, Role};
use plimsoll_engine::GenerateRequest;
use plimsoll_engine::sample::Sampling;
use plimsoll_ipc::{Accepted, ErrorCode, GenerationKind, IpcError, MessageState, MessageStats, SendRequest, Settings};
use plimsoll_plan::Tokens;

use crate::admission::{Demand, Refused, admit_to};
use crate::conversation::OpenConversation;
use crate::core::Core;
use crate::errors::{ToIpc, busy, no_model, not_found};
use crate::gauge::Outlook;
use crate::generation::Generation;
use crate::locking::lock;
use crate::slot::Loaded;
use crate::stream::{Outbox, spawn_stream};

/// How often Send starts over when the conversation changes under it.
const ATTEMPTS: u32 = 8;

/// A turn that is ready to go: the conversation with it, and its prompt.
struct Turn {
    /// The tree that the conversation becomes.
    tree: Conversation,
    user: MessageId,
    answer: MessageId,
    /// Text that the answer starts with: it continues another one.
    begun: String,
    ids: Vec<u32>,
}

impl Core {
    pub(crate) fn send(self: &Arc<Self>, request: SendRequest) -> Result<Accepted, IpcError> {
        let begin = Instant::now();
        for _ in 0..ATTEMPTS {
            let loaded = self.slot.loaded().ok_or_else(no_model)?;
            if self.generations.gate().is_running() {
                return Err(busy());
            }
            let settings = self.settings.get();
            let open = lock(&self.conversation).clone();
            if open.id != request.conversation {
                return Err(not_found("conversation", request.conversation));
            }
            let turn = prepare(&loaded, &open, &settings, &request)?;
            if let Some(accepted) = self.start(&loaded, &open, &settings, &request, turn, begin)? {
                return Ok(accepted);
            }
        }
        Err(busy())
    }

    /// Starts a turn if the conversation and the model are still the ones that it was prepared for.
    fn start(
        self: &Arc<Self>,
        loaded: &Arc<Loaded>,
        prepared_for: &OpenConversation,
        settings: &Settings,
        request: &SendRequest,
        turn: Turn,
        begin: Instant,
    ) -> Result<Option<Accepted>, IpcError> {
        let output = Tokens(request.output_tokens.unwrap_or(settings.output_tokens));
        let mut gate = self.generations.gate();
        if gate.is_running() {
            return Err(busy());
        }
        if !self.slot.loaded().is_some_and(|now| Arc::ptr_eq(&now, loaded)) {
            return Ok(None);
        }
        let mut conversation = lock(&self.conversation);
        if conversation.id != prepared_for.id || conversation.revision != prepared_for.revision {
            return Ok(None);
        }
        admit_to(loaded, settings, &Demand { ids: &turn.ids, output }).map_err(Refused::to_ipc)?;

        let outbox = Outbox::new(begin);
        let generate = GenerateRequest {
            prompt: turn.ids,
            max_tokens: output,
            sampling: sampling(settings),
            stop: Vec::new(),
            ignore_end: false,
        };
        let cancel = loaded
            .with_engine(|engine| engine.start(generate, outbox.sink()))
            .ok_or_else(no_model)?
            .map_err(|error| error.to_ipc())?;

        let accepted =
            Accepted { generation: gate.next_id(), user_message: turn.user.0, answer_message: turn.answer.0 };
        let id = conversation.id;
        let generation = Arc::new(Generation::new(accepted.generation, id, turn.answer.0, turn.begun));
        generation.set_cancel(cancel);
        conversation.replace_tree(turn.tree);
        self.take_from_draft(&mut conversation, request);
        gate.begin(Arc::clone(&generation));
        drop(conversation);
        drop(gate);

        self.gauge.set_outlook(Outlook::default());
        self.tell_conversation();
        if let Err(error) = spawn_stream(Arc::clone(&generation), outbox, Arc::downgrade(self)) {
            generation.cancel();
            let error = IpcError::new(ErrorCode::Io, error.to_string()).with_detail("thread");
            let failed = GenerationKind::Failed { error };
            self.end_generation(&generation, MessageState::Failed, MessageStats::default(), failed);
        }
        Ok(Some(accepted))
    }

    /// What was sent leaves the draft; what was written since stays.
    fn take_from_draft(&self, conversation: &mut OpenConversation, request: &SendRequest) {
        let is_draft = request.regenerate.is_none() && request.edit.is_none() && !request.text.is_empty();
        let rest = conversation.tree().draft().strip_prefix(&request.text).map(str::to_owned);
        if let Some(rest) = rest.filter(|_| is_draft) {
            self.draft.save(rest.clone());
            conversation.set_draft(rest);
        }
    }
}

/// Adds the turn to a copy of the tree and renders its prompt.
fn prepare(
    loaded: &Loaded,
    open: &OpenConversation,
    settings: &Settings,
    request: &SendRequest,
) -> Result<Turn, IpcError> {
    let mut tree = open.tree().clone();
    let nothing = || IpcError::new(ErrorCode::EmptyPrompt, "there is nothing to send");
    let continues = request.completion && request.text.is_empty() && request.regenerate.is_none();
    let mut begun = String::new();
    let user = if let Some(id) = request.regenerate {
        MessageId(id)
    } else if continues {
        let leaf = tree.leaf().filter(|leaf| leaf.role == Role::Assistant).ok_or_else(nothing)?;
        begun.clone_from(&leaf.text);
        leaf.parent.ok_or_else(nothing)?
    } else if request.text.trim().is_empty() {
        return Err(nothing());
    } else if let Some(id) = request.edit {
        tree.edit_user(MessageId(id), request.text.as_str()).map_err(|error| error.to_ipc())?
    } else {
        tree.add_user(request.text.as_str())
    };
    let answer = tree.begin_answer(user).map_err(|error| error.to_ipc())?;
    tree.append(answer, &begun).map_err(|error| error.to_ipc())?;

    let prompter = &loaded.prompter;
    let as_text = request.completion && (prompter.is_base() || !continues);
    let system = if as_text { "" } else { settings.system_prompt.as_str() };
    let messages = tree.prompt_for(user, system).map_err(|error| error.to_ipc())?;
    let rendered = if as_text {
        RenderedPrompt::plain(joined(messages, &begun))
    } else {
        continued(prompter.render(messages, true, open.date)?, &begun)
    };
    let ids = prompter.ids_with(&rendered, &loaded.memo);
    Ok(Turn { tree, user, answer, begun, ids })
}

/// The conversation as one text, as it stands.
fn joined(messages: Vec<PromptMessage>, begun: &str) -> String {
    let mut text: String = messages.into_iter().map(|message| message.content).collect();
    text.push_str(begun);
    text
}

/// The prompt, with the beginning of the answer behind it.
fn continued(mut prompt: RenderedPrompt, begun: &str) -> RenderedPrompt {
    if begun.is_empty() {
        return prompt;
    }
    prompt.text.push_str(begun);
    match prompt.pieces.last_mut() {
        Some(Piece::Text(text)) => text.push_str(begun),
        _ => prompt.pieces.push(Piece::Text(begun.to_owned())),
    }
    prompt
}

fn sampling(settings: &Settings) -> Sampling {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::from(since.subsec_nanos()));
    Sampling {
        temperature: narrow(settings.temperature),
        top_k: settings.top_k,
        top_p: narrow(settings.top_p),
        min_p: narrow(settings.min_p),
        repetition_penalty: narrow(settings.repetition_penalty),
        seed,
        ..Sampling::default()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "settings are validated to small ranges; rounding is harmless")]
fn narrow(value: f64) -> f32 {
    value as f32
}
