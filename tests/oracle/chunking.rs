//! One prompt, cut in different ways: at once, in chunks, token by token, turn by turn.

use std::path::{Path, PathBuf};

use plimsoll_tests::models;
use plimsoll_tests::plans::{answer, greedy, load, logits};
use plimsoll_tests::tiny::Tiny;
use tempfile::TempDir;

use crate::agreement::Agreement;
use crate::logits::prose_ids;

/// The two tiny models in a folder of their own.
fn tiny_models() -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths = [("llama", Tiny::llama()), ("gemma3", Tiny::gemma3())].map(|(name, tiny)| {
        let path = folder.path().join(format!("{name}.gguf"));
        tiny.file().write(&path);
        path
    });
    (folder, paths.to_vec())
}

/// Logits of `positions` positions with each chunk size against those of one whole chunk.
fn check_chunks(path: &Path, positions: usize, context: u32, chunks: &[u32]) {
    let ids = prose_ids(path, positions);
    let whole = logits(&load(path, context, Some(context)), &ids);
    for &chunk in chunks {
        let cut = logits(&load(path, context, Some(chunk)), &ids);
        let agreement = Agreement::of(&whole, &cut);
        let name = path.file_stem().unwrap().to_string_lossy();
        agreement.print(&format!("{name}, chunks of {chunk} against {context}"));
        assert!(agreement.mean_kl() <= 1e-5, "{name} {chunk}: {agreement:?}");
        assert!(agreement.largest_difference() <= 0.1, "{name} {chunk}: {agreement:?}");
    }
}

#[test]
fn chunks_of_any_size_give_the_same_logits() {
    let (_folder, paths) = tiny_models();
    for path in paths {
        // Window 24, pages of 64: chunks below, at and across both.
        check_chunks(&path, 333, 384, &[1, 7, 24, 63, 64, 65, 128, 200]);
    }
}

#[test]
fn real_models_give_the_same_logits_in_chunks() {
    check_chunks(&models::smollm2(), 200, 256, &[1, 48]);
    // Longer than Gemma's window of 512.
    check_chunks(&models::gemma3(), 700, 704, &[256]);
}

/// A second turn prefills only what is new and goes on as if nothing had been cached.
#[test]
fn turn_by_turn_equals_all_at_once() {
    let (_folder, mut paths) = tiny_models();
    paths.push(models::smollm2());
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = prose_ids(&path, 500);
        let engine = load(&path, 768, None);
        // Three turns; each prompt begins with all that came before it, as a rendered chat does.
        let mut prompt = Vec::new();
        for (turn, new) in [&text[..90], &text[90..250], &text[250..263]].into_iter().enumerate() {
            let before = prompt.len();
            prompt.extend_from_slice(new);
            let cached = engine.cached_prefix(&prompt).0;
            let ours = answer(&engine, greedy(&prompt, 24)).unwrap();
            assert_eq!(ours.cached, cached, "{name} turn {turn}: the promise is kept");
            // The last token of an answer is sampled, not computed.
            assert!(cached as usize + 1 >= before, "{name} turn {turn}: {cached} of {before} tokens reused");
            let fresh = answer(&load(&path, 768, None), greedy(&prompt, 24)).unwrap();
            assert_eq!(fresh.cached, 0);
            assert_eq!(ours.ids, fresh.ids, "{name} turn {turn}: same answer as from an empty cache");
            assert_eq!(ours.text, fresh.text);
            prompt.extend_from_slice(&ours.ids);
        }
        // An edited first turn shares nothing beyond its first tokens.
        let edited: Vec<u32> = text[..20].iter().chain(&text[300..480]).copied().collect();
        let ours = answer(&engine, greedy(&edited, 24)).unwrap();
        let fresh = answer(&load(&path, 768, None), greedy(&edited, 24)).unwrap();
        assert!(ours.cached <= 20, "{name}: {} tokens reused of an edited prompt", ours.cached);
        assert_eq!(ours.ids, fresh.ids, "{name}: an edited prompt is answered as from an empty cache");
    }
}
