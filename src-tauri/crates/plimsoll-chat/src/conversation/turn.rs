//! Turns: a question and its answer, the unit that is dropped.

use super::message::{Message, MessageId, Role};
use crate::title::first_words;

/// A user message and the answer that follows it on the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Its messages that are in the prompt.
    pub messages: Vec<MessageId>,
    /// First words of the question.
    pub name: String,
}

/// The turns of `branch`, oldest first, without those that are dropped.
pub(super) fn turns(branch: &[&Message]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for message in branch {
        if message.role == Role::User || turns.is_empty() {
            turns.push(Turn { messages: Vec::new(), name: first_words(&message.text) });
        }
        if let Some(turn) = turns.last_mut().filter(|_| !message.dropped) {
            turn.messages.push(message.id);
        }
    }
    turns.retain(|turn| !turn.messages.is_empty());
    turns
}
