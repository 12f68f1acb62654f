//! Bounded reader (and writer) of GGUF files, versions 2 and 3, little-endian.
//!
//! A model file comes from a stranger. Every count, length, offset and product is checked against the length that the
//! file really has before it sizes an allocation or a read. Only the header is read: metadata values stay where they
//! are in one buffer and are decoded on access, so the reader holds at most a small multiple of the header in memory.
//!
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>.

mod arrays;
mod error;
mod header;
mod metadata;
mod tensors;
pub mod write;

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "tests"
)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use plimsoll_plan::Bytes;

use header::HeaderReader;
use metadata::Metadata;
use tensors::TensorTable;

pub use arrays::{Integers, Strings};
pub use error::GgufError;
pub use metadata::ValueType;
pub use tensors::{BlockLayout, TensorInfo, block_layout};

/// Alignment of tensor data when the file names none.
pub const DEFAULT_ALIGNMENT: u64 = 32;
/// Largest alignment that is accepted.
pub const MAX_ALIGNMENT: u64 = 1 << 20;
/// Largest header that is read; the largest published one is below 32 MiB.
pub const MAX_HEADER_BYTES: u64 = 256 << 20;
/// Most metadata pairs and most tensors in one file.
pub const MAX_ENTRIES: u64 = 65_536;
/// Most dimensions of one tensor.
pub const MAX_DIMENSIONS: u32 = 4;
/// Deepest nesting of array values.
pub const MAX_ARRAY_DEPTH: u32 = 4;

/// The header of a GGUF file: metadata and the table of tensors. Holds no tensor data.
#[derive(Debug)]
pub struct GgufFile {
    version: u32,
    alignment: u64,
    file_len: u64,
    data_start: u64,
    metadata: Metadata,
    tensors: TensorTable,
}

impl GgufFile {
    /// Opens a file and reads its header.
    pub fn open(path: &Path) -> Result<Self, GgufError> {
        let file = File::open(path)?;
        let file_len = file.metadata()?.len();
        Self::parse(file, file_len)
    }

    /// Reads a header from the start of `source`, which holds `file_len` bytes in all.
    pub fn parse(source: impl Read, file_len: u64) -> Result<Self, GgufError> {
        let mut header = HeaderReader::new(source, file_len);
        let (version, tensor_count, entry_count) = read_preamble(&mut header)?;
        let entries = metadata::read_entries(&mut header, entry_count)?;
        let pending = tensors::read_infos(&mut header, tensor_count)?;
        let (bytes, header_len) = header.into_bytes();
        let metadata = Metadata::new(bytes, entries)?;
        let alignment = read_alignment(&metadata)?;
        let data_start = header_len.checked_next_multiple_of(alignment).ok_or(GgufError::Alignment { alignment })?;
        let tensors = TensorTable::new(pending, data_start, alignment, file_len)?;
        Ok(Self { version, alignment, file_len, data_start, metadata, tensors })
    }

    /// Version of the container format: 2 or 3.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Alignment of tensor data in bytes, a power of two.
    pub fn alignment(&self) -> u64 {
        self.alignment
    }

    /// Length of the whole file in bytes, as it was when the header was read.
    pub fn file_len(&self) -> Bytes {
        Bytes(self.file_len)
    }

    /// Position in the file where tensor data starts.
    pub fn data_start(&self) -> u64 {
        self.data_start
    }

    /// Value of `general.architecture`.
    pub fn architecture(&self) -> Result<&str, GgufError> {
        self.required_string("general.architecture")
    }

    /// Keys of the metadata, in byte order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.metadata.keys()
    }

    /// Type of the value of `key`; `None` if there is no such key.
    pub fn value_type(&self, key: &str) -> Option<ValueType> {
        self.metadata.value_type(key)
    }

    /// Text value; `Ok(None)` if there is no such key.
    pub fn string(&self, key: &str) -> Result<Option<&str>, GgufError> {
        self.metadata.string(key)
    }

    /// Text value that must exist.
    pub fn required_string(&self, key: &str) -> Result<&str, GgufError> {
        required(key, self.string(key)?)
    }

    /// Value of any integer type that fits 32 bits without a sign; `Ok(None)` if there is no such key.
    pub fn u32(&self, key: &str) -> Result<Option<u32>, GgufError> {
        self.metadata.u32(key)
    }

    /// Integer value that must exist.
    pub fn required_u32(&self, key: &str) -> Result<u32, GgufError> {
        required(key, self.u32(key)?)
    }

    /// Value of type f32 or f64, as f32; `Ok(None)` if there is no such key.
    pub fn f32(&self, key: &str) -> Result<Option<f32>, GgufError> {
        self.metadata.f32(key)
    }

    /// Float value that must exist.
    pub fn required_f32(&self, key: &str) -> Result<f32, GgufError> {
        required(key, self.f32(key)?)
    }

    /// Boolean value; `Ok(None)` if there is no such key.
    pub fn bool(&self, key: &str) -> Result<Option<bool>, GgufError> {
        self.metadata.bool(key)
    }

    /// Array of strings, each as its bytes (the format says UTF-8, files do not always keep to it).
    pub fn array_strings(&self, key: &str) -> Result<Option<Strings<'_>>, GgufError> {
        self.metadata.array_strings(key)
    }

    /// Array of f32.
    pub fn array_f32(&self, key: &str) -> Result<Option<impl ExactSizeIterator<Item = f32>>, GgufError> {
        self.metadata.array_f32(key)
    }

    /// Array of any integer type or of bool (0 or 1); unsigned 64-bit values above `i64::MAX` read as `i64::MAX`.
    pub fn array_integers(&self, key: &str) -> Result<Option<Integers<'_>>, GgufError> {
        self.metadata.array_integers(key)
    }

    /// Array of any integer type whose elements must all fit 32 bits without a sign.
    pub fn array_u32(&self, key: &str) -> Result<Option<Vec<u32>>, GgufError> {
        let Some(values) = self.array_integers(key)? else {
            return Ok(None);
        };
        let out_of_range = |value| GgufError::OutOfRange { key: error::shown(key.as_bytes()), value };
        values.map(|value| u32::try_from(value).map_err(|_| out_of_range(value))).collect::<Result<_, _>>().map(Some)
    }

    /// Tensors in the order of the file's table.
    pub fn tensors(&self) -> &[TensorInfo] {
        self.tensors.all()
    }

    /// The tensor of that name.
    pub fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.get(name)
    }

    /// Bytes that this header holds in memory.
    pub fn memory(&self) -> Bytes {
        self.metadata.memory().plus(self.tensors.memory())
    }
}

fn required<T>(key: &str, value: Option<T>) -> Result<T, GgufError> {
    value.ok_or_else(|| GgufError::MissingKey { key: error::shown(key.as_bytes()) })
}

/// Magic, version and the two counts.
fn read_preamble<R: Read>(header: &mut HeaderReader<R>) -> Result<(u32, u64, u64), GgufError> {
    let magic = header.array::<4>(|| "magic".into())?;
    if &magic != b"GGUF" {
        return Err(GgufError::NotGguf { magic });
    }
    let version = header.u32(|| "version".into())?;
    if version.swap_bytes() <= 0xffff && version > 0xffff {
        return Err(GgufError::BigEndian { version: version.swap_bytes() });
    }
    if !(2..=3).contains(&version) {
        return Err(GgufError::UnsupportedVersion { version });
    }
    let tensors = header.count(|| "tensor count".into(), tensors::MIN_INFO_BYTES, MAX_ENTRIES)?;
    let entries = header.count(|| "metadata count".into(), metadata::MIN_ENTRY_BYTES, MAX_ENTRIES)?;
    Ok((version, tensors, entries))
}

fn read_alignment(metadata: &Metadata) -> Result<u64, GgufError> {
    let alignment = metadata.u32("general.alignment")?.map_or(DEFAULT_ALIGNMENT, u64::from);
    if alignment.is_power_of_two() && alignment <= MAX_ALIGNMENT {
        Ok(alignment)
    } else {
        Err(GgufError::Alignment { alignment })
    }
}
