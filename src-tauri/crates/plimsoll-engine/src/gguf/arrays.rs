//! Array values, decoded element by element from the header's bytes.

use super::metadata::ValueType;

/// Elements of an array of strings, as bytes.
#[derive(Debug, Clone)]
pub struct Strings<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) left: usize,
}

impl<'a> Iterator for Strings<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.left = self.left.checked_sub(1)?;
        let (len, rest) = self.bytes.split_first_chunk::<8>()?;
        let (text, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
        self.bytes = rest;
        Some(text)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Strings<'_> {}

/// Elements of an array of integers, widened.
#[derive(Debug, Clone)]
pub struct Integers<'a> {
    bytes: &'a [u8],
    value_type: ValueType,
}

impl<'a> Integers<'a> {
    pub(super) fn new(bytes: &'a [u8], value_type: ValueType) -> Self {
        Self { bytes, value_type }
    }

    fn split<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.bytes.split_first_chunk::<N>()?;
        self.bytes = rest;
        Some(*head)
    }
}

impl Iterator for Integers<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        match self.value_type {
            ValueType::U8 | ValueType::Bool => self.split().map(|b| u8::from_le_bytes(b).into()),
            ValueType::I8 => self.split().map(|b| i8::from_le_bytes(b).into()),
            ValueType::U16 => self.split().map(|b| u16::from_le_bytes(b).into()),
            ValueType::I16 => self.split().map(|b| i16::from_le_bytes(b).into()),
            ValueType::U32 => self.split().map(|b| u32::from_le_bytes(b).into()),
            ValueType::I32 => self.split().map(|b| i32::from_le_bytes(b).into()),
            ValueType::U64 => self.split().map(|b| i64::try_from(u64::from_le_bytes(b)).unwrap_or(i64::MAX)),
            ValueType::I64 => self.split().map(i64::from_le_bytes),
            ValueType::F32 | ValueType::F64 | ValueType::String | ValueType::Array => None,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let width = self.value_type.width().and_then(|width| usize::try_from(width).ok()).unwrap_or(1);
        let left = self.bytes.len().checked_div(width).unwrap_or(0);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Integers<'_> {}
