//! Every remedy that is offered works, by the same count that refused.

use std::convert::Infallible;

use plimsoll_plan::{Bytes, Tokens};
use proptest::prelude::*;

use crate::{Ledger, LedgerRequest, MessageId, PromptVariant, Remedy, Turn, settle};

/// A chat whose tokens are counted by a simple rule: 7 for the frame, 3 for each turn's frame, its text by words of
/// at most four bytes.
struct Chat {
    turns: Vec<(Turn, u32)>,
    draft: String,
    output: u32,
    context: u32,
    trained: u32,
    fitting: u32,
}

impl Chat {
    fn count(&self, prompt: PromptVariant<'_>) -> u32 {
        let turns: u32 = self.turns.iter().skip(prompt.without_turns).map(|(_, tokens)| tokens + 3).sum();
        let words = prompt.draft.split_inclusive(' ').map(|word| word.len().div_ceil(4));
        7 + turns + u32::try_from(words.sum::<usize>()).unwrap()
    }

    fn settle(&self) -> (Ledger, usize) {
        let turns: Vec<Turn> = self.turns.iter().map(|(turn, _)| turn.clone()).collect();
        let mut counts = 0;
        let request = LedgerRequest {
            turns: &turns,
            draft: &self.draft,
            draft_is_editable: true,
            output: Tokens(self.output),
            least_output: Tokens(16),
            context: Tokens(self.context),
            trained_context: Tokens(self.trained),
        };
        let ledger = settle(
            &request,
            &mut |prompt: PromptVariant<'_>| {
                counts += 1;
                Ok::<_, Infallible>(Tokens(self.count(prompt)))
            },
            &mut |context: Tokens| (context.0 <= self.fitting).then(|| Bytes(u64::from(context.0) * 100)),
        );
        (ledger.unwrap(), counts)
    }

    /// Prompt tokens, answer limit and context after the remedy.
    fn after(&self, remedy: &Remedy) -> (u32, u32, u32) {
        let whole = PromptVariant { without_turns: 0, draft: &self.draft };
        match remedy {
            Remedy::ShortenAnswer { output, .. } => (self.count(whole), output.0, self.context),
            Remedy::DropOldestTurns { names, .. } => {
                (self.count(PromptVariant { without_turns: names.len(), ..whole }), self.output, self.context)
            }
            Remedy::EnlargeContext { context, .. } => (self.count(whole), self.output, context.0),
            Remedy::ShortenDraft { keep_utf16, .. } => {
                let units: Vec<u16> = self.draft.encode_utf16().take(usize::try_from(*keep_utf16).unwrap()).collect();
                let draft = String::from_utf16(&units).expect("the cut is between characters");
                (self.count(PromptVariant { draft: &draft, ..whole }), self.output, self.context)
            }
            Remedy::NewConversation { .. } => {
                (self.count(PromptVariant { without_turns: self.turns.len(), ..whole }), self.output, self.context)
            }
        }
    }
}

fn chat(turns: &[u32], draft: &str, output: u32, context: u32) -> Chat {
    let turns = turns.iter().enumerate().map(|(index, &tokens)| {
        let id = u64::try_from(index).unwrap() * 2 + 1;
        (Turn { messages: vec![MessageId(id), MessageId(id + 1)], name: format!("turn {index}") }, tokens)
    });
    Chat { turns: turns.collect(), draft: draft.into(), output, context, trained: 8192, fitting: 8192 }
}

#[test]
fn what_goes_through_needs_no_remedy() {
    let (ledger, counts) = chat(&[100], "hi", 512 - 111, 512).settle();
    assert_eq!((ledger.prompt, ledger.excess, ledger.remedies), (Tokens(111), 0, vec![]));
    assert_eq!(counts, 1);
}

#[test]
fn four_tokens_too_many_have_five_ways_out() {
    let (ledger, _) = chat(&[40, 30, 30], "some words here", 395, 512).settle();
    assert_eq!((ledger.prompt, ledger.excess), (Tokens(121), 4));
    assert_eq!(
        ledger.remedies,
        [
            Remedy::ShortenAnswer { output: Tokens(391), gain: Tokens(4) },
            Remedy::DropOldestTurns {
                messages: vec![MessageId(1), MessageId(2)],
                names: vec!["turn 0".into()],
                gain: Tokens(43)
            },
            Remedy::EnlargeContext { context: Tokens(576), cost: Bytes(57_600) },
            Remedy::ShortenDraft { keep_utf16: 4, gain: Tokens(4) },
            Remedy::NewConversation { gain: Tokens(109) },
        ]
    );
}

#[test]
fn the_draft_is_cut_between_characters() {
    let draft = "漢字🙂é ".repeat(400);
    let chat = chat(&[50], &draft, 256, 512);
    let (ledger, counts) = chat.settle();
    let cut = ledger.remedies.iter().find(|remedy| matches!(remedy, Remedy::ShortenDraft { .. })).unwrap();
    let (prompt, output, context) = chat.after(cut);
    assert!(prompt + output <= context && prompt + output + 4 > context, "{prompt} as long as it can be");
    assert!(counts < 30, "{counts}");
}

#[test]
fn a_megabyte_is_not_counted_again_and_again() {
    let chat = chat(&[], &"lorem ipsum dolor ".repeat(60_000), 256, 4096);
    let turns = [];
    let request = LedgerRequest {
        turns: &turns,
        draft: &chat.draft,
        draft_is_editable: true,
        output: Tokens(256),
        least_output: Tokens(16),
        context: Tokens(4096),
        trained_context: Tokens(8192),
    };
    let mut bytes = 0;
    let ledger = settle(
        &request,
        &mut |prompt: PromptVariant<'_>| {
            bytes += prompt.draft.len();
            Ok::<_, Infallible>(Tokens(chat.count(prompt)))
        },
        &mut |_: Tokens| None,
    );
    assert_eq!(ledger.unwrap().remedies.len(), 1);
    assert!(bytes < 3 * chat.draft.len(), "{bytes}");
}

#[test]
fn an_answer_again_cannot_lose_its_question() {
    let chat = chat(&[300], "a question", 300, 512);
    let turns: Vec<Turn> = chat.turns.iter().map(|(turn, _)| turn.clone()).collect();
    let request = LedgerRequest {
        turns: &turns,
        draft: &chat.draft,
        draft_is_editable: false,
        output: Tokens(chat.output),
        least_output: Tokens(16),
        context: Tokens(chat.context),
        trained_context: Tokens(8192),
    };
    let ledger =
        settle(&request, &mut |p: PromptVariant<'_>| Ok::<_, Infallible>(Tokens(chat.count(p))), &mut |_: Tokens| None);
    assert!(ledger.unwrap().remedies.iter().all(|remedy| !matches!(remedy, Remedy::ShortenDraft { .. })));
}

#[test]
fn a_count_that_fails_is_reported() {
    let request = LedgerRequest {
        turns: &[],
        draft: "x",
        draft_is_editable: true,
        output: Tokens(1),
        least_output: Tokens(1),
        context: Tokens(1),
        trained_context: Tokens(1),
    };
    let failed = settle(&request, &mut |_: PromptVariant<'_>| Err::<Tokens, _>("no"), &mut |_: Tokens| None);
    assert_eq!(failed, Err("no"));
}

#[test]
fn the_largest_numbers_do_not_wrap() {
    let request = LedgerRequest {
        turns: &[],
        draft: "x",
        draft_is_editable: true,
        output: Tokens(u32::MAX),
        least_output: Tokens(1),
        context: Tokens(u32::MAX),
        trained_context: Tokens(u32::MAX),
    };
    let ledger =
        settle(&request, &mut |_: PromptVariant<'_>| Ok::<_, Infallible>(Tokens(u32::MAX)), &mut |_: Tokens| None);
    assert_eq!(ledger.unwrap().excess, u64::from(u32::MAX));
}

proptest! {
    #[test]
    fn every_remedy_works_and_is_the_least(
        turns in prop::collection::vec(1_u32..200, 0..8), draft in "([a-z]{1,9} |漢|🙂|é ){1,60}", output in 1_u32..600,
        context in 64_u32..1024, trained in 1024_u32..4096, fitting in 0_u32..4096,
    ) {
        let mut chat = chat(&turns, &draft, output, context);
        (chat.trained, chat.fitting) = (trained, fitting);
        let (ledger, _) = chat.settle();
        let needed = ledger.prompt.0 + output;
        prop_assert_eq!(ledger.excess, u64::from(needed.saturating_sub(context)));
        prop_assert_eq!(ledger.remedies.is_empty() && ledger.excess == 0, needed <= context);
        for remedy in &ledger.remedies {
            let (prompt, output, context) = chat.after(remedy);
            prop_assert!(prompt + output <= context, "{remedy:?}");
            match remedy {
                Remedy::ShortenAnswer { output, gain } => {
                    prop_assert_eq!(output.0 + gain.0, chat.output);
                    prop_assert_eq!(prompt + output.0, context);
                }
                Remedy::DropOldestTurns { messages, names, gain } => {
                    prop_assert_eq!(gain.0, ledger.prompt.0 - prompt);
                    prop_assert_eq!(messages.len(), names.len() * 2);
                    prop_assert_eq!(messages[0], MessageId(1), "the oldest first");
                    let fewer = PromptVariant { without_turns: names.len() - 1, draft: &draft };
                    prop_assert!(chat.count(fewer) + output > context, "fewer would do");
                }
                Remedy::EnlargeContext { context, cost } => {
                    prop_assert!(context.0 <= trained && context.0 <= fitting);
                    prop_assert!(context.0.is_multiple_of(64) || context.0 == trained);
                    prop_assert!(context.0 < needed + 64, "a page less would do");
                    prop_assert_eq!(cost.0, u64::from(context.0) * 100);
                }
                Remedy::ShortenDraft { gain, .. } => {
                    prop_assert_eq!(gain.0, ledger.prompt.0 - prompt);
                    prop_assert!(prompt + output + 4 > context, "more of the draft would fit");
                }
                Remedy::NewConversation { gain } => prop_assert_eq!(gain.0, ledger.prompt.0 - prompt),
            }
        }
        // Whatever suffices is offered.
        let offered = |kind: fn(&Remedy) -> bool| ledger.remedies.iter().any(kind);
        if needed > context {
            let bare = chat.count(PromptVariant { without_turns: chat.turns.len(), draft: &draft });
            let enough = !chat.turns.is_empty() && bare + output <= context;
            prop_assert_eq!(offered(|r| matches!(r, Remedy::DropOldestTurns { .. })), enough);
            prop_assert_eq!(offered(|r| matches!(r, Remedy::NewConversation { .. })), enough);
            prop_assert_eq!(offered(|r| matches!(r, Remedy::ShortenAnswer { .. })), ledger.prompt.0 + 16 <= context);
            let larger = needed.div_ceil(64).saturating_mul(64).min(trained);
            prop_assert_eq!(
                offered(|r| matches!(r, Remedy::EnlargeContext { .. })), larger >= needed && larger <= fitting
            );
        }
    }
}
