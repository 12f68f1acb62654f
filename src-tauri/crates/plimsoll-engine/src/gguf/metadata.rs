//! Metadata: keys and the ranges of their values, decoded on access.

use std::io::Read;

use plimsoll_plan::Bytes;

use super::MAX_ARRAY_DEPTH;
use super::arrays::{Integers, Strings};
use super::error::{GgufError, shown};
use super::header::{HeaderReader, Span};

/// The shortest pair: a key of one byte and a value of one byte.
pub(super) const MIN_ENTRY_BYTES: u64 = 8 + 1 + 4 + 1;

/// Type of a metadata value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the format")]
pub enum ValueType {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    String,
    Array,
    U64,
    I64,
    F64,
}

impl ValueType {
    fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::U8,
            1 => Self::I8,
            2 => Self::U16,
            3 => Self::I16,
            4 => Self::U32,
            5 => Self::I32,
            6 => Self::F32,
            7 => Self::Bool,
            8 => Self::String,
            9 => Self::Array,
            10 => Self::U64,
            11 => Self::I64,
            12 => Self::F64,
            _ => return None,
        })
    }

    /// Number of this type in a file.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::U8 => 0,
            Self::I8 => 1,
            Self::U16 => 2,
            Self::I16 => 3,
            Self::U32 => 4,
            Self::I32 => 5,
            Self::F32 => 6,
            Self::Bool => 7,
            Self::String => 8,
            Self::Array => 9,
            Self::U64 => 10,
            Self::I64 => 11,
            Self::F64 => 12,
        }
    }

    /// Bytes of one value; `None` for strings and arrays.
    pub(super) fn width(self) -> Option<u64> {
        match self {
            Self::U8 | Self::I8 | Self::Bool => Some(1),
            Self::U16 | Self::I16 => Some(2),
            Self::U32 | Self::I32 | Self::F32 => Some(4),
            Self::U64 | Self::I64 | Self::F64 => Some(8),
            Self::String | Self::Array => None,
        }
    }
}

/// One pair: the key, and where its value lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    key: Span,
    value_type: ValueType,
    /// Type of the elements if the value is an array.
    element: Option<ValueType>,
    /// Elements of an array, 1 otherwise.
    count: u32,
    /// A string's bytes without its length; an array's elements without type and count.
    value: Span,
}

/// Reads `count` pairs.
pub(super) fn read_entries<R: Read>(header: &mut HeaderReader<R>, count: u64) -> Result<Vec<Entry>, GgufError> {
    let mut entries = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    for index in 0..count {
        let key = header.string(|| format!("metadata key {index}"))?;
        let bytes = header.bytes(key);
        if bytes.is_empty() || std::str::from_utf8(bytes).is_err() {
            return Err(GgufError::BadKey { index, key: shown(bytes) });
        }
        entries.push(read_value(header, key)?);
    }
    Ok(entries)
}

fn read_value<R: Read>(header: &mut HeaderReader<R>, key: Span) -> Result<Entry, GgufError> {
    let name = shown(header.bytes(key));
    let value_type = read_type(header, &name)?;
    let field = || format!("value of {name:?}");
    if value_type == ValueType::Array {
        let (element, count, value) = read_array(header, &name, 1)?;
        return Ok(Entry { key, value_type, element: Some(element), count, value });
    }
    let value = match value_type.width() {
        Some(width) => header.skip(width, field)?,
        None => header.string(field)?,
    };
    if value_type == ValueType::Bool {
        check_booleans(header.bytes(value), &name)?;
    }
    Ok(Entry { key, value_type, element: None, count: 1, value })
}

fn read_type<R: Read>(header: &mut HeaderReader<R>, name: &str) -> Result<ValueType, GgufError> {
    let number = header.u32(|| format!("value type of {name:?}"))?;
    let unknown = || GgufError::UnknownValueType { key: name.to_owned(), value_type: number };
    ValueType::from_number(number).ok_or_else(unknown)
}

fn read_array<R: Read>(
    header: &mut HeaderReader<R>,
    name: &str,
    depth: u32,
) -> Result<(ValueType, u32, Span), GgufError> {
    if depth > MAX_ARRAY_DEPTH {
        return Err(GgufError::NestedTooDeep { key: name.to_owned() });
    }
    let element = read_type(header, name)?;
    let counted = || format!("element count of {name:?}");
    let field = || format!("elements of {name:?}");
    // The shortest element: a number, an empty string, or an empty array.
    let smallest = element.width().unwrap_or(if element == ValueType::String { 8 } else { 4 + 8 });
    let count = header.count(counted, smallest, u64::from(u32::MAX))?;
    let short_count = u32::try_from(count).unwrap_or(u32::MAX);
    if let Some(width) = element.width() {
        // Cannot overflow: `count` checked `count * width` against the file's length.
        let span = header.skip(count.saturating_mul(width), field)?;
        if element == ValueType::Bool {
            check_booleans(header.bytes(span), name)?;
        }
        return Ok((element, short_count, span));
    }
    let start = header.skip(0, field)?;
    for _ in 0..count {
        if element == ValueType::String {
            header.string(field)?;
        } else {
            read_array(header, name, depth.saturating_add(1))?;
        }
    }
    Ok((element, short_count, header.since(start)))
}

fn check_booleans(bytes: &[u8], name: &str) -> Result<(), GgufError> {
    match bytes.iter().find(|byte| **byte > 1) {
        Some(value) => Err(GgufError::BadBool { key: name.to_owned(), value: *value }),
        None => Ok(()),
    }
}

/// The metadata of one file: the header's bytes and the pairs, sorted by key.
#[derive(Debug)]
pub(super) struct Metadata {
    header: Vec<u8>,
    entries: Vec<Entry>,
}

impl Metadata {
    pub(super) fn new(header: Vec<u8>, mut entries: Vec<Entry>) -> Result<Self, GgufError> {
        entries.sort_unstable_by(|a, b| a.key.of(&header).cmp(b.key.of(&header)));
        let twice = entries.iter().zip(entries.iter().skip(1)).find(|(a, b)| a.key.of(&header) == b.key.of(&header));
        if let Some((entry, _)) = twice {
            return Err(GgufError::DuplicateKey { key: shown(entry.key.of(&header)) });
        }
        Ok(Self { header, entries })
    }

    pub(super) fn memory(&self) -> Bytes {
        let entries = self.entries.capacity().saturating_mul(size_of::<Entry>());
        Bytes(self.header.capacity().saturating_add(entries) as u64)
    }

    pub(super) fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.iter().map(|entry| std::str::from_utf8(entry.key.of(&self.header)).unwrap_or_default())
    }

    pub(super) fn value_type(&self, key: &str) -> Option<ValueType> {
        self.entry(key).map(|entry| entry.value_type)
    }

    fn entry(&self, key: &str) -> Option<&Entry> {
        let found = self.entries.binary_search_by(|entry| entry.key.of(&self.header).cmp(key.as_bytes()));
        found.ok().and_then(|index| self.entries.get(index))
    }

    pub(super) fn string(&self, key: &str) -> Result<Option<&str>, GgufError> {
        let Some(entry) = self.entry(key) else {
            return Ok(None);
        };
        if entry.value_type != ValueType::String {
            return Err(wrong_type(key, entry, "a string"));
        }
        match std::str::from_utf8(entry.value.of(&self.header)) {
            Ok(text) => Ok(Some(text)),
            Err(e) => Err(GgufError::NotUtf8 { key: shown(key.as_bytes()), valid_up_to: e.valid_up_to() }),
        }
    }

    pub(super) fn u32(&self, key: &str) -> Result<Option<u32>, GgufError> {
        let Some(entry) = self.entry(key) else {
            return Ok(None);
        };
        let value = match (entry.value_type, entry.value_type.width()) {
            (ValueType::Bool | ValueType::F32 | ValueType::F64, _) | (_, None) => None,
            (value_type, Some(_)) => Integers::new(entry.value.of(&self.header), value_type).next(),
        };
        let value = value.ok_or_else(|| wrong_type(key, entry, "an integer"))?;
        match u32::try_from(value) {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(GgufError::OutOfRange { key: shown(key.as_bytes()), value }),
        }
    }

    pub(super) fn f32(&self, key: &str) -> Result<Option<f32>, GgufError> {
        let Some(entry) = self.entry(key) else {
            return Ok(None);
        };
        let bytes = entry.value.of(&self.header);
        let value = match entry.value_type {
            ValueType::F32 => bytes.first_chunk().map(|bytes| f32::from_le_bytes(*bytes)),
            ValueType::F64 => bytes.first_chunk().map(|bytes| narrow(f64::from_le_bytes(*bytes))),
            _ => None,
        };
        value.map(Some).ok_or_else(|| wrong_type(key, entry, "a float"))
    }

    pub(super) fn bool(&self, key: &str) -> Result<Option<bool>, GgufError> {
        let Some(entry) = self.entry(key) else {
            return Ok(None);
        };
        match (entry.value_type, entry.value.of(&self.header)) {
            (ValueType::Bool, [byte]) => Ok(Some(*byte != 0)),
            _ => Err(wrong_type(key, entry, "a boolean")),
        }
    }

    pub(super) fn array_strings(&self, key: &str) -> Result<Option<Strings<'_>>, GgufError> {
        let Some(entry) = self.entry(key) else {
            return Ok(None);
        };
        if entry.element != Some(ValueType::String) {
            return Err(wrong_type(key, entry, "an array of strings"));
        }
        Ok(Some(Strings { bytes: entry.value.of(&self.header), left: entry.count as usize }))
    }

    pub(super) fn array_f32(&self, key: &str) -> Result<Option<impl ExactSizeIterator<Item = f32>>, GgufError> {
        let Some(entry) = self.entry(key) else {
            return Ok(None);
        };
        if entry.element != Some(ValueType::F32) {
            return Err(wrong_type(key, entry, "an array of f32"));
        }
        let (values, _) = entry.value.of(&self.header).as_chunks::<4>();
        Ok(Some(values.iter().map(|bytes| f32::from_le_bytes(*bytes))))
    }

    pub(super) fn array_integers(&self, key: &str) -> Result<Option<Integers<'_>>, GgufError> {
        let Some(entry) = self.entry(key) else {
            return Ok(None);
        };
        match entry.element {
            Some(
                element @ (ValueType::U8
                | ValueType::I8
                | ValueType::U16
                | ValueType::I16
                | ValueType::U32
                | ValueType::I32
                | ValueType::U64
                | ValueType::I64
                | ValueType::Bool),
            ) => Ok(Some(Integers::new(entry.value.of(&self.header), element))),
            _ => Err(wrong_type(key, entry, "an array of integers")),
        }
    }
}

fn wrong_type(key: &str, entry: &Entry, wanted: &'static str) -> GgufError {
    GgufError::WrongType { key: shown(key.as_bytes()), found: entry.element.unwrap_or(entry.value_type), wanted }
}

#[expect(clippy::cast_possible_truncation, reason = "model constants: f64 in a file means the same f32")]
fn narrow(value: f64) -> f32 {
    value as f32
}
