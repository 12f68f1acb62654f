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

/// Agreement of the engine with the float reference, the prompt computed in chunks of these sizes (`None`: the plan's).
fn agreements(path: &Path, positions: usize, context: u32, chunks: &[Option<u32>]) -> Vec<Agreement> {
    let ids = prose_ids(path, positions);
    let reference = Reference::open(path).logits(&ids);
    let ours = |&chunk: &Option<u32>| Agreement::of(&reference, &logits(&load(path, context, chunk), &ids));
    chunks.iter().map(ours).collect()
}

/// Whole chunks are prefill's path, chunks of one token are decode's.
fn check_real(name: &str, path: &Path) {
    let agreements = agreements(path, 200, 512, &[None, Some(1)]);
    for (way, agreement) in ["prefill", "decode"].into_iter().zip(&agreements) {
        agreement.print(&format!("{name}, {way}, float reference"));
    }
    for agreement in agreements {
        assert!(agreement.top1_share() >= 0.98, "{agreement:?}");
        assert!(agreement.mean_kl() <= 0.005, "{agreement:?}");
    }
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
        for agreement in agreements(&path, 300, 512, &[None, Some(1)]) {
            agreement.print(&format!("tiny {name}, float reference"));
            assert!(agreement.mean_kl() <= 1e-4, "{agreement:?}");
            assert!(agreement.top1_share() >= 0.98, "{agreement:?}");
        }
    }
}
