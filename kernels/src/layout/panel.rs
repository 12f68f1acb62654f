//! Where the parts of a quantized panel lie.

use crate::weight_type::{GROUP, PANEL_ROWS, WeightType};

/// Bytes of the nibbles of 8 rows x 32 columns.
pub(crate) const NIBBLES: usize = PANEL_ROWS * GROUP / 2;

/// Offsets inside one block of a panel: 8 rows of 32 or 256 columns. All in bytes.
///
/// A block is a header (scales shared by its groups) followed by its groups. See the crate documentation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PanelLayout {
    /// Groups of 32 columns in a block.
    pub(crate) groups: usize,
    /// Whole block.
    pub(crate) block: usize,
    /// Header of the block, in front of the groups: nothing, or `d[8]` and `dmin[8]`.
    pub(crate) header: usize,
    /// One group.
    pub(crate) group: usize,
    /// From the group's start: the high bits.
    pub(crate) high: usize,
    /// From the group's start: nibbles or bytes.
    pub(crate) codes: usize,
}

impl PanelLayout {
    /// Layout of a quantized type. The 16- and 32-bit types have no groups and get an empty one.
    pub(crate) const fn of(ty: WeightType) -> Self {
        // (groups, header, scales at the start of a group, high bits, codes)
        let (groups, header, scales, high, codes) = match ty {
            WeightType::Q4_0 => (1, 0, 16, 0, NIBBLES),
            WeightType::Q4_1 => (1, 0, 32, 0, NIBBLES),
            WeightType::Q5_0 => (1, 0, 16, 32, NIBBLES),
            WeightType::Q5_1 => (1, 0, 32, 32, NIBBLES),
            WeightType::Q8_0 => (1, 0, 16, 0, 2 * NIBBLES),
            WeightType::Q4K => (8, 32, 16, 0, NIBBLES),
            WeightType::Q5K => (8, 32, 16, 32, NIBBLES),
            WeightType::Q6K => (8, 16, 16, 64, NIBBLES),
            WeightType::F32 | WeightType::F16 | WeightType::Bf16 => (1, 0, 0, 0, 0),
        };
        let group = scales + high + codes;
        Self { groups, block: header + groups * group, header, group, high: scales, codes: scales + high }
    }

    /// First byte of the block that holds group `group`, and of that group, from the panel's start.
    pub(crate) const fn place(&self, group: usize) -> (usize, usize) {
        let block = group / self.groups * self.block;
        (block, block + self.header + group % self.groups * self.group)
    }
}
