//! Random damage: whatever the bytes are, the reader answers, soon, and holds a small multiple of what it was given.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::*;
use super::sample;
use crate::tokenizer::Tokenizer;

/// Headers to damage, each with the length of its whole file: a small written one, and the cached models' if any.
static ORIGINALS: LazyLock<Vec<(Vec<u8>, u64)>> = LazyLock::new(|| {
    let mut originals = vec![(sample(), sample().len() as u64)];
    let folder = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/plimsoll/models"));
    for entry in folder.and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten() {
        // Beside the models lie notes about their verification.
        let is_model = entry.path().extension().is_some_and(|extension| extension == "gguf");
        if let Some(file) = is_model.then(|| std::fs::File::open(entry.path()).ok()).flatten() {
            let len = file.metadata().unwrap().len();
            let mut head = Vec::new();
            file.take(8 << 20).read_to_end(&mut head).unwrap();
            originals.push((head, len));
        }
    }
    originals
});

/// Asks for every value in every way, and builds the tokenizer.
fn use_everything(file: &GgufFile) {
    for key in file.keys() {
        let _ = (file.string(key), file.u32(key), file.f32(key), file.bool(key), file.array_u32(key));
        if let Ok(Some(strings)) = file.array_strings(key) {
            assert_eq!(strings.len(), strings.count());
        }
        if let Ok(Some(values)) = file.array_f32(key) {
            assert_eq!(values.len(), values.count());
        }
    }
    for tensor in file.tensors() {
        assert!(tensor.offset + tensor.bytes <= file.file_len().0);
        assert_eq!(file.tensor(&tensor.name), Some(tensor));
    }
    let _ = Tokenizer::from_gguf(file);
}

fn check(bytes: &[u8], file_len: u64) {
    let start = Instant::now();
    if let Ok(file) = GgufFile::parse(bytes, file_len) {
        assert!(file.memory().0 <= 4 * bytes.len() as u64 + 4096, "{} for {} bytes", file.memory(), bytes.len());
        use_everything(&file);
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?} for {} bytes", start.elapsed(), bytes.len());
}

#[test]
fn undamaged_headers_are_read() {
    for (bytes, file_len) in ORIGINALS.iter() {
        let file = GgufFile::parse(bytes.as_slice(), *file_len).unwrap();
        assert!(!file.tensors().is_empty());
        check(bytes, *file_len);
    }
}

#[test]
fn every_truncation_of_a_header_is_refused() {
    let bytes = sample();
    let file = GgufFile::parse(bytes.as_slice(), bytes.len() as u64).unwrap();
    let data_end = file.tensors().iter().map(|tensor| tensor.offset + tensor.bytes).max().unwrap();
    for len in 0..data_end {
        let cut = &bytes[..len as usize];
        assert!(GgufFile::parse(cut, len).is_err(), "{len} of {data_end}");
    }
}

#[test]
fn every_single_byte_of_a_small_header_can_be_anything() {
    let bytes = sample();
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff, bytes[at].wrapping_add(1), bytes[at] ^ 0x10] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            check(&damaged, damaged.len() as u64);
        }
    }
}

/// Places that are likely to hold counts and lengths are as likely as the millions of bytes of text after them.
fn place(len: usize) -> impl Strategy<Value = usize> {
    prop_oneof![0..len, 0..len.min(2000), len.saturating_sub(len / 4)..len]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_damage_is_survived(
        pick in any::<prop::sample::Index>(),
        flips in prop::collection::vec((place(8 << 20), any::<u8>()), 0..6),
        word in prop::option::of((place(8 << 20), prop_oneof![Just(u64::MAX), Just(1 << 63), Just(1 << 32), 0..100_000_u64])),
        cut in prop::option::of(place(8 << 20)),
    ) {
        let (bytes, file_len) = pick.get(&ORIGINALS);
        let (mut bytes, mut file_len) = (bytes.clone(), *file_len);
        let len = bytes.len();
        for (at, value) in flips {
            bytes[at % len] = value;
        }
        if let Some((at, value)) = word {
            let at = at % len.saturating_sub(8);
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        if let Some(cut) = cut {
            bytes.truncate(cut % len);
            file_len = bytes.len() as u64;
        }
        check(&bytes, file_len);
    }

    #[test]
    fn bytes_after_a_good_preamble_can_be_anything(
        tensors in 0..4_u64,
        entries in 0..4_u64,
        rest in prop::collection::vec(prop_oneof![Just(0_u8), 0..13_u8, any::<u8>()], 0..400),
    ) {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        bytes.extend(tensors.to_le_bytes());
        bytes.extend(entries.to_le_bytes());
        bytes.extend(rest);
        check(&bytes, bytes.len() as u64);
    }
}
