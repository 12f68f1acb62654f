//! The tree: nothing is lost, whatever is done to it.

use proptest::prelude::*;

use crate::{
    Conversation, ConversationError, MessageId, MessageState, PromptMessage, PromptRole, Role, SiblingPosition,
};

fn answered(conversation: &mut Conversation, question: &str, answer: &str) -> (MessageId, MessageId) {
    let user = conversation.add_user(question);
    let id = conversation.begin_answer(user).unwrap();
    conversation.append(id, answer).unwrap();
    conversation.finish(id, MessageState::Done).unwrap();
    (user, id)
}

fn texts(conversation: &Conversation) -> Vec<&str> {
    conversation.branch().iter().map(|message| message.text.as_str()).collect()
}

#[test]
fn an_edit_is_a_sibling_and_the_old_branch_comes_back_whole() {
    let mut chat = Conversation::new();
    let (first, _) = answered(&mut chat, "a", "A");
    answered(&mut chat, "b", "B");
    let edited = chat.edit_user(first, "a2").unwrap();
    assert_eq!(texts(&chat), ["a2"]);
    assert_eq!(chat.sibling_position(edited).unwrap(), SiblingPosition { number: 2, count: 2 });
    let answer = chat.begin_answer(edited).unwrap();
    chat.append(answer, "A2").unwrap();
    assert_eq!(texts(&chat), ["a2", "A2"]);
    assert_eq!(chat.select_sibling(edited, 1).unwrap(), first);
    assert_eq!(texts(&chat), ["a", "A", "b", "B"]);
    chat.select_sibling(first, 2).unwrap();
    assert_eq!(texts(&chat), ["a2", "A2"]);
}

#[test]
fn a_regeneration_is_a_second_answer() {
    let mut chat = Conversation::new();
    let (user, first) = answered(&mut chat, "a", "A");
    answered(&mut chat, "b", "B");
    let second = chat.begin_answer(user).unwrap();
    chat.append(second, "other").unwrap();
    chat.finish(second, MessageState::Stopped).unwrap();
    assert_eq!(texts(&chat), ["a", "other"]);
    assert_eq!(chat.sibling_position(first).unwrap(), SiblingPosition { number: 1, count: 2 });
    chat.select_sibling(second, 1).unwrap();
    assert_eq!(texts(&chat), ["a", "A", "b", "B"]);
}

#[test]
fn answering_a_hidden_question_shows_it() {
    let mut chat = Conversation::new();
    let (first, _) = answered(&mut chat, "a", "A");
    let (deep, _) = answered(&mut chat, "b", "B");
    chat.edit_user(first, "other").unwrap();
    let again = chat.begin_answer(deep).unwrap();
    assert_eq!(chat.leaf().unwrap().id, again);
    assert_eq!(texts(&chat), ["a", "A", "b", ""]);
}

#[test]
fn what_is_dropped_is_not_in_the_prompt() {
    let mut chat = Conversation::new();
    let (first, first_answer) = answered(&mut chat, "a", "A");
    answered(&mut chat, "b", "B");
    let last = chat.add_user("c");
    chat.set_dropped(&[first, first_answer], true).unwrap();
    let role = |role, text: &str| PromptMessage::new(role, text);
    let expected = vec![
        role(PromptRole::System, "be brief"),
        role(PromptRole::User, "b"),
        role(PromptRole::Assistant, "B"),
        role(PromptRole::User, "c"),
    ];
    assert_eq!(chat.prompt_for(last, "be brief").unwrap(), expected);
    assert_eq!(texts(&chat).len(), 5, "the transcript still shows it");
    chat.set_dropped(&[first, last], true).unwrap();
    assert_eq!(chat.prompt_for(last, "").unwrap().last().unwrap().content, "c", "the question itself stays");
}

#[test]
fn the_prompt_of_a_draft_leaves_the_oldest_turns_out() {
    let mut chat = Conversation::new();
    let (first, _) = answered(&mut chat, "a", "A");
    answered(&mut chat, "b", "B");
    answered(&mut chat, "c", "C");
    let contents = |chat: &Conversation, without| -> Vec<String> {
        chat.prompt_with_draft("d", "s", without).into_iter().map(|message| message.content).collect()
    };
    assert_eq!(contents(&chat, 0), ["s", "a", "A", "b", "B", "c", "C", "d"]);
    assert_eq!(contents(&chat, 2), ["s", "c", "C", "d"]);
    assert_eq!(contents(&chat, 9), ["s", "d"]);
    // A dropped question's answer is still a turn of its own.
    chat.set_dropped(&[first], true).unwrap();
    assert_eq!(chat.turns().len(), 3);
    assert_eq!(contents(&chat, 1), ["s", "b", "B", "c", "C", "d"]);
    chat.set_dropped(&chat.turns()[0].messages.clone(), true).unwrap();
    assert_eq!(chat.turns().iter().map(|turn| turn.name.as_str()).collect::<Vec<_>>(), ["b", "c"]);
}

#[test]
fn wrong_requests_change_nothing() {
    let mut chat = Conversation::new();
    let (user, answer) = answered(&mut chat, "a", "A");
    let before = chat.clone();
    let ghost = MessageId(99);
    assert_eq!(chat.begin_answer(answer), Err(ConversationError::WrongRole { id: answer, wanted: Role::User }));
    assert_eq!(chat.edit_user(ghost, "x"), Err(ConversationError::NoSuchMessage { id: ghost }));
    assert_eq!(chat.append(answer, "x"), Err(ConversationError::Finished { id: answer }));
    assert_eq!(chat.finish(answer, MessageState::Done), Err(ConversationError::Finished { id: answer }));
    assert_eq!(chat.finish(answer, MessageState::Streaming), Err(ConversationError::NotAnEnd { id: answer }));
    for wanted in [0, 2, u32::MAX] {
        assert_eq!(
            chat.select_sibling(user, wanted),
            Err(ConversationError::NoSuchSibling { id: user, wanted, count: 1 })
        );
    }
    assert_eq!(chat.set_dropped(&[user, ghost], true), Err(ConversationError::NoSuchMessage { id: ghost }));
    assert_eq!(chat.message(MessageId(0)).unwrap_err(), ConversationError::NoSuchMessage { id: MessageId(0) });
    assert_eq!(chat, before);
}

#[derive(Debug, Clone)]
enum Step {
    Ask(String),
    Answer(usize, String),
    Edit(usize, String),
    Select(usize, u32),
    Drop(usize, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = "[a-z]{0,6}";
    prop::collection::vec(
        prop_oneof![
            text.prop_map(Step::Ask),
            (0..40_usize, text).prop_map(|(at, text)| Step::Answer(at, text)),
            (0..40_usize, text).prop_map(|(at, text)| Step::Edit(at, text)),
            (0..40_usize, 0..4_u32).prop_map(|(at, number)| Step::Select(at, number)),
            (0..40_usize, any::<bool>()).prop_map(|(at, dropped)| Step::Drop(at, dropped)),
        ],
        0..40,
    )
}

proptest! {
    #[test]
    fn nothing_is_ever_lost(steps in steps()) {
        let mut chat = Conversation::new();
        let mut written: Vec<(MessageId, String)> = Vec::new();
        for step in steps {
            let pick = |at: usize| MessageId(u64::try_from(at % written.len().max(1) + 1).unwrap());
            match step {
                Step::Ask(text) => written.push((chat.add_user(text.clone()), text)),
                Step::Answer(at, text) => {
                    if let Ok(id) = chat.begin_answer(pick(at)) {
                        chat.append(id, &text).unwrap();
                        chat.finish(id, MessageState::Done).unwrap();
                        written.push((id, text));
                    }
                }
                Step::Edit(at, text) => {
                    if let Ok(id) = chat.edit_user(pick(at), text.clone()) {
                        written.push((id, text));
                    }
                }
                Step::Select(at, number) => {
                    let _ = chat.select_sibling(pick(at), number);
                }
                Step::Drop(at, dropped) => {
                    let _ = chat.set_dropped(&[pick(at)], dropped);
                }
            }
            // Every text is there, and can be brought into view.
            prop_assert_eq!(chat.all().len(), written.len());
            for (id, text) in &written {
                prop_assert_eq!(&chat.message(*id).unwrap().text, text);
                let number = chat.sibling_position(*id).unwrap().number;
                let mut shown = chat.clone();
                prop_assert_eq!(shown.select_sibling(*id, number), Ok(*id));
                prop_assert!(shown.branch().iter().any(|message| message.id == *id));
            }
            // The branch is a path from a first message to a message without children.
            let branch = chat.branch();
            for pair in branch.windows(2) {
                prop_assert_eq!(pair[1].parent, Some(pair[0].id));
            }
            if let Some(leaf) = branch.last() {
                prop_assert!(chat.all().iter().all(|message| message.parent != Some(leaf.id)));
            }
        }
        let stored = serde_json::to_string(&chat.all()).unwrap();
        prop_assert_eq!(serde_json::from_str::<Vec<crate::Message>>(&stored).unwrap(), chat.all());
    }
}
