//! Packing rows of the file into panels, and reading single rows back.

use super::group::Group;
use super::source::float;
use crate::weight_type::{GROUP, PANEL_ROWS, WeightType, panel_bytes};

/// Packs 1 to 8 consecutive rows of the file into one panel. Lossless; missing rows become rows of zeros.
///
/// `rows` holds whole rows of [`WeightType::source_row_bytes`]; `panel` is [`panel_bytes`] long and need not be
/// cleared.
///
/// # Panics
/// When a length does not fit.
pub fn pack_panel(ty: WeightType, cols: usize, rows: &[u8], panel: &mut [u8]) {
    let row_bytes = ty.source_row_bytes(cols).unwrap_or(0);
    assert_eq!(Some(panel.len()), panel_bytes(ty, cols), "{ty:?}: bytes of a panel of {cols} columns");
    assert!(row_bytes > 0 && rows.len().is_multiple_of(row_bytes) && rows.len() / row_bytes <= PANEL_ROWS);
    panel.fill(0);
    for (r, row) in rows.chunks_exact(row_bytes).enumerate() {
        if ty.accepts_q8() {
            for index in 0..cols / GROUP {
                Group::from_source(ty, row, index).into_panel(ty, panel, r, index);
            }
            continue;
        }
        let width = ty.block_bytes();
        for (value, column) in row.chunks_exact(width).zip(panel.chunks_exact_mut(width * PANEL_ROWS)) {
            column[r * width..][..width].copy_from_slice(value);
        }
    }
}

/// Dequantizes row `row` (0 to 7) of a panel: equal, bit for bit, to [`super::dequantize_source_row`] of the row
/// that was packed there.
///
/// # Panics
/// When a length does not fit.
pub fn unpack_row(ty: WeightType, cols: usize, panel: &[u8], row: usize, out: &mut [f32]) {
    assert_eq!(Some(panel.len()), panel_bytes(ty, cols), "{ty:?}: bytes of a panel of {cols} columns");
    assert!(out.len() == cols && row < PANEL_ROWS, "row {row}, {} values for {cols} columns", out.len());
    if ty.accepts_q8() {
        for (index, out) in out.chunks_exact_mut(GROUP).enumerate() {
            Group::from_panel(ty, panel, row, index).dequantize(ty, out);
        }
        return;
    }
    let width = ty.block_bytes();
    for (out, column) in out.iter_mut().zip(panel.chunks_exact(width * PANEL_ROWS)) {
        *out = float(ty, &column[row * width..]);
    }
}

/// Dequantizes one group of 32 of one row of a quantized panel.
pub(crate) fn unpack_group(ty: WeightType, panel: &[u8], row: usize, group: usize, out: &mut [f32; GROUP]) {
    Group::from_panel(ty, panel, row, group).dequantize(ty, out);
}
