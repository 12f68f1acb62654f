//! The two real models, which `cargo xtask setup` puts into the cache.

use std::path::{Path, PathBuf};

/// SmolLM2-135M-Instruct Q4_1: llama architecture, byte-level BPE, ChatML template.
pub fn smollm2() -> PathBuf {
    real("SmolLM2-135M-Instruct.Q4_1.gguf")
}

/// Gemma 3 270M Q4_K_M: sliding window, SentencePiece, base model without a template.
pub fn gemma3() -> PathBuf {
    real("gemma-3-270m-Q4_K_M.gguf")
}

/// The real model that a fixture calls `smollm2` or `gemma3`.
pub fn by_key(key: &str) -> PathBuf {
    match key {
        "smollm2" => smollm2(),
        "gemma3" => gemma3(),
        _ => panic!("no real model is called {key}"),
    }
}

fn real(file: &str) -> PathBuf {
    let path = folder().join(file);
    assert!(path.is_file(), "{} is missing: run `cargo xtask setup`", path.display());
    path
}

fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("PLIMSOLL_MODELS") {
        return PathBuf::from(folder);
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    cache.expect("HOME is set").join("plimsoll/models")
}
