//! Admission at the boundaries, and against a ledger of several conversations.

use proptest::prelude::*;

use crate::{AdmissionLimits, KvPool, Lease, Refusal, Request, Tokens, admit};

fn ask(prompt: u32, output: u32, context: u32, free: u32, held: u32) -> Result<Lease, Refusal> {
    admit(
        Request { prompt: Tokens(prompt), max_output: Tokens(output) },
        AdmissionLimits::default(),
        KvPool { context: Tokens(context), free, held },
    )
}

#[test]
fn boundaries_at_the_context() {
    assert_eq!(ask(1000, 1047, 2048, 32, 0).unwrap(), Lease { tokens: Tokens(2047), pages: 32 });
    assert_eq!(ask(1000, 1048, 2048, 32, 0).unwrap(), Lease { tokens: Tokens(2048), pages: 32 });
    let Refusal::ContextExceeded(short) = ask(1000, 1049, 2048, 32, 0).unwrap_err() else { panic!("wrong refusal") };
    assert_eq!((short.needed, short.available, short.excess()), (2049, Tokens(2048), 1));
    assert_eq!((short.largest_output, short.largest_prompt), (Tokens(1048), Tokens(999)));
}

#[test]
fn two_that_do_not_fit_together_wait() {
    // vLLM and unsloth PR#9392: 565 + 1485 = 2050 > 2048 killed both.
    let first = ask(65, 500, 2048, 32, 0).unwrap();
    assert_eq!(first.pages, 9);
    let Refusal::PagesTaken(short) = ask(485, 1000, 2048, 32 - first.pages, 0).unwrap_err() else {
        panic!("wrong refusal")
    };
    assert_eq!((short.needed, short.available), (1485, Tokens(23 * 64)));
    assert_eq!(short.largest_output, Tokens(23 * 64 - 485));
}

#[test]
fn held_pages_are_not_taken_twice() {
    assert_eq!(ask(640, 64, 2048, 1, 10).unwrap().pages, 1);
    assert_eq!(ask(64, 64, 2048, 0, 10).unwrap().pages, 0);
}

#[test]
fn nothing_and_limits() {
    assert_eq!(ask(0, 10, 2048, 32, 0), Err(Refusal::EmptyPrompt));
    assert_eq!(ask(10, 0, 2048, 32, 0), Err(Refusal::ZeroOutput));
    let limits = AdmissionLimits { prompt: Some(Tokens(100)), output: Some(Tokens(50)) };
    let pool = KvPool { context: Tokens(2048), free: 32, held: 0 };
    let ask = |prompt, output| admit(Request { prompt: Tokens(prompt), max_output: Tokens(output) }, limits, pool);
    assert!(ask(100, 50).is_ok());
    assert_eq!(ask(101, 50), Err(Refusal::PromptAboveLimit { wanted: Tokens(101), limit: Tokens(100) }));
    assert_eq!(ask(100, 51), Err(Refusal::OutputAboveLimit { wanted: Tokens(51), limit: Tokens(50) }));
}

#[test]
fn the_largest_counts_do_not_wrap() {
    let Refusal::ContextExceeded(short) = ask(u32::MAX, u32::MAX, u32::MAX, u32::MAX, u32::MAX).unwrap_err() else {
        panic!("wrong refusal")
    };
    assert_eq!(short.needed, 2 * u64::from(u32::MAX));
    assert_eq!(short.largest_output, Tokens(0));
}

proptest! {
    #[test]
    fn refusals_name_what_would_be_admitted(
        prompt in 1_u32..5000, output in 1_u32..5000, context in 1_u32..4096, free in 0_u32..80, held in 0_u32..80,
    ) {
        match ask(prompt, output, context, free, held) {
            Ok(lease) => {
                prop_assert_eq!(lease.tokens, Tokens(prompt + output));
                prop_assert!(lease.tokens.0 <= context && lease.pages <= free);
                prop_assert!((lease.pages + held) * 64 >= lease.tokens.0);
            }
            Err(Refusal::ContextExceeded(short) | Refusal::PagesTaken(short)) => {
                prop_assert!(short.excess() > 0);
                let retry = |prompt, output| match ask(prompt, output, context, free, held) {
                    // The context bound is met; fewer pages may be free than the context has.
                    Err(Refusal::PagesTaken(_)) => true,
                    other => other.is_ok(),
                };
                if short.largest_output.0 > 0 {
                    prop_assert!(retry(prompt, short.largest_output.0));
                    prop_assert!(ask(prompt, short.largest_output.0 + 1, context, free, held).is_err());
                }
                if short.largest_prompt.0 > 0 {
                    prop_assert!(retry(short.largest_prompt.0, output));
                    prop_assert!(ask(short.largest_prompt.0 + 1, output, context, free, held).is_err());
                }
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn the_pool_is_never_oversubscribed(
        requests in prop::collection::vec((1_u32..600, 1_u32..600), 1..40), pages in 1_u32..40,
    ) {
        let mut free = pages;
        for (prompt, output) in requests {
            if let Ok(lease) = ask(prompt, output, 1024, free, 0) {
                free = free.checked_sub(lease.pages).expect("a lease of more than is free");
            }
        }
        prop_assert!(free <= pages);
    }
}
