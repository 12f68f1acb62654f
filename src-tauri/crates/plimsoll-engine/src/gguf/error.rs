//! Why a GGUF file is refused.

use super::metadata::ValueType;
use super::{MAX_ALIGNMENT, MAX_ARRAY_DEPTH, MAX_DIMENSIONS, MAX_HEADER_BYTES};

/// Why a GGUF file is refused, or why a value cannot be had from it. Names the field and the numbers.
#[derive(Debug, thiserror::Error)]
pub enum GgufError {
    /// The file cannot be read.
    #[error("cannot read the file: {0}")]
    Io(#[from] std::io::Error),
    /// The file does not start with `GGUF`.
    #[error("not a GGUF file: it starts with the bytes {magic:02x?}")]
    NotGguf {
        /// The first four bytes.
        magic: [u8; 4],
    },
    /// The file is written for big-endian machines.
    #[error("big-endian GGUF version {version}; only little-endian files are read")]
    BigEndian {
        /// Version after swapping its bytes.
        version: u32,
    },
    /// The container version is not 2 or 3.
    #[error("GGUF version {version}; versions 2 and 3 are read")]
    UnsupportedVersion {
        /// Version in the file.
        version: u32,
    },
    /// The file ends inside a field.
    #[error("{field} needs {needed} bytes, the file has {have} left")]
    Truncated {
        /// What was being read.
        field: String,
        /// Bytes that the field needs.
        needed: u64,
        /// Bytes that the file has left.
        have: u64,
    },
    /// A count cannot be true for a file of this length, or is above the reader's limit.
    #[error("{field} is {count}; at most {limit} are possible here")]
    Count {
        /// What is counted.
        field: String,
        /// The count in the file.
        count: u64,
        /// The most that the file's length or the reader allows.
        limit: u64,
    },
    /// The header is larger than the reader accepts.
    #[error("the header has at least {needed} bytes; at most {MAX_HEADER_BYTES} are read")]
    HeaderTooLarge {
        /// Bytes needed so far.
        needed: u64,
    },
    /// A key is empty or not UTF-8.
    #[error("metadata key {index} is empty or not UTF-8: {key:?}")]
    BadKey {
        /// Position in the metadata.
        index: u64,
        /// The key as far as it can be shown.
        key: String,
    },
    /// A key occurs twice.
    #[error("metadata key {key:?} occurs twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A value's type number is not one of the format's.
    #[error("{key:?} has value type {value_type}, which the format does not know")]
    UnknownValueType {
        /// Key of the value.
        key: String,
        /// Type number in the file.
        value_type: u32,
    },
    /// A boolean is neither 0 nor 1.
    #[error("{key:?} holds {value} as a boolean")]
    BadBool {
        /// Key of the value.
        key: String,
        /// Byte in the file.
        value: u8,
    },
    /// Arrays in arrays in arrays.
    #[error("{key:?} nests arrays deeper than {MAX_ARRAY_DEPTH}")]
    NestedTooDeep {
        /// Key of the value.
        key: String,
    },
    /// `general.alignment` is not a power of two, or too large.
    #[error("alignment {alignment} is not a power of two up to {MAX_ALIGNMENT}")]
    Alignment {
        /// Alignment in the file.
        alignment: u64,
    },
    /// A tensor's name is empty or not UTF-8.
    #[error("name of tensor {index} is empty or not UTF-8: {name:?}")]
    BadTensorName {
        /// Position in the table.
        index: u64,
        /// The name as far as it can be shown.
        name: String,
    },
    /// A tensor's name occurs twice.
    #[error("tensor {tensor:?} occurs twice")]
    DuplicateTensor {
        /// Name of the tensor.
        tensor: String,
    },
    /// A tensor has no dimension, or too many.
    #[error("tensor {tensor:?} has {dimensions} dimensions; 1 to {MAX_DIMENSIONS} are possible")]
    Dimensions {
        /// Name of the tensor.
        tensor: String,
        /// Count in the file.
        dimensions: u32,
    },
    /// A dimension is zero, or the product of the dimensions overflows.
    #[error("tensor {tensor:?} has the impossible shape {dims:?}")]
    Shape {
        /// Name of the tensor.
        tensor: String,
        /// Dimensions in the file, innermost first.
        dims: Vec<u64>,
    },
    /// The element type is not one that this reader knows the size of.
    #[error("tensor {tensor:?} has the unknown type {ggml_type}")]
    UnknownTensorType {
        /// Name of the tensor.
        tensor: String,
        /// Type number in the file.
        ggml_type: u32,
    },
    /// Rows do not hold a whole number of the type's blocks.
    #[error("tensor {tensor:?} has rows of {row} values, not a multiple of its block of {block}")]
    PartialBlock {
        /// Name of the tensor.
        tensor: String,
        /// Values in one row.
        row: u64,
        /// Values in one block.
        block: u64,
    },
    /// A tensor does not start at a multiple of the alignment.
    #[error("tensor {tensor:?} starts at {offset}, not a multiple of {alignment}")]
    TensorAlignment {
        /// Name of the tensor.
        tensor: String,
        /// Offset from the start of tensor data.
        offset: u64,
        /// Alignment of the file.
        alignment: u64,
    },
    /// A tensor's data lies outside the file.
    #[error("tensor {tensor:?} needs {bytes} bytes at {offset}; the file has {file_len} bytes")]
    TensorOutsideFile {
        /// Name of the tensor.
        tensor: String,
        /// Position in the file; saturates at `u64::MAX`.
        offset: u64,
        /// Bytes of the tensor.
        bytes: u64,
        /// Length of the file.
        file_len: u64,
    },
    /// Two tensors share bytes.
    #[error("tensors {first:?} and {second:?} overlap at {offset}")]
    Overlap {
        /// Tensor that starts first.
        first: String,
        /// Tensor that starts inside it.
        second: String,
        /// Position in the file where the second starts.
        offset: u64,
    },
    /// A key that is needed is not there.
    #[error("metadata key {key:?} is missing")]
    MissingKey {
        /// The key.
        key: String,
    },
    /// A value has another type than its key calls for.
    #[error("{key:?} is of type {found:?}; {wanted} is needed")]
    WrongType {
        /// Key of the value.
        key: String,
        /// Type in the file.
        found: ValueType,
        /// What is needed.
        wanted: &'static str,
    },
    /// An integer does not fit.
    #[error("{key:?} is {value}, which does not fit 32 bits without a sign")]
    OutOfRange {
        /// Key of the value.
        key: String,
        /// Value in the file.
        value: i64,
    },
    /// Text that is not UTF-8.
    #[error("{key:?} is not UTF-8 after {valid_up_to} bytes")]
    NotUtf8 {
        /// Key of the value.
        key: String,
        /// Bytes that are valid.
        valid_up_to: usize,
    },
}

/// A name from the file as an error may show it: text, and short.
pub(super) fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 96;
    let head = bytes.get(..MOST).unwrap_or(bytes);
    let mut text = String::from_utf8_lossy(head).into_owned();
    if head.len() < bytes.len() {
        text.push('…');
    }
    text
}
