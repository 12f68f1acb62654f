//! A packed weight matrix.

use crate::layout::unpack_row;
use crate::weight_type::{PANEL_ROWS, WeightType, panel_bytes};

/// `rows` output features of `cols` input features each, packed by [`crate::pack_panel`].
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    ty: WeightType,
    rows: usize,
    cols: usize,
    panel: usize,
    data: &'a [u8],
}

impl<'a> Matrix<'a> {
    /// A matrix over `data`; `None` when the columns are not whole blocks or `data` is not
    /// [`WeightType::packed_bytes`] long.
    pub fn new(ty: WeightType, rows: usize, cols: usize, data: &'a [u8]) -> Option<Self> {
        let panel = panel_bytes(ty, cols)?;
        (rows > 0 && cols > 0 && ty.packed_bytes(rows, cols)? == data.len()).then_some(Self {
            ty,
            rows,
            cols,
            panel,
            data,
        })
    }

    /// Storage type.
    pub fn weight_type(&self) -> WeightType {
        self.ty
    }

    /// Output features.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Input features.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The packed bytes.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Panels of 8 rows.
    pub fn panels(&self) -> usize {
        self.rows.div_ceil(PANEL_ROWS)
    }

    /// Panel `index`.
    pub(crate) fn panel(&self, index: usize) -> &'a [u8] {
        &self.data[index * self.panel..][..self.panel]
    }

    /// Dequantizes row `row` into `out` `[cols]`: the embedding of a token.
    ///
    /// # Panics
    /// When `row` is not a row of the matrix, or `out` is not one row long.
    pub fn row(&self, row: usize, out: &mut [f32]) {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        unpack_row(self.ty, self.cols, self.panel(row / PANEL_ROWS), row % PANEL_ROWS, out);
    }
}
