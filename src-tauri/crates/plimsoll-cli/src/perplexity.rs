//! `plimsoll perplexity`: how well a model predicts a text.
//!
//! The text is cut into windows of `--window` tokens that do not overlap. Each begins with the beginning-of-sequence
//! token, counted within the window, if the model adds one. Every position of a window predicts the next one in it;
//! `nll` is the mean negative log-likelihood of all predictions in nats, and perplexity its exponential. The last
//! window may be shorter; one of a single token predicts nothing.

use plimsoll_engine::tokenizer::SpecialTokens;
use plimsoll_ipc::{ErrorCode, IpcError};
use plimsoll_plan::Tokens;

use crate::args::PerplexityArguments;
use crate::failure::Failure;
use crate::model::{Needs, io_failure, load};
use crate::print;

pub(crate) fn run(arguments: &PerplexityArguments) -> Result<(), Failure> {
    let text = std::fs::read_to_string(&arguments.file).map_err(|error| io_failure(&arguments.file, &error))?;
    let running = load(&arguments.model, Needs { context: Some(Tokens(arguments.window)), ..Needs::default() })?;
    let tokenizer = running.file.tokenizer();
    let ids = tokenizer.encode(&text, SpecialTokens::AsText);
    let begin = if tokenizer.adds_bos() { tokenizer.bos() } else { None };
    let window = usize::try_from(arguments.window).unwrap_or(usize::MAX);
    let windows = windows(&ids, begin, window);
    let mut sum = Likelihood::default();
    for window in &windows {
        running.engine.logits(window, &mut |position, row| {
            if let Some(&next) = window.get(position.saturating_add(1)) {
                sum.add(row, next);
            }
        })?;
    }
    if sum.count == 0 {
        let message = format!("`{}` has no two tokens to score", arguments.file.display());
        return Err(Failure::new(IpcError::new(ErrorCode::EmptyPrompt, message)));
    }
    let nll = sum.total / f64::from(sum.count);
    if arguments.model.json {
        print::json(&serde_json::json!({
            "ppl": nll.exp(),
            "nll": nll,
            "tokens": sum.count,
            "windows": windows.len(),
            "window": arguments.window,
        }))
    } else {
        print::line(&format!("perplexity {:.4}, nll {nll:.6}, {} tokens scored", nll.exp(), sum.count));
        Ok(())
    }
}

/// Sum of negative log-likelihoods.
#[derive(Debug, Default)]
struct Likelihood {
    total: f64,
    count: u32,
}

impl Likelihood {
    /// Adds `-log softmax(logits)[id]`, in f64.
    fn add(&mut self, logits: &[f32], id: u32) {
        let Some(&chosen) = usize::try_from(id).ok().and_then(|id| logits.get(id)) else { return };
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = logits.iter().map(|&logit| f64::from(logit - largest).exp()).sum();
        self.total += sum.ln() - f64::from(chosen - largest);
        self.count = self.count.saturating_add(1);
    }
}

/// The windows, each with its beginning.
fn windows(ids: &[u32], begin: Option<u32>, window: usize) -> Vec<Vec<u32>> {
    let text = window.saturating_sub(usize::from(begin.is_some())).max(1);
    ids.chunks(text)
        .map(|chunk| begin.into_iter().chain(chunk.iter().copied()).collect::<Vec<u32>>())
        .filter(|window| window.len() > 1)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_do_not_overlap_and_count_their_beginning() {
        let ids: Vec<u32> = (10..20).collect();
        let plain: [&[u32]; 3] = [&[10, 11, 12, 13], &[14, 15, 16, 17], &[18, 19]];
        assert_eq!(windows(&ids, None, 4), plain, "the last one is shorter");
        let begun: [&[u32]; 4] = [&[1, 10, 11, 12], &[1, 13, 14, 15], &[1, 16, 17, 18], &[1, 19]];
        assert_eq!(windows(&ids, Some(1), 4), begun);
        assert_eq!(windows(&ids, None, 9).len(), 1, "a single token at the end predicts nothing");
    }

    #[test]
    fn likelihood_is_the_negative_log_softmax() {
        let mut sum = Likelihood::default();
        sum.add(&[0.0, 0.0, 0.0, 0.0], 2);
        assert!((sum.total - 4f64.ln()).abs() < 1e-12, "four equal words");
        let mut large = Likelihood::default();
        large.add(&[1000.0, 0.0], 0);
        assert!(large.total.abs() < 1e-12, "large logits do not overflow");
    }
}
