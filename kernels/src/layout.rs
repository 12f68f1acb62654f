//! The packed weight layout: sizes and offsets, packing from GGUF blocks, and unpacking of single rows.

mod group;
mod pack;
pub(crate) mod panel;
mod source;

pub(crate) use pack::unpack_group;
pub use pack::{pack_panel, unpack_row};
pub use source::dequantize_source_row;

#[cfg(test)]
mod tests;
