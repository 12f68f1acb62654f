//! A conversation as a tree: an edit or a regeneration adds a sibling, and nothing is ever lost.

mod error;
mod message;
mod turn;

use std::collections::BTreeMap;

pub use error::ConversationError;
pub use message::{Message, MessageId, MessageState, Role, SiblingPosition};
pub use turn::Turn;

use crate::template::{PromptMessage, PromptRole};
use crate::title;

/// A message tree and the branch that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversation {
    /// By id, which is the position plus one. Messages are only ever added.
    messages: Vec<Message>,
    /// The chosen child of each message that has one; under `None`, the chosen first message.
    chosen: BTreeMap<Option<MessageId>, MessageId>,
    /// What the user is writing.
    draft: String,
}

impl Conversation {
    /// An empty conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the user is writing.
    pub fn draft(&self) -> &str {
        &self.draft
    }

    /// Keeps what the user is writing.
    pub fn set_draft(&mut self, draft: impl Into<String>) {
        self.draft = draft.into();
    }

    /// Title from the first line of the branch's first message.
    pub fn title(&self) -> String {
        self.branch().first().map(|first| title::title(&first.text)).unwrap_or_default()
    }

    /// A message.
    pub fn message(&self, id: MessageId) -> Result<&Message, ConversationError> {
        self.get(id).ok_or(ConversationError::NoSuchMessage { id })
    }

    /// All messages of all branches, oldest first.
    pub fn all(&self) -> &[Message] {
        &self.messages
    }

    /// The chosen branch, oldest first.
    pub fn branch(&self) -> Vec<&Message> {
        std::iter::successors(self.chosen_child(None), |message| self.chosen_child(Some(message.id))).collect()
    }

    /// The last message of the chosen branch.
    pub fn leaf(&self) -> Option<&Message> {
        self.branch().pop()
    }

    /// Where a message stands among its siblings.
    pub fn sibling_position(&self, id: MessageId) -> Result<SiblingPosition, ConversationError> {
        let parent = self.message(id)?.parent;
        let siblings = self.children(parent);
        let position = siblings.iter().position(|sibling| sibling.id == id).unwrap_or(0);
        Ok(SiblingPosition { number: narrow(position + 1), count: narrow(siblings.len()) })
    }

    /// Adds a user message at the end of the chosen branch.
    pub fn add_user(&mut self, text: impl Into<String>) -> MessageId {
        let parent = self.leaf().map(|leaf| leaf.id);
        self.add(parent, Role::User, text.into(), MessageState::Done)
    }

    /// Adds an edited user message beside `id`, and shows it. The old one and its answers stay.
    pub fn edit_user(&mut self, id: MessageId, text: impl Into<String>) -> Result<MessageId, ConversationError> {
        let parent = self.of_role(id, Role::User)?.parent;
        Ok(self.add(parent, Role::User, text.into(), MessageState::Done))
    }

    /// Starts an answer to the user message `id`, beside the answers that it has, and shows it.
    pub fn begin_answer(&mut self, id: MessageId) -> Result<MessageId, ConversationError> {
        let user = self.of_role(id, Role::User)?.id;
        // An answer that was asked for brings its question into view, wherever it was.
        self.show(user);
        Ok(self.add(Some(user), Role::Assistant, String::new(), MessageState::Streaming))
    }

    /// Appends streamed text to an answer.
    pub fn append(&mut self, id: MessageId, text: &str) -> Result<(), ConversationError> {
        self.streaming(id)?.text.push_str(text);
        Ok(())
    }

    /// Ends an answer. `Streaming` is no end.
    pub fn finish(&mut self, id: MessageId, state: MessageState) -> Result<(), ConversationError> {
        if state == MessageState::Streaming {
            return Err(ConversationError::NotAnEnd { id });
        }
        self.streaming(id)?.state = state;
        Ok(())
    }

    /// Shows sibling `number` (from 1) in the place of message `id`, with the branch below it that was last shown.
    pub fn select_sibling(&mut self, id: MessageId, number: u32) -> Result<MessageId, ConversationError> {
        let parent = self.message(id)?.parent;
        let siblings = self.children(parent);
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let Some(wanted) = index.and_then(|index| siblings.get(index)).map(|sibling| sibling.id) else {
            let count = narrow(siblings.len());
            return Err(ConversationError::NoSuchSibling { id, wanted: number, count });
        };
        self.show(wanted);
        Ok(wanted)
    }

    /// Leaves messages out of the prompt, or takes them back. All are known, or nothing changes.
    pub fn set_dropped(&mut self, ids: &[MessageId], dropped: bool) -> Result<(), ConversationError> {
        for &id in ids {
            self.message(id)?;
        }
        for &id in ids {
            self.get_mut(id).ok_or(ConversationError::NoSuchMessage { id })?.dropped = dropped;
        }
        Ok(())
    }

    /// The turns of the chosen branch that are in the prompt, oldest first.
    pub fn turns(&self) -> Vec<Turn> {
        turn::turns(&self.branch())
    }

    /// The prompt that answers the user message `id`: the system text, then what leads to it, without what is
    /// dropped. The message itself is never left out.
    pub fn prompt_for(&self, id: MessageId, system: &str) -> Result<Vec<PromptMessage>, ConversationError> {
        let asked = self.of_role(id, Role::User)?;
        let mut path: Vec<&Message> = std::iter::successors(Some(asked), |message| self.get(message.parent?)).collect();
        path.reverse();
        path.retain(|message| message.id == id || !message.dropped);
        Ok(prompt(system, path.into_iter()))
    }

    /// The prompt that Send would make of the chosen branch and `draft`, with the `without` oldest turns left out
    /// beside those that are dropped already.
    pub fn prompt_with_draft(&self, draft: &str, system: &str, without: usize) -> Vec<PromptMessage> {
        let left_out: Vec<MessageId> = self.turns().into_iter().take(without).flat_map(|turn| turn.messages).collect();
        let branch = self.branch();
        let kept = branch.into_iter().filter(|message| !message.dropped && !left_out.contains(&message.id));
        let mut messages = prompt(system, kept);
        messages.push(PromptMessage::new(PromptRole::User, draft));
        messages
    }

    fn add(&mut self, parent: Option<MessageId>, role: Role, text: String, state: MessageState) -> MessageId {
        let id = MessageId::at(self.messages.len());
        self.messages.push(Message { id, parent, role, text, state, dropped: false });
        self.chosen.insert(parent, id);
        id
    }

    /// Chooses `id` and everything above it.
    fn show(&mut self, id: MessageId) {
        let mut next = Some(id);
        while let Some(id) = next {
            next = self.get(id).and_then(|message| message.parent);
            self.chosen.insert(next, id);
        }
    }

    fn get(&self, id: MessageId) -> Option<&Message> {
        self.messages.get(id.position()?)
    }

    fn get_mut(&mut self, id: MessageId) -> Option<&mut Message> {
        self.messages.get_mut(id.position()?)
    }

    fn chosen_child(&self, parent: Option<MessageId>) -> Option<&Message> {
        self.chosen.get(&parent).and_then(|&id| self.get(id))
    }

    fn children(&self, parent: Option<MessageId>) -> Vec<&Message> {
        self.messages.iter().filter(|message| message.parent == parent).collect()
    }

    fn of_role(&self, id: MessageId, role: Role) -> Result<&Message, ConversationError> {
        let message = self.message(id)?;
        if message.role == role { Ok(message) } else { Err(ConversationError::WrongRole { id, wanted: role }) }
    }

    fn streaming(&mut self, id: MessageId) -> Result<&mut Message, ConversationError> {
        let message = self.get_mut(id).ok_or(ConversationError::NoSuchMessage { id })?;
        if message.state == MessageState::Streaming { Ok(message) } else { Err(ConversationError::Finished { id }) }
    }
}

/// System text, if there is any, and the messages as the template sees them.
fn prompt<'a>(system: &str, messages: impl Iterator<Item = &'a Message>) -> Vec<PromptMessage> {
    let system = (!system.is_empty()).then(|| PromptMessage::new(PromptRole::System, system));
    let turns = messages.map(|message| {
        let role = match message.role {
            Role::User => PromptRole::User,
            Role::Assistant => PromptRole::Assistant,
        };
        PromptMessage::new(role, message.text.clone())
    });
    system.into_iter().chain(turns).collect()
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
