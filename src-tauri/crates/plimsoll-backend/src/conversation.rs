//! The open conversation: the message tree, its numbers, and how the page sees it.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_chat::{Conversation, LocalTime, Message, MessageId};
use plimsoll_ipc::{
    AppEvent, ConversationView, DraftSave, DropMessages, IpcError, MessageState, MessageStats, MessageView, Role,
    SelectSibling,
};

use crate::core::Core;
use crate::errors::{ToIpc, busy, not_found};
use crate::gauge::Outlook;
use crate::locking::lock;

/// How long a new conversation waits for a stopped answer to end: a prefill chunk of a large model.
const STOP_PATIENCE: Duration = Duration::from_secs(20);

/// The conversation in memory.
#[derive(Debug, Clone)]
pub(crate) struct OpenConversation {
    pub(crate) id: u64,
    /// Changes whenever a prompt made from the tree could change.
    pub(crate) revision: u64,
    /// When it began, for templates that state the date: one that changed would make every prompt new to the cache.
    pub(crate) date: Option<LocalTime>,
    tree: Conversation,
    stats: BTreeMap<MessageId, MessageStats>,
}

impl OpenConversation {
    pub(crate) fn new(id: u64, draft: String) -> Self {
        let mut tree = Conversation::new();
        tree.set_draft(draft);
        Self { id, revision: 0, date: crate::prompt::now(), tree, stats: BTreeMap::new() }
    }

    pub(crate) fn tree(&self) -> &Conversation {
        &self.tree
    }

    /// Puts a changed tree in. The draft that was saved meanwhile stays.
    pub(crate) fn replace_tree(&mut self, mut tree: Conversation) {
        tree.set_draft(self.tree.draft());
        self.tree = tree;
        self.revision = self.revision.saturating_add(1);
    }

    pub(crate) fn set_draft(&mut self, draft: String) {
        self.tree.set_draft(draft);
    }

    /// Appends streamed text, if this is still the conversation that it belongs to.
    pub(crate) fn append(&mut self, conversation: u64, message: u64, text: &str) {
        if self.id == conversation
            && let Err(error) = self.tree.append(MessageId(message), text)
        {
            tracing::error!(%error, "streamed text has no message");
        }
    }

    /// Ends an answer, if this is still the conversation that it belongs to.
    pub(crate) fn finish(&mut self, conversation: u64, message: u64, state: MessageState, stats: MessageStats) {
        if self.id != conversation {
            return;
        }
        let id = MessageId(message);
        self.stats.insert(id, stats);
        self.revision = self.revision.saturating_add(1);
        if let Err(error) = self.tree.finish(id, chat_state(state)) {
            tracing::error!(%error, "an ended answer has no message");
        }
    }

    fn view(&self, generation: Option<u64>) -> ConversationView {
        ConversationView {
            id: self.id,
            title: self.tree.title(),
            messages: self.tree.branch().into_iter().map(|message| self.message_view(message)).collect(),
            draft: self.tree.draft().to_owned(),
            generation,
        }
    }

    fn message_view(&self, message: &Message) -> MessageView {
        let position = self.tree.sibling_position(message.id).ok();
        MessageView {
            id: message.id.0,
            parent: message.parent.map(|parent| parent.0),
            role: match message.role {
                plimsoll_chat::Role::User => Role::User,
                plimsoll_chat::Role::Assistant => Role::Assistant,
            },
            text: message.text.clone(),
            state: ipc_state(message.state),
            stats: self.stats.get(&message.id).copied(),
            sibling: position.map_or(1, |position| position.number),
            siblings: position.map_or(1, |position| position.count),
            dropped: message.dropped,
        }
    }
}

impl Core {
    pub(crate) fn conversation_view(&self) -> ConversationView {
        let running = self.generations.gate().running().cloned();
        let conversation = lock(&self.conversation);
        let running = running.filter(|running| running.conversation == conversation.id);
        conversation.view(running.map(|running| running.id))
    }

    /// Sends the conversation's view to the page.
    pub(crate) fn tell_conversation(&self) {
        self.events.emit(AppEvent::Conversation(self.conversation_view()));
    }

    /// Stops what runs, and starts an empty conversation with the draft.
    pub(crate) fn new_conversation(&self) -> Result<ConversationView, IpcError> {
        if !self.generations.stop_and_wait(STOP_PATIENCE) {
            return Err(busy());
        }
        {
            let mut conversation = lock(&self.conversation);
            let draft = conversation.tree.draft().to_owned();
            let id = conversation.id.saturating_add(1);
            *conversation = OpenConversation::new(id, draft);
        }
        self.gauge.set_outlook(Outlook::default());
        self.gauge.touch();
        self.tell_conversation();
        Ok(self.conversation_view())
    }

    pub(crate) fn select_sibling(&self, request: &SelectSibling) -> Result<ConversationView, IpcError> {
        self.change(request.conversation, |tree| {
            tree.select_sibling(MessageId(request.message), request.sibling).map(|_| ()).map_err(|error| error.to_ipc())
        })
    }

    pub(crate) fn drop_messages(&self, request: &DropMessages) -> Result<ConversationView, IpcError> {
        let ids: Vec<MessageId> = request.messages.iter().copied().map(MessageId).collect();
        self.change(request.conversation, |tree| {
            tree.set_dropped(&ids, request.dropped).map_err(|error| error.to_ipc())
        })
    }

    pub(crate) fn save_draft(&self, draft: DraftSave) -> Result<(), IpcError> {
        let mut conversation = lock(&self.conversation);
        if conversation.id != draft.conversation {
            return Err(not_found("conversation", draft.conversation));
        }
        self.draft.save(draft.text.clone());
        conversation.set_draft(draft.text);
        Ok(())
    }

    fn change(
        &self,
        id: u64,
        change: impl FnOnce(&mut Conversation) -> Result<(), IpcError>,
    ) -> Result<ConversationView, IpcError> {
        {
            let mut conversation = lock(&self.conversation);
            if conversation.id != id {
                return Err(not_found("conversation", id));
            }
            change(&mut conversation.tree)?;
            conversation.revision = conversation.revision.saturating_add(1);
        }
        self.tell_conversation();
        Ok(self.conversation_view())
    }
}

fn chat_state(state: MessageState) -> plimsoll_chat::MessageState {
    match state {
        MessageState::Streaming => plimsoll_chat::MessageState::Streaming,
        MessageState::Done => plimsoll_chat::MessageState::Done,
        MessageState::Stopped => plimsoll_chat::MessageState::Stopped,
        MessageState::Length => plimsoll_chat::MessageState::Length,
        MessageState::Failed => plimsoll_chat::MessageState::Failed,
    }
}

fn ipc_state(state: plimsoll_chat::MessageState) -> MessageState {
    match state {
        plimsoll_chat::MessageState::Streaming => MessageState::Streaming,
        plimsoll_chat::MessageState::Done => MessageState::Done,
        plimsoll_chat::MessageState::Stopped => MessageState::Stopped,
        plimsoll_chat::MessageState::Length => MessageState::Length,
        plimsoll_chat::MessageState::Failed => MessageState::Failed,
    }
}
