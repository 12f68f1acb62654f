//! AVX-512 with VNNI: one instruction multiplies and adds four int8 products for each lane.

mod block;
mod panel;

pub(crate) use block::{BLOCK_TOKENS, BlockSums, multiply_block};
pub(crate) use panel::multiply;
