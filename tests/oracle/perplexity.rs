//! Likelihood of prose against llama.cpp's on the same files, tokens and windows.
//!
//! The measure is defined in `fixtures/scripts/perplexity.py`.

use plimsoll_engine::Engine;
use plimsoll_tests::fixtures::{self, WindowLikelihood};
use plimsoll_tests::models;
use plimsoll_tests::plans::load;

use crate::agreement::{log_sum_exp, top1};
use crate::logits::prose_ids;

/// Relative difference of perplexity that is accepted.
const TOLERANCE: f64 = 0.005;

/// -ln p of ids[1..] and how often the most likely word is the recorded one.
fn score(engine: &Engine, ids: &[u32], recorded: &WindowLikelihood) -> (f64, usize) {
    let (mut nll, mut same) = (0.0, 0);
    engine
        .logits(ids, &mut |position, row| {
            same += usize::from(top1(row) == recorded.top1[position] as usize);
            if let Some(&next) = ids.get(position + 1) {
                nll += log_sum_exp(row) - f64::from(row[next as usize]);
            }
        })
        .unwrap();
    assert_eq!(recorded.top1.len(), ids.len());
    assert_eq!(recorded.scored, ids.len() - 1);
    (nll, same)
}

fn check(key: &str) {
    let fixture = fixtures::perplexity();
    let recorded = fixture.model(key);
    let path = models::by_key(key);
    let bos = usize::from(recorded.bos);
    let all = prose_ids(&path, bos + recorded.tokens);

    let engine = load(&path, u32::try_from(fixture.window).unwrap(), None);
    let (mut nll, mut same, mut positions) = (0.0, 0, 0);
    for (text, window) in all[bos..].chunks(fixture.window - bos).zip(&recorded.windows) {
        let ids: Vec<u32> = all[..bos].iter().chain(text).copied().collect();
        let (window_nll, window_same) = score(&engine, &ids, window);
        nll += window_nll;
        same += window_same;
        positions += ids.len();
    }
    let ppl = (nll / recorded.scored as f64).exp();
    let relative = ppl / recorded.ppl - 1.0;
    println!(
        "{key}: perplexity {ppl:.4}, llama.cpp {:.4} ({:+.3} %), top-1 agreement {:.2} % of {positions}",
        recorded.ppl,
        100.0 * relative,
        100.0 * same as f64 / positions as f64
    );
    assert!(relative.abs() <= TOLERANCE, "{key}: {ppl} against {}", recorded.ppl);

    let long = &recorded.long;
    let ids = &all[..=long.scored];
    let (nll, same) = score(&load(&path, 2048, None), ids, long);
    let relative = ((nll - long.nll) / long.scored as f64).exp() - 1.0;
    println!(
        "{key}: one pass of {} tokens, perplexity {:+.3} % from llama.cpp's, top-1 agreement {:.2} %",
        ids.len(),
        100.0 * relative,
        100.0 * same as f64 / ids.len() as f64
    );
    assert!(relative.abs() <= TOLERANCE, "{key}: nll {nll} against {}", long.nll);
}

#[test]
fn smollm2_perplexity_is_llama_cpps() {
    check("smollm2");
}

#[test]
fn gemma3_perplexity_is_llama_cpps() {
    check("gemma3");
}
