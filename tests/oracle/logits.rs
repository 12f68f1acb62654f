//! Logits against the float reference, position by position.

use std::path::Path;

use plimsoll_engine::ModelFile;
use plimsoll_engine::tokenizer::SpecialTokens;
use plimsoll_tests::plans::{load, logits};
use plimsoll_tests::tiny::Tiny;
use plimsoll_tests::{fixtures, models};

use crate::agreement::Agreement;
use crate::reference::Reference;

/// `count` token ids of the prose, after the BOS where the model wants one.
pub(crate) fn prose_ids(path: &Path, count: usize) -> Vec<u32> {
    let file = ModelFile::open(path).unwrap();
    let tokenizer = file.tokenizer();
    let bos = tokenizer.bos().filter(|_| tokenizer.adds_bos());
    let text = tokenizer.encode(&fixtures::prose(), SpecialTokens::AsText);
    let ids: Vec<u32> = bos.into_iter().chain(text).take(count).collect();
    assert_eq!(ids.len(), count, "the prose is long enough");
    ids
}

fn agreement(path: &Path, positions: usize, context: u32) -> Agreement {
    let ids = prose_ids(path, positions);
    let reference = Reference::open(path).logits(&ids);
    let ours = logits(&load(path, context, None), &ids);
    Agreement::of(&reference, &ours)
}

fn check_real(name: &str, path: &Path) {
    let agreement = agreement(path, 200, 512);
    agreement.print(&format!("{name}, float reference"));
    assert!(agreement.top1_share() >= 0.98, "{agreement:?}");
    assert!(agreement.mean_kl() <= 0.005, "{agreement:?}");
}

#[test]
fn smollm2_agrees_with_the_float_reference() {
    check_real("SmolLM2", &models::smollm2());
}

#[test]
fn gemma3_agrees_with_the_float_reference() {
    check_real("Gemma 3", &models::gemma3());
}

/// 32-bit weights leave the forward pass itself: norms, rotation, grouping of heads, windows, activation.
#[test]
fn tiny_models_agree_with_the_float_reference() {
    let folder = tempfile::tempdir().unwrap();
    for (name, tiny) in [("llama", Tiny::llama()), ("gemma3", Tiny::gemma3())] {
        let path = folder.path().join(format!("{name}.gguf"));
        tiny.file().write(&path);
        // Far more positions than the window of 24, and than one KV page.
        let agreement = agreement(&path, 300, 512);
        agreement.print(&format!("tiny {name}, float reference"));
        assert!(agreement.mean_kl() <= 1e-4, "{agreement:?}");
        assert!(agreement.top1_share() >= 0.98, "{agreement:?}");
    }
}
