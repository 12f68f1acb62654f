//! What a plan may take.

use crate::error::PlanError;
use crate::shape::DeviceMemory;
use crate::units::Bytes;

/// Parts of one in which the memory fraction is counted.
const FRACTION_PARTS: u64 = 1_000_000;

/// Bytes that a plan on `device` may take: `min(total x utilization, free - headroom + resident)`.
///
/// `resident` is added because the process holds it already: it is in the plan's total, and no longer in `free`.
/// Unknown free memory leaves the first bound alone.
pub fn budget(device: &DeviceMemory, utilization: f64) -> Result<Bytes, PlanError> {
    let fraction = fraction_parts(utilization)?;
    let parts = u128::from(device.total.0) * u128::from(fraction) / u128::from(FRACTION_PARTS);
    let share = Bytes(u64::try_from(parts).unwrap_or(u64::MAX));
    Ok(match device.free {
        Some(free) => share.min(free.minus(device.headroom).plus(device.resident)),
        None => share,
    })
}

/// The fraction as parts of [`FRACTION_PARTS`], so that the product with a byte count is exact.
fn fraction_parts(utilization: f64) -> Result<u64, PlanError> {
    if !(0.05..=0.95).contains(&utilization) {
        return Err(PlanError::BadUtilization { fraction: utilization });
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value lies between 50,000 and 950,000"
    )]
    let parts = (utilization * 1_000_000.0).round() as u64;
    Ok(parts)
}
