//! Storage types of weights, as GGUF defines them, and their sizes in the file and in memory.

use crate::layout::panel::PanelLayout;

/// Rows in one panel of the packed layout.
pub const PANEL_ROWS: usize = 8;

/// Columns in one group: what shares a scale in every packed type and in the activations.
pub const GROUP: usize = 32;

/// How a tensor's values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WeightType {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// The upper half of a single-precision float.
    Bf16,
    /// 4-bit, one scale per 32.
    Q4_0,
    /// 4-bit, one scale and minimum per 32.
    Q4_1,
    /// 5-bit, one scale per 32.
    Q5_0,
    /// 5-bit, one scale and minimum per 32.
    Q5_1,
    /// 8-bit, one scale per 32.
    Q8_0,
    /// 4-bit, 6-bit scales and minima per 32 inside blocks of 256.
    Q4K,
    /// 5-bit, 6-bit scales and minima per 32 inside blocks of 256.
    Q5K,
    /// 6-bit, 8-bit scales per 16 inside blocks of 256.
    Q6K,
}

impl WeightType {
    /// Every type, in the order of the enum.
    pub const ALL: [Self; 11] = [
        Self::F32,
        Self::F16,
        Self::Bf16,
        Self::Q4_0,
        Self::Q4_1,
        Self::Q5_0,
        Self::Q5_1,
        Self::Q8_0,
        Self::Q4K,
        Self::Q5K,
        Self::Q6K,
    ];

    /// The type with this number in a GGUF file; `None` where no packed layout exists.
    pub const fn from_ggml(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::F32,
            1 => Self::F16,
            2 => Self::Q4_0,
            3 => Self::Q4_1,
            6 => Self::Q5_0,
            7 => Self::Q5_1,
            8 => Self::Q8_0,
            12 => Self::Q4K,
            13 => Self::Q5K,
            14 => Self::Q6K,
            30 => Self::Bf16,
            _ => return None,
        })
    }

    /// Name as GGML writes it.
    pub const fn ggml_name(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Bf16 => "BF16",
            Self::Q4_0 => "Q4_0",
            Self::Q4_1 => "Q4_1",
            Self::Q5_0 => "Q5_0",
            Self::Q5_1 => "Q5_1",
            Self::Q8_0 => "Q8_0",
            Self::Q4K => "Q4_K",
            Self::Q5K => "Q5_K",
            Self::Q6K => "Q6_K",
        }
    }

    /// Elements in one block of the file.
    pub const fn block_elements(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::Bf16 => 1,
            Self::Q4_0 | Self::Q4_1 | Self::Q5_0 | Self::Q5_1 | Self::Q8_0 => 32,
            Self::Q4K | Self::Q5K | Self::Q6K => 256,
        }
    }

    /// Bytes of one block in the file.
    pub const fn block_bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::Q4_0 => 18,
            Self::Q4_1 => 20,
            Self::Q5_0 => 22,
            Self::Q5_1 => 24,
            Self::Q8_0 => 34,
            Self::Q4K => 144,
            Self::Q5K => 176,
            Self::Q6K => 210,
        }
    }

    /// Bytes of one row of `cols` elements in the file; `None` when `cols` is not whole blocks, or on overflow.
    pub const fn source_row_bytes(self, cols: usize) -> Option<usize> {
        if !cols.is_multiple_of(self.block_elements()) {
            return None;
        }
        (cols / self.block_elements()).checked_mul(self.block_bytes())
    }

    /// Bytes of `rows` x `cols` in the packed layout; `None` when `cols` is not whole blocks, or on overflow.
    pub const fn packed_bytes(self, rows: usize, cols: usize) -> Option<usize> {
        match panel_bytes(self, cols) {
            Some(panel) => rows.div_ceil(PANEL_ROWS).checked_mul(panel),
            None => None,
        }
    }

    /// Whether products take int8 activations ([`crate::Input::Q8`]); the others take f32.
    pub const fn accepts_q8(self) -> bool {
        !matches!(self, Self::F32 | Self::F16 | Self::Bf16)
    }
}

/// Bytes of one panel: 8 rows of `cols` columns. `None` when `cols` is not whole blocks, or on overflow.
pub const fn panel_bytes(ty: WeightType, cols: usize) -> Option<usize> {
    if !cols.is_multiple_of(ty.block_elements()) {
        return None;
    }
    match ty {
        WeightType::F32 => cols.checked_mul(4 * PANEL_ROWS),
        WeightType::F16 | WeightType::Bf16 => cols.checked_mul(2 * PANEL_ROWS),
        _ => {
            let layout = PanelLayout::of(ty);
            (cols / (layout.groups * GROUP)).checked_mul(layout.block)
        }
    }
}
