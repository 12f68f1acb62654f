//! Writes GGUF files, version 3. Tensor data is streamed: one tensor is asked for at a time.

use std::io::{self, Write};

use super::metadata::ValueType;
use super::{DEFAULT_ALIGNMENT, block_layout};

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output fails.
    #[error("cannot write the file: {0}")]
    Io(#[from] io::Error),
    /// A tensor's shape does not fit its type: unknown type, rows that are not whole blocks, or an overflow.
    #[error("tensor {tensor:?} of type {ggml_type} cannot have the shape {dims:?}")]
    Shape {
        /// Name of the tensor.
        tensor: String,
        /// Number of the element type in ggml.
        ggml_type: u32,
        /// Dimensions, innermost first.
        dims: Vec<u64>,
    },
    /// The data that was given for a tensor has another length than its shape and type need.
    #[error("tensor {tensor:?} needs {needed} bytes of data, {given} were given")]
    DataLength {
        /// Name of the tensor.
        tensor: String,
        /// Bytes that shape and type need.
        needed: u64,
        /// Bytes that were given.
        given: u64,
    },
}

#[derive(Debug)]
struct PlannedTensor {
    name: String,
    dims: Vec<u64>,
    ggml_type: u32,
    offset: u64,
    bytes: u64,
}

/// Collects metadata and the table of tensors, then writes header and data. Keys and tensors keep their order.
#[derive(Debug, Default)]
pub struct GgufWriter {
    entries: u64,
    metadata: Vec<u8>,
    tensors: Vec<PlannedTensor>,
    data_len: u64,
}

impl GgufWriter {
    /// An empty file.
    pub fn new() -> Self {
        Self::default()
    }

    fn entry(&mut self, key: &str, value_type: ValueType) -> &mut Vec<u8> {
        self.entries = self.entries.saturating_add(1);
        put_string(&mut self.metadata, key.as_bytes());
        self.metadata.extend(value_type.number().to_le_bytes());
        &mut self.metadata
    }

    fn array(&mut self, key: &str, element: ValueType, count: usize) -> &mut Vec<u8> {
        let metadata = self.entry(key, ValueType::Array);
        metadata.extend(element.number().to_le_bytes());
        metadata.extend((count as u64).to_le_bytes());
        metadata
    }

    /// Adds a text value.
    pub fn string(&mut self, key: &str, value: &str) -> &mut Self {
        put_string(self.entry(key, ValueType::String), value.as_bytes());
        self
    }

    /// Adds an unsigned 32-bit value.
    pub fn u32(&mut self, key: &str, value: u32) -> &mut Self {
        self.entry(key, ValueType::U32).extend(value.to_le_bytes());
        self
    }

    /// Adds an unsigned 64-bit value.
    pub fn u64(&mut self, key: &str, value: u64) -> &mut Self {
        self.entry(key, ValueType::U64).extend(value.to_le_bytes());
        self
    }

    /// Adds a float.
    pub fn f32(&mut self, key: &str, value: f32) -> &mut Self {
        self.entry(key, ValueType::F32).extend(value.to_le_bytes());
        self
    }

    /// Adds a boolean.
    pub fn bool(&mut self, key: &str, value: bool) -> &mut Self {
        self.entry(key, ValueType::Bool).push(u8::from(value));
        self
    }

    /// Adds an array of strings.
    pub fn array_strings<S: AsRef<[u8]>>(
        &mut self,
        key: &str,
        values: impl IntoIterator<Item = S, IntoIter: ExactSizeIterator>,
    ) -> &mut Self {
        let values = values.into_iter();
        let metadata = self.array(key, ValueType::String, values.len());
        for value in values {
            put_string(metadata, value.as_ref());
        }
        self
    }

    /// Adds an array of floats.
    pub fn array_f32(&mut self, key: &str, values: &[f32]) -> &mut Self {
        self.array(key, ValueType::F32, values.len()).extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self
    }

    /// Adds an array of signed 32-bit values.
    pub fn array_i32(&mut self, key: &str, values: &[i32]) -> &mut Self {
        self.array(key, ValueType::I32, values.len()).extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self
    }

    /// Adds an array of unsigned 32-bit values.
    pub fn array_u32(&mut self, key: &str, values: &[u32]) -> &mut Self {
        self.array(key, ValueType::U32, values.len()).extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self
    }

    /// Adds an array of booleans.
    pub fn array_bool(&mut self, key: &str, values: &[bool]) -> &mut Self {
        self.array(key, ValueType::Bool, values.len()).extend(values.iter().map(|value| u8::from(*value)));
        self
    }

    /// Adds a tensor; its data is asked for in [`GgufWriter::write`]. `dims` has the contiguous dimension first.
    pub fn tensor(&mut self, name: &str, dims: &[u64], ggml_type: u32) -> Result<&mut Self, WriteError> {
        let impossible = || WriteError::Shape { tensor: name.to_owned(), ggml_type, dims: dims.to_vec() };
        let block = block_layout(ggml_type).ok_or_else(impossible)?;
        let row = dims.first().copied().unwrap_or(0);
        let values = dims.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim)).unwrap_or(0);
        if dims.is_empty() || dims.len() > 4 || values == 0 || !row.is_multiple_of(block.values) {
            return Err(impossible());
        }
        let bytes = values.checked_div(block.values).and_then(|blocks| blocks.checked_mul(block.bytes));
        let bytes = bytes.ok_or_else(impossible)?;
        let offset = self.data_len;
        self.data_len = offset
            .checked_add(bytes)
            .and_then(|end| end.checked_next_multiple_of(DEFAULT_ALIGNMENT))
            .ok_or_else(impossible)?;
        self.tensors.push(PlannedTensor { name: name.to_owned(), dims: dims.to_vec(), ggml_type, offset, bytes });
        Ok(self)
    }

    /// Writes the file. `data` is called once for each tensor, in order, with its name and the place to put its bytes.
    pub fn write<W: Write>(
        &self,
        out: W,
        mut data: impl FnMut(&str, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), WriteError> {
        let mut out = Counted { out, written: 0 };
        out.write_all(&self.header())?;
        out.pad()?;
        for tensor in &self.tensors {
            let before = out.written;
            data(&tensor.name, &mut out)?;
            let given = out.written.saturating_sub(before);
            if given != tensor.bytes {
                return Err(WriteError::DataLength { tensor: tensor.name.clone(), needed: tensor.bytes, given });
            }
            out.pad()?;
        }
        out.out.flush()?;
        Ok(())
    }

    fn header(&self) -> Vec<u8> {
        let mut header = Vec::with_capacity(self.metadata.len().saturating_add(64));
        header.extend(b"GGUF");
        header.extend(3_u32.to_le_bytes());
        header.extend((self.tensors.len() as u64).to_le_bytes());
        header.extend(self.entries.to_le_bytes());
        header.extend(&self.metadata);
        for tensor in &self.tensors {
            put_string(&mut header, tensor.name.as_bytes());
            // At most 4, checked in `tensor`.
            header.extend(u32::try_from(tensor.dims.len()).unwrap_or(4).to_le_bytes());
            header.extend(tensor.dims.iter().flat_map(|dim| dim.to_le_bytes()));
            header.extend(tensor.ggml_type.to_le_bytes());
            header.extend(tensor.offset.to_le_bytes());
        }
        header
    }
}

fn put_string(out: &mut Vec<u8>, text: &[u8]) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text);
}

/// Counts what passes through, to pad to the alignment.
struct Counted<W> {
    out: W,
    written: u64,
}

impl<W: Write> Counted<W> {
    fn pad(&mut self) -> io::Result<()> {
        let end = self.written.next_multiple_of(DEFAULT_ALIGNMENT);
        io::copy(&mut io::Read::take(io::repeat(0), end.saturating_sub(self.written)), self)?;
        Ok(())
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.written = self.written.saturating_add(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
