//! The reader on files that the writer made, on files that are wrong in one way each, and on damaged files.

mod damage;
mod malformed;

use std::io::Write;

use super::write::{GgufWriter, WriteError};
use super::*;

/// A small file with every type of value that the writer has, and three tensors.
fn sample() -> Vec<u8> {
    let mut writer = GgufWriter::new();
    writer
        .string("general.architecture", "llama")
        .string("general.name", "naïve ☃")
        .u32("llama.block_count", 30)
        .u64("llama.context_length", 8192)
        .f32("llama.rope.freq_base", 10_000.0)
        .bool("tokenizer.ggml.add_bos_token", true)
        .array_strings("tokenizer.ggml.tokens", ["<s>", "", "a\u{2581}b"])
        .array_f32("tokenizer.ggml.scores", &[0.0, -1.5, f32::NEG_INFINITY])
        .array_i32("tokenizer.ggml.token_type", &[3, -1, i32::MIN])
        .array_u32("lengths", &[0, u32::MAX])
        .array_bool("windows", &[true, false, true]);
    writer.tensor("a", &[32, 3], 8).unwrap().tensor("b", &[5], 0).unwrap().tensor("c", &[256, 2, 1, 2], 12).unwrap();
    let mut bytes = Vec::new();
    writer.write(&mut bytes, put_tensor).unwrap();
    bytes
}

/// Data of the tensors of [`sample`]: the name's letter, as often as needed.
fn put_tensor(name: &str, out: &mut dyn Write) -> std::io::Result<()> {
    let bytes = match name {
        "a" => 3 * 34,
        "b" => 5 * 4,
        _ => 4 * 144,
    };
    out.write_all(&name.as_bytes().repeat(bytes))
}

fn parse(bytes: &[u8]) -> Result<GgufFile, GgufError> {
    GgufFile::parse(bytes, bytes.len() as u64)
}

#[test]
fn values_come_back_as_they_were_written() {
    let file = parse(&sample()).unwrap();
    assert_eq!((file.version(), file.alignment()), (3, 32));
    assert_eq!(file.architecture().unwrap(), "llama");
    assert_eq!(file.required_string("general.name").unwrap(), "naïve ☃");
    assert_eq!(file.required_u32("llama.block_count").unwrap(), 30);
    assert_eq!(file.required_u32("llama.context_length").unwrap(), 8192, "a 64-bit value that fits");
    assert_eq!(file.required_f32("llama.rope.freq_base").unwrap(), 10_000.0);
    assert_eq!(file.bool("tokenizer.ggml.add_bos_token").unwrap(), Some(true));
    let tokens = file.array_strings("tokenizer.ggml.tokens").unwrap().unwrap();
    assert_eq!(tokens.len(), 3);
    assert_eq!(tokens.collect::<Vec<_>>(), ["<s>".as_bytes(), b"", "a\u{2581}b".as_bytes()]);
    let scores = file.array_f32("tokenizer.ggml.scores").unwrap().unwrap();
    assert_eq!(scores.collect::<Vec<_>>(), [0.0, -1.5, f32::NEG_INFINITY]);
    let kinds = file.array_integers("tokenizer.ggml.token_type").unwrap().unwrap();
    assert_eq!(kinds.len(), 3);
    assert_eq!(kinds.collect::<Vec<_>>(), [3, -1, i64::from(i32::MIN)]);
    assert_eq!(file.array_u32("lengths").unwrap(), Some(vec![0, u32::MAX]));
    assert_eq!(file.array_u32("windows").unwrap(), Some(vec![1, 0, 1]));
    assert_eq!(file.keys().len(), 11);
    assert!(file.keys().is_sorted());
}

#[test]
fn tensors_lie_where_their_data_is() {
    let bytes = sample();
    let file = parse(&bytes).unwrap();
    assert_eq!(file.tensors().iter().map(|tensor| &*tensor.name).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert!(file.tensor("d").is_none());
    let expected: [(&str, &[u64], u32, u64); 3] =
        [("a", &[32, 3], 8, 102), ("b", &[5], 0, 20), ("c", &[256, 2, 1, 2], 12, 576)];
    for (name, dims, ggml_type, len) in expected {
        let tensor = file.tensor(name).unwrap();
        assert_eq!((tensor.dims(), tensor.ggml_type, tensor.bytes), (dims, ggml_type, len));
        assert_eq!(tensor.values(), dims.iter().product());
        assert_eq!(tensor.offset % 32, 0);
        let data = &bytes[tensor.offset as usize..(tensor.offset + len) as usize];
        assert!(data.iter().all(|byte| *byte == name.as_bytes()[0]), "{name}");
    }
}

#[test]
fn a_value_of_another_type_is_refused_by_name() {
    let file = parse(&sample()).unwrap();
    let name = "general.name";
    assert!(matches!(file.u32(name), Err(GgufError::WrongType { key, found: ValueType::String, .. }) if key == name));
    assert!(matches!(file.f32("llama.block_count"), Err(GgufError::WrongType { found: ValueType::U32, .. })));
    assert!(matches!(file.bool(name), Err(GgufError::WrongType { .. })));
    assert!(matches!(file.string("windows"), Err(GgufError::WrongType { .. })));
    assert!(matches!(file.array_strings("windows"), Err(GgufError::WrongType { found: ValueType::Bool, .. })));
    assert!(matches!(file.array_integers(name), Err(GgufError::WrongType { .. })));
    assert!(file.array_f32("lengths").is_err());
    let negative = file.array_u32("tokenizer.ggml.token_type");
    assert!(matches!(negative, Err(GgufError::OutOfRange { value: -1, .. })));
    assert!(matches!(file.required_u32("absent"), Err(GgufError::MissingKey { key }) if key == "absent"));
    assert_eq!((file.string("absent").unwrap(), file.u32("absent").unwrap()), (None, None));
}

#[test]
fn the_writer_refuses_impossible_tensors_and_short_data() {
    for (dims, ggml_type) in [(&[33_u64][..], 8), (&[], 0), (&[0], 0), (&[1, 1, 1, 1, 1], 0), (&[1 << 33, 1 << 33], 0)]
    {
        assert!(matches!(GgufWriter::new().tensor("t", dims, ggml_type), Err(WriteError::Shape { .. })), "{dims:?}");
    }
    assert!(matches!(GgufWriter::new().tensor("t", &[32], 99), Err(WriteError::Shape { ggml_type: 99, .. })));
    let mut writer = GgufWriter::new();
    writer.tensor("t", &[4], 0).unwrap();
    let written = writer.write(Vec::new(), |_, out| out.write_all(&[0; 15]));
    assert!(matches!(written, Err(WriteError::DataLength { needed: 16, given: 15, .. })));
}

#[test]
fn a_file_that_shrank_after_its_length_was_taken_is_refused() {
    let bytes = sample();
    let refused = GgufFile::parse(&bytes[..300], bytes.len() as u64);
    assert!(matches!(refused, Err(GgufError::Truncated { .. })), "{refused:?}");
}

#[test]
fn version_2_reads_the_same() {
    let mut bytes = sample();
    bytes[4] = 2;
    assert_eq!(parse(&bytes).unwrap().version(), 2);
}

#[test]
fn block_sizes_agree_with_the_kernels() {
    use plimsoll_kernels::WeightType;
    let mut known = 0;
    for ggml_type in 0..64 {
        if let Some(weights) = WeightType::from_ggml(ggml_type) {
            let block = block_layout(ggml_type).unwrap();
            assert_eq!(block.values, weights.block_elements() as u64, "{weights:?}");
            assert_eq!(block.bytes, weights.block_bytes() as u64, "{weights:?}");
            known += 1;
        }
    }
    assert_eq!(known, WeightType::ALL.len());
}
