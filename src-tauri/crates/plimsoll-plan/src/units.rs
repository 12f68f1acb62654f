//! Bytes and tokens are different things; so they are different types.

use serde::{Deserialize, Serialize};

/// A byte count. Arithmetic saturates: a plan that overflows must read as "too large", never wrap to "small".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A token count or a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tokens(pub u32);

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);

    /// Bytes of `count` values of `each` bytes, saturating.
    #[must_use]
    pub const fn of(count: u64, each: u64) -> Self {
        Self(count.saturating_mul(each))
    }

    /// Sum, saturating.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Difference, stopping at zero.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Product, saturating.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// Rounded up to a multiple of `alignment` (a power of two), saturating.
    #[must_use]
    pub const fn aligned(self, alignment: u64) -> Self {
        let mask = alignment.wrapping_sub(1);
        Self(self.0.saturating_add(mask) & !mask)
    }
}

impl Tokens {
    /// The same count, ready for byte arithmetic.
    #[must_use]
    pub const fn wide(self) -> u64 {
        // `u64::from` is not const.
        self.0 as u64
    }

    /// Pages of [`PAGE_TOKENS`](crate::PAGE_TOKENS) tokens that hold this many tokens.
    #[must_use]
    pub const fn pages(self) -> u32 {
        self.0.div_ceil(crate::shape::PAGE_TOKENS)
    }
}

impl std::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Self::plus)
    }
}

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} B", self.0)
    }
}

impl std::fmt::Display for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}
