//! The table of tensors: names, shapes, element types, and where the data lies.

use std::io::Read;

use plimsoll_plan::Bytes;

use super::MAX_DIMENSIONS;
use super::error::{GgufError, shown};
use super::header::HeaderReader;

/// The shortest row of the table: a name of one byte and one dimension.
pub(super) const MIN_INFO_BYTES: u64 = 8 + 1 + 4 + 8 + 4 + 8;

/// One tensor of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorInfo {
    /// Name, for example `blk.0.attn_q.weight`.
    pub name: Box<str>,
    dims: [u64; 4],
    rank: u8,
    /// Number of the element type in ggml.
    pub ggml_type: u32,
    /// Position of the first byte in the file.
    pub offset: u64,
    /// Bytes of the data.
    pub bytes: u64,
}

impl TensorInfo {
    /// Dimensions, innermost (contiguous) first, as in the file: a matrix of `rows` outputs is `[cols, rows]`.
    pub fn dims(&self) -> &[u64] {
        self.dims.get(..usize::from(self.rank)).unwrap_or(&self.dims)
    }

    /// Count of values.
    pub fn values(&self) -> u64 {
        self.dims().iter().fold(1, |product, dim| product.saturating_mul(*dim))
    }
}

/// How an element type packs its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLayout {
    /// Values in one block.
    pub values: u64,
    /// Bytes of one block.
    pub bytes: u64,
}

/// Block layout of a ggml element type; `None` if the type is unknown.
pub fn block_layout(ggml_type: u32) -> Option<BlockLayout> {
    let (values, bytes) = match ggml_type {
        0 | 26 => (1, 4),      // F32, I32
        1 | 25 | 30 => (1, 2), // F16, I16, BF16
        2 | 20 => (32, 18),    // Q4_0, IQ4_NL
        3 => (32, 20),         // Q4_1
        6 => (32, 22),         // Q5_0
        7 => (32, 24),         // Q5_1
        8 => (32, 34),         // Q8_0
        9 => (32, 36),         // Q8_1
        10 => (256, 84),       // Q2_K
        11 | 21 => (256, 110), // Q3_K, IQ3_S
        12 => (256, 144),      // Q4_K
        13 => (256, 176),      // Q5_K
        14 => (256, 210),      // Q6_K
        15 => (256, 292),      // Q8_K
        16 | 35 => (256, 66),  // IQ2_XXS, TQ2_0
        17 => (256, 74),       // IQ2_XS
        18 => (256, 98),       // IQ3_XXS
        19 => (256, 50),       // IQ1_S
        22 => (256, 82),       // IQ2_S
        23 => (256, 136),      // IQ4_XS
        24 => (1, 1),          // I8
        27 | 28 => (1, 8),     // I64, F64
        29 => (256, 56),       // IQ1_M
        34 => (256, 54),       // TQ1_0
        39 => (32, 17),        // MXFP4
        _ => return None,
    };
    Some(BlockLayout { values, bytes })
}

/// Reads `count` rows of the table. Their `offset` is still relative to the start of tensor data.
pub(super) fn read_infos<R: Read>(header: &mut HeaderReader<R>, count: u64) -> Result<Vec<TensorInfo>, GgufError> {
    let mut infos = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    for index in 0..count {
        infos.push(read_info(header, index)?);
    }
    Ok(infos)
}

fn read_info<R: Read>(header: &mut HeaderReader<R>, index: u64) -> Result<TensorInfo, GgufError> {
    let span = header.string(|| format!("name of tensor {index}"))?;
    let bytes = header.bytes(span);
    let name: Box<str> = match std::str::from_utf8(bytes) {
        Ok(name) if !name.is_empty() => name.into(),
        _ => {
            return Err(GgufError::BadTensorName { index, name: shown(bytes) });
        }
    };
    let of = |field: &str| format!("{field} of tensor {:?}", shown(name.as_bytes()));
    let rank = header.u32(|| of("dimension count"))?;
    if !(1..=MAX_DIMENSIONS).contains(&rank) {
        return Err(GgufError::Dimensions { tensor: shown(name.as_bytes()), dimensions: rank });
    }
    let mut dims = [1_u64; 4];
    for dim in dims.iter_mut().take(rank as usize) {
        *dim = header.u64(|| of("dimensions"))?;
    }
    let ggml_type = header.u32(|| of("type"))?;
    let offset = header.u64(|| of("offset"))?;
    let mut info = TensorInfo { name, dims, rank: u8::try_from(rank).unwrap_or(4), ggml_type, offset, bytes: 0 };
    info.bytes = data_bytes(&info)?;
    Ok(info)
}

fn data_bytes(info: &TensorInfo) -> Result<u64, GgufError> {
    let tensor = || shown(info.name.as_bytes());
    let impossible = || GgufError::Shape { tensor: tensor(), dims: info.dims().to_vec() };
    let values = info.dims().iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim)).ok_or_else(impossible)?;
    if values == 0 {
        return Err(impossible());
    }
    let block = block_layout(info.ggml_type)
        .ok_or_else(|| GgufError::UnknownTensorType { tensor: tensor(), ggml_type: info.ggml_type })?;
    let [row, ..] = info.dims;
    if !row.is_multiple_of(block.values) {
        return Err(GgufError::PartialBlock { tensor: tensor(), row, block: block.values });
    }
    values.checked_div(block.values).and_then(|blocks| blocks.checked_mul(block.bytes)).ok_or_else(impossible)
}

/// The tensors of one file, with positions in the file.
#[derive(Debug)]
pub(super) struct TensorTable {
    infos: Vec<TensorInfo>,
    /// Indices into `infos`, sorted by name.
    by_name: Vec<u32>,
}

impl TensorTable {
    /// Checks names and data ranges; turns offsets into positions in the file.
    pub(super) fn new(
        mut infos: Vec<TensorInfo>,
        data_start: u64,
        alignment: u64,
        file_len: u64,
    ) -> Result<Self, GgufError> {
        for info in &mut infos {
            place(info, data_start, alignment, file_len)?;
        }
        let info = |index: &u32| infos.get(*index as usize);
        let mut by_name: Vec<u32> = (0..).take(infos.len()).collect();
        by_name.sort_unstable_by(|a, b| info(a).map(|info| &info.name).cmp(&info(b).map(|info| &info.name)));
        for (a, b) in by_name.iter().zip(by_name.iter().skip(1)) {
            if let (Some(first), Some(second)) = (info(a), info(b))
                && first.name == second.name
            {
                return Err(GgufError::DuplicateTensor { tensor: shown(first.name.as_bytes()) });
            }
        }
        let mut by_offset = by_name.clone();
        by_offset.sort_unstable_by_key(|index| info(index).map(|info| info.offset));
        for (a, b) in by_offset.iter().zip(by_offset.iter().skip(1)) {
            if let (Some(first), Some(second)) = (info(a), info(b))
                && second.offset < first.offset.saturating_add(first.bytes)
            {
                return Err(GgufError::Overlap {
                    first: shown(first.name.as_bytes()),
                    second: shown(second.name.as_bytes()),
                    offset: second.offset,
                });
            }
        }
        Ok(Self { infos, by_name })
    }

    pub(super) fn all(&self) -> &[TensorInfo] {
        &self.infos
    }

    pub(super) fn get(&self, name: &str) -> Option<&TensorInfo> {
        let info = |index: u32| self.infos.get(index as usize);
        let found = self.by_name.binary_search_by(|index| info(*index).map(|info| &*info.name).cmp(&Some(name)));
        found.ok().and_then(|at| self.by_name.get(at)).and_then(|index| info(*index))
    }

    pub(super) fn memory(&self) -> Bytes {
        let names: usize = self.infos.iter().map(|info| info.name.len()).sum();
        let rows = self.infos.capacity().saturating_mul(size_of::<TensorInfo>());
        let index = self.by_name.capacity().saturating_mul(size_of::<u32>());
        Bytes(names.saturating_add(rows).saturating_add(index) as u64)
    }
}

fn place(info: &mut TensorInfo, data_start: u64, alignment: u64, file_len: u64) -> Result<(), GgufError> {
    let tensor = || shown(info.name.as_bytes());
    if !info.offset.is_multiple_of(alignment) {
        return Err(GgufError::TensorAlignment { tensor: tensor(), offset: info.offset, alignment });
    }
    let start = data_start.checked_add(info.offset);
    let end = start.and_then(|start| start.checked_add(info.bytes));
    match (start, end) {
        (Some(start), Some(end)) if end <= file_len => {
            info.offset = start;
            Ok(())
        }
        (start, _) => Err(GgufError::TensorOutsideFile {
            tensor: tensor(),
            offset: start.unwrap_or(u64::MAX),
            bytes: info.bytes,
            file_len,
        }),
    }
}
