//! One file for each way to be wrong. Most of these were found in other readers: see `research/memory.md` 3.11.

use super::super::*;
use super::parse;

/// Bytes of a header, put together by hand so that it can lie.
#[derive(Clone)]
struct Lie {
    version: u32,
    tensor_count: Option<u64>,
    entry_count: Option<u64>,
    entries: Vec<Vec<u8>>,
    tensors: Vec<Vec<u8>>,
    data: usize,
}

fn lie() -> Lie {
    Lie { version: 3, tensor_count: None, entry_count: None, entries: vec![], tensors: vec![], data: 0 }
}

impl Lie {
    fn entry(mut self, key: &[u8], value_type: u32, value: &[u8]) -> Self {
        self.entries.push([&text(key), &value_type.to_le_bytes()[..], value].concat());
        self
    }

    fn tensor(self, name: &[u8], dims: &[u64], ggml_type: u32, offset: u64) -> Self {
        let rank = dims.len() as u32;
        self.tensor_of_rank(name, rank, dims, ggml_type, offset)
    }

    fn tensor_of_rank(mut self, name: &[u8], rank: u32, dims: &[u64], ggml_type: u32, offset: u64) -> Self {
        let mut row = [&text(name), &rank.to_le_bytes()[..]].concat();
        row.extend(dims.iter().flat_map(|dim| dim.to_le_bytes()));
        row.extend(ggml_type.to_le_bytes());
        row.extend(offset.to_le_bytes());
        self.tensors.push(row);
        self
    }

    fn bytes(self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend(self.tensor_count.unwrap_or(self.tensors.len() as u64).to_le_bytes());
        bytes.extend(self.entry_count.unwrap_or(self.entries.len() as u64).to_le_bytes());
        bytes.extend(self.entries.concat());
        bytes.extend(self.tensors.concat());
        if self.data > 0 {
            bytes.resize(bytes.len().next_multiple_of(32) + self.data, 0);
        }
        bytes
    }
}

fn text(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u64).to_le_bytes()[..], bytes].concat()
}

fn array(element: u32, count: u64, elements: &[u8]) -> Vec<u8> {
    [&element.to_le_bytes()[..], &count.to_le_bytes(), elements].concat()
}

/// Arrays in arrays, `depth` of them.
fn nested(depth: usize) -> Vec<u8> {
    (1..depth).fold(array(0, 1, &[7]), |inner, _| array(9, 1, &inner))
}

/// Fails unless the file is refused with an error of this pattern.
macro_rules! refused {
    ($bytes:expr, $pattern:pat $(if $guard:expr)?) => {
        match parse(&$bytes[..]) {
            Err($pattern) $(if $guard)? => {}
            other => panic!("expected {}, got {other:?}", stringify!($pattern)),
        }
    };
}

#[test]
fn preambles() {
    refused!(b"", GgufError::Truncated { needed: 4, have: 0, .. });
    refused!(b"GGU", GgufError::Truncated { needed: 4, have: 3, .. });
    refused!(b"<!DOCTYPE html><html>", GgufError::NotGguf { magic } if &magic == b"<!DO");
    refused!(b"GGUF", GgufError::Truncated { field, .. } if field == "version");
    for version in [0, 1, 4, 0xffff] {
        refused!(Lie { version, ..lie() }.bytes(), GgufError::UnsupportedVersion { version: v } if v == version);
    }
    refused!(Lie { version: 3_u32.swap_bytes(), ..lie() }.bytes(), GgufError::BigEndian { version: 3 });
    refused!(b"GGUF\x03\0\0\0\x01\0\0\0", GgufError::Truncated { needed: 8, have: 4, .. });
}

#[test]
fn counts() {
    for count in [1, 1 << 31, 1 << 63, u64::MAX] {
        let tensors = Lie { tensor_count: Some(count), ..lie() }.bytes();
        refused!(tensors, GgufError::Count { field, count: c, limit: 0 } if field == "tensor count" && c == count);
        let entries = Lie { entry_count: Some(count), ..lie() }.bytes();
        refused!(entries, GgufError::Count { field, count: c, limit: 0 } if field == "metadata count" && c == count);
    }
    let padded = |lie: Lie| [lie.bytes(), vec![0; 4 << 20]].concat();
    refused!(padded(Lie { tensor_count: Some(65_537), ..lie() }), GgufError::Count { limit: 65_536, .. });
    refused!(padded(Lie { entry_count: Some(65_537), ..lie() }), GgufError::Count { limit: 65_536, .. });
    // One pair fewer than claimed: the next field is not there.
    let missing = Lie { entry_count: Some(2), ..lie().entry(b"some.key", 10, &[0; 8]) };
    refused!(missing.bytes(), GgufError::Truncated { field, have: 0, .. } if field == "metadata key 1");
    let missing = Lie { tensor_count: Some(2), ..lie().tensor(b"a-long-enough-name-for-two", &[1], 0, 0) };
    refused!(missing.bytes(), GgufError::Truncated { .. });
}

#[test]
fn keys() {
    refused!(lie().entry(b"", 4, &[0; 8]).bytes(), GgufError::BadKey { index: 0, .. });
    refused!(lie().entry(b"\xff\xfe", 4, &[0; 4]).bytes(), GgufError::BadKey { .. });
    let twice = lie().entry(b"b", 4, &[0; 4]).entry(b"a", 0, &[0]).entry(b"b", 0, &[0]);
    refused!(twice.bytes(), GgufError::DuplicateKey { key } if key == "b");
    for len in [100, u64::MAX, u64::MAX - 31, 1 << 63] {
        let mut bytes = Lie { entry_count: Some(1), ..lie() }.bytes();
        bytes.extend(len.to_le_bytes());
        bytes.extend([0; 32]);
        refused!(bytes, GgufError::Truncated { needed, have: 32, .. } if needed == len);
    }
}

#[test]
fn values() {
    for value_type in [13, 255, u32::MAX] {
        let unknown = lie().entry(b"k", value_type, &[0; 8]);
        refused!(unknown.bytes(), GgufError::UnknownValueType { value_type: t, .. } if t == value_type);
        let unknown = lie().entry(b"k", 9, &array(value_type, 1, &[0; 8]));
        refused!(unknown.bytes(), GgufError::UnknownValueType { value_type: t, .. } if t == value_type);
    }
    refused!(lie().entry(b"k", 7, &[2]).bytes(), GgufError::BadBool { value: 2, .. });
    refused!(lie().entry(b"k", 9, &array(7, 3, &[0, 1, 255])).bytes(), GgufError::BadBool { value: 255, .. });
    refused!(lie().entry(b"kkkkkkkk", 10, &[0; 7]).bytes(), GgufError::Truncated { needed: 8, have: 7, .. });
    for len in [9, 1 << 40, u64::MAX] {
        let value = [&len.to_le_bytes()[..], &[b'x'; 8]].concat();
        refused!(lie().entry(b"k", 8, &value).bytes(), GgufError::Truncated { needed, have: 8, .. } if needed == len);
    }
    let not_text = parse(&lie().entry(b"k", 8, &text(b"ab\xffcd")).bytes()).unwrap();
    assert!(matches!(not_text.string("k"), Err(GgufError::NotUtf8 { valid_up_to: 2, .. })));
}

#[test]
fn arrays() {
    // The count times the width wraps in 64 bits, or only in 32.
    for (element, count) in [(10, 1 << 61), (10, (1 << 61) + 1), (4, 1 << 62), (0, u64::MAX), (4, (1 << 30) + 1)] {
        let value = array(element, count, &[0; 16]);
        refused!(lie().entry(b"k", 9, &value).bytes(), GgufError::Count { count: c, .. } if c == count);
    }
    for (element, count) in [(8, 3), (8, u64::MAX), (9, 2), (9, 1 << 60)] {
        let value = array(element, count, &[0; 16]);
        refused!(lie().entry(b"k", 9, &value).bytes(), GgufError::Count { count: c, .. } if c == count);
    }
    let second_too_long = array(8, 2, &[text(b"ok"), 99_u64.to_le_bytes().to_vec()].concat());
    refused!(lie().entry(b"k", 9, &second_too_long).bytes(), GgufError::Truncated { needed: 99, .. });
    assert!(parse(&lie().entry(b"k", 9, &nested(4)).bytes()).is_ok());
    refused!(lie().entry(b"k", 9, &nested(5)).bytes(), GgufError::NestedTooDeep { .. });
    refused!(lie().entry(b"k", 9, &nested(100_000)).bytes(), GgufError::NestedTooDeep { .. });
}

#[test]
fn alignments() {
    for alignment in [0_u32, 3, 33, 1 << 21, 1 << 31, u32::MAX] {
        let bytes = lie().entry(b"general.alignment", 4, &alignment.to_le_bytes()).bytes();
        refused!(bytes, GgufError::Alignment { alignment: a } if a == u64::from(alignment));
    }
    refused!(lie().entry(b"general.alignment", 8, &text(b"32")).bytes(), GgufError::WrongType { .. });
    refused!(lie().entry(b"general.alignment", 5, &(-32_i32).to_le_bytes()).bytes(), GgufError::OutOfRange { .. });
    let unaligned = Lie { data: 64, ..lie().tensor(b"t", &[4], 0, 16) };
    refused!(unaligned.bytes(), GgufError::TensorAlignment { offset: 16, alignment: 32, .. });
}

#[test]
fn shapes() {
    refused!(lie().tensor(b"", &[1, 1], 0, 0).bytes(), GgufError::BadTensorName { index: 0, .. });
    refused!(lie().tensor(b"\xc3\x28", &[1], 0, 0).bytes(), GgufError::BadTensorName { .. });
    for rank in [0, 5, 8, u32::MAX] {
        let bytes = lie().tensor_of_rank(b"t", rank, &[1, 1], 0, 0).bytes();
        refused!(bytes, GgufError::Dimensions { tensor, dimensions } if tensor == "t" && dimensions == rank);
    }
    let impossible: [&[u64]; 6] =
        [&[0], &[4, 0], &[1 << 32, 1 << 32], &[(1 << 42) + 1, 1 << 22], &[u64::MAX, 2], &[1 << 62]];
    for dims in impossible {
        refused!(lie().tensor(b"t", dims, 0, 0).bytes(), GgufError::Shape { dims: d, .. } if d == dims);
    }
    for ggml_type in [4, 5, 31, 33, 36, 38, 1000, u32::MAX] {
        let bytes = lie().tensor(b"t", &[256], ggml_type, 0).bytes();
        refused!(bytes, GgufError::UnknownTensorType { tensor, ggml_type: t } if tensor == "t" && t == ggml_type);
    }
    refused!(lie().tensor(b"t", &[33], 8, 0).bytes(), GgufError::PartialBlock { row: 33, block: 32, .. });
    refused!(lie().tensor(b"t", &[128, 2], 12, 0).bytes(), GgufError::PartialBlock { row: 128, block: 256, .. });
}

#[test]
fn data_ranges() {
    let with_data = |offset| Lie { data: 64, ..lie().tensor(b"t", &[16], 0, offset) }.bytes();
    assert!(parse(&with_data(0)).is_ok());
    for offset in [32, 1 << 40, 1 << 63, u64::MAX - 31] {
        refused!(with_data(offset), GgufError::TensorOutsideFile { bytes: 64, .. });
    }
    refused!(lie().tensor(b"t", &[1 << 40], 0, 0).bytes(), GgufError::TensorOutsideFile { .. });
    refused!(lie().tensor(b"t", &[1], 0, 0).bytes(), GgufError::TensorOutsideFile { bytes: 4, .. });
    let two = |second| Lie { data: 128, ..lie().tensor(b"a", &[16], 0, 0).tensor(b"b", &[16], 0, second) }.bytes();
    assert!(parse(&two(64)).is_ok());
    for second in [0, 32] {
        refused!(two(second), GgufError::Overlap { .. });
    }
    let contained = Lie { data: 128, ..lie().tensor(b"b", &[8], 0, 32).tensor(b"a", &[32], 0, 0) };
    refused!(contained.bytes(), GgufError::Overlap { first, second, .. } if first == "a" && second == "b");
    let same_name = Lie { data: 128, ..lie().tensor(b"a", &[16], 0, 0).tensor(b"a", &[16], 0, 64) };
    refused!(same_name.bytes(), GgufError::DuplicateTensor { tensor } if tensor == "a");
}

#[test]
fn an_error_shows_a_hostile_name_shortened() {
    let name = vec![b'x'; 1 << 20];
    let error = parse(&lie().entry(&name, 99, &[0; 8]).bytes()).unwrap_err();
    assert!(error.to_string().len() < 300);
    let error = parse(&lie().tensor(&name, &[0], 0, 0).bytes()).unwrap_err();
    assert!(error.to_string().len() < 300);
    let error = parse(&lie().tensor_of_rank(&name, 4, &[1], 0, 0).bytes()).unwrap_err();
    assert!(error.to_string().len() < 300, "{}", error.to_string().len());
}
