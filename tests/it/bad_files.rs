//! Damaged and foreign model files: a typed error that names the field, and the program goes on.

use std::fs;

use plimsoll_ipc::ErrorCode;
use plimsoll_tests::tiny::{Tiny, TinyFile, Value};

use crate::desk::{Desk, assert_error};

/// A file of this content is listed with the problem and refused for it, while the loaded model goes on.
fn refused(desk: &Desk, what: &str, bytes: &[u8], code: ErrorCode, detail: &str) {
    fs::write(desk.path("bad"), bytes).unwrap();
    let problem = desk.entry("bad").problem.unwrap_or_else(|| panic!("{what}: listed without a problem"));
    assert_error(&problem, code, detail);
    let error = desk.load("bad").expect_err(what);
    assert_error(&error, code, detail);
    assert!(desk.is_ready("good"), "{what}: the loaded model stays");
    fs::remove_file(desk.path("bad")).unwrap();
}

fn refused_file(desk: &Desk, what: &str, file: &TinyFile, code: ErrorCode, detail: &str) {
    let path = desk.put("bad", file);
    let bytes = fs::read(path).unwrap();
    refused(desk, what, &bytes, code, detail);
}

/// The bytes of a sound file.
fn sound(desk: &Desk) -> Vec<u8> {
    fs::read(desk.path("good")).unwrap()
}

/// Position of `name` as a length-prefixed string.
fn find(bytes: &[u8], name: &str) -> usize {
    let mut wanted = (name.len() as u64).to_le_bytes().to_vec();
    wanted.extend_from_slice(name.as_bytes());
    bytes.windows(wanted.len()).position(|window| window == wanted).unwrap_or_else(|| panic!("{name} is in the file"))
}

/// Overwrites bytes at a position.
fn patched(bytes: &[u8], at: usize, with: &[u8]) -> Vec<u8> {
    let mut patched = bytes.to_vec();
    patched[at..at + with.len()].copy_from_slice(with);
    patched
}

#[test]
fn files_that_are_no_gguf() {
    let desk = Desk::ready();
    refused(&desk, "text", b"This is a shopping list, not a model.", ErrorCode::NotGguf, "");
    refused(&desk, "zeros", &[0; 4096], ErrorCode::NotGguf, "");
    refused(&desk, "zip", b"PK\x03\x04 and so on and so on", ErrorCode::NotGguf, "");
    desk.still_answers();
}

#[test]
fn truncated_files() {
    let desk = Desk::ready();
    let bytes = sound(&desk);
    refused(&desk, "empty", b"", ErrorCode::Truncated, "");
    // In the preamble, in the metadata, in the table of tensors: a count may show that the rest is not there.
    let table = find(&bytes, "token_embd.weight");
    for length in [4, 7, 20, 100, table / 2, table + 10, table + 400] {
        fs::write(desk.path("bad"), &bytes[..length]).unwrap();
        let error = desk.load("bad").expect_err("cut");
        assert!(matches!(error.code, ErrorCode::Truncated | ErrorCode::BadHeader), "cut at {length}: {error:?}");
        assert!(error.detail.is_some_and(|field| !field.is_empty()), "cut at {length}: the field is named");
    }
    // In the tensors' data.
    for length in [bytes.len() / 2, bytes.len() - 1] {
        refused(&desk, &format!("cut at {length}"), &bytes[..length], ErrorCode::Truncated, ".weight");
    }
    desk.still_answers();
}

#[test]
fn counts_and_offsets_out_of_range() {
    let desk = Desk::ready();
    let bytes = sound(&desk);
    let (huge, wide) = (u64::MAX.to_le_bytes(), (1u64 << 40).to_le_bytes());
    let bad = ErrorCode::BadHeader;
    for number in [&huge, &wide] {
        refused(&desk, "tensor count", &patched(&bytes, 8, number), bad, "tensor");
        refused(&desk, "metadata count", &patched(&bytes, 16, number), bad, "metadata");
    }
    // A string and an array that are longer than the file.
    let key = find(&bytes, "general.name");
    let value = key + 8 + "general.name".len() + 4;
    for number in [&huge, &wide] {
        let file = patched(&bytes, value, number);
        fs::write(desk.path("bad"), file).unwrap();
        let problem = desk.entry("bad").problem.expect("a problem");
        assert!(matches!(problem.code, ErrorCode::BadHeader | ErrorCode::Truncated), "{problem:?}");
        assert!(problem.detail.unwrap().contains("general.name"));
    }
    let array = find(&bytes, "tokenizer.ggml.tokens") + 8 + "tokenizer.ggml.tokens".len() + 8;
    for number in [&huge, &wide] {
        fs::write(desk.path("bad"), patched(&bytes, array, number)).unwrap();
        let problem = desk.entry("bad").problem.expect("a problem");
        assert!(matches!(problem.code, ErrorCode::BadHeader | ErrorCode::Truncated), "{problem:?}");
        assert!(problem.detail.unwrap().contains("tokenizer.ggml.tokens"));
    }
    // A tensor's dimensions, then its offset: name, count of dimensions, dimensions, type, offset.
    let tensor = find(&bytes, "blk.1.ffn_up.weight") + 8 + "blk.1.ffn_up.weight".len();
    refused(&desk, "17 dimensions", &patched(&bytes, tensor, &17u32.to_le_bytes()), bad, "blk.1.ffn_up.weight");
    refused(&desk, "a dimension of 2^64 - 1", &patched(&bytes, tensor + 4, &huge), bad, "blk.1.ffn_up.weight");
    refused(&desk, "a dimension of 0", &patched(&bytes, tensor + 4, &0u64.to_le_bytes()), bad, "blk.1.ffn_up.weight");
    let offset = tensor + 4 + 16 + 4;
    for number in [u64::MAX - 31, 1 << 40] {
        fs::write(desk.path("bad"), patched(&bytes, offset, &number.to_le_bytes())).unwrap();
        let problem = desk.entry("bad").problem.expect("a problem");
        assert!(matches!(problem.code, ErrorCode::BadHeader | ErrorCode::Truncated), "{problem:?}");
        assert!(problem.detail.unwrap().contains("blk.1.ffn_up.weight"));
    }
    fs::remove_file(desk.path("bad")).unwrap();
    refused(&desk, "an odd offset", &patched(&bytes, offset, &7u64.to_le_bytes()), bad, "blk.1.ffn_up.weight");
    refused(&desk, "version 99", &patched(&bytes, 4, &99u32.to_le_bytes()), bad, "version");
    desk.still_answers();
}

#[test]
fn unknown_architectures_and_types() {
    let desk = Desk::ready();
    let file = Tiny::llama().file();
    let other = file.clone().with("general.architecture", Value::Text("mamba".to_owned()));
    refused_file(&desk, "architecture", &other, ErrorCode::UnknownArchitecture, "mamba");

    let bytes = sound(&desk);
    let tensor = find(&bytes, "blk.1.ffn_up.weight") + 8 + "blk.1.ffn_up.weight".len();
    let storage = tensor + 4 + 16;
    // 99 is nobody's, 4 was removed from the format.
    for number in [99u32, 4] {
        let file = patched(&bytes, storage, &number.to_le_bytes());
        refused(&desk, "storage type", &file, ErrorCode::UnknownTensorType, "blk.1.ffn_up.weight");
    }
    let other = file.clone().with("tokenizer.ggml.model", Value::Text("bert".to_owned()));
    refused_file(&desk, "tokenizer", &other, ErrorCode::UnsupportedTokenizer, "bert");
    let other = file.with("tokenizer.ggml.pre", Value::Text("of-tomorrow".to_owned()));
    refused_file(&desk, "pre-tokenizer", &other, ErrorCode::UnsupportedTokenizer, "of-tomorrow");
    desk.still_answers();
}

#[test]
fn missing_and_misshapen_parts() {
    let desk = Desk::ready();
    for tiny in [Tiny::llama(), Tiny::gemma3()] {
        let file = tiny.file();
        for name in ["blk.1.ffn_up.weight", "output_norm.weight", "token_embd.weight", "blk.0.attn_norm.weight"] {
            refused_file(&desk, name, &file.clone().without(name), ErrorCode::MissingTensor, name);
        }
        // One row short: one value of the last dimension less.
        let mut short = file.clone();
        let tensor = short.tensor_mut("blk.1.ffn_down.weight");
        tensor.data.truncate(tensor.data.len() - 4 * usize::try_from(tensor.dims[0]).unwrap());
        tensor.dims[1] -= 1;
        refused_file(&desk, "one row short", &short, ErrorCode::WrongShape, "blk.1.ffn_down.weight");
        // Turned over.
        let mut turned = file.clone();
        turned.tensor_mut("blk.0.ffn_gate.weight").dims.reverse();
        refused_file(&desk, "turned over", &turned, ErrorCode::WrongShape, "blk.0.ffn_gate.weight");
        let mut norm = file.clone();
        let tensor = norm.tensor_mut("blk.0.ffn_norm.weight");
        tensor.data.truncate(32 * 4);
        tensor.dims[0] = 32;
        refused_file(&desk, "short norm", &norm, ErrorCode::WrongShape, "blk.0.ffn_norm.weight");
    }
    desk.still_answers();
}

#[test]
fn missing_and_impossible_metadata() {
    let desk = Desk::ready();
    let file = Tiny::llama().file();
    let bad = ErrorCode::BadHeader;
    for key in ["llama.embedding_length", "llama.block_count", "llama.attention.head_count", "llama.context_length"] {
        refused_file(&desk, key, &file.clone().without(key), bad, key);
        refused_file(&desk, key, &file.clone().with(key, Value::U32(0)), bad, key);
        refused_file(&desk, key, &file.clone().with(key, Value::Text("many".to_owned())), bad, key);
    }
    let epsilon = "llama.attention.layer_norm_rms_epsilon";
    refused_file(&desk, "epsilon", &file.clone().with(epsilon, Value::F32(f32::NAN)), bad, epsilon);
    let heads = "llama.attention.head_count_kv";
    refused_file(&desk, "5 KV heads for 6", &file.clone().with(heads, Value::U32(5)), bad, heads);
    // Scores, kinds and merges that do not belong to the vocabulary.
    let kinds = "tokenizer.ggml.token_type";
    refused_file(&desk, "two kinds", &file.clone().with(kinds, Value::Integers(vec![1, 1])), bad, kinds);
    let merges = "tokenizer.ggml.merges";
    refused_file(&desk, "merge", &file.clone().with(merges, Value::Texts(vec!["zz top".to_owned()])), bad, merges);
    let eos = "tokenizer.ggml.eos_token_id";
    refused_file(&desk, "eos", &file.with(eos, Value::U32(1 << 20)), bad, eos);
    desk.still_answers();
}
