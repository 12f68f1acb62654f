//! Which instruction set the kernels use, found out once at run time.

use std::sync::OnceLock;

/// Instruction set of the kernels, worst to best. A level includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Portable code, the reference for the others.
    Scalar,
    /// x86-64 with AVX2, FMA and F16C.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ, VL and VNNI.
    Avx512Vnni,
}

impl Level {
    /// Every level.
    pub const ALL: [Self; 3] = [Self::Scalar, Self::Avx2, Self::Avx512Vnni];

    /// The best level of this machine.
    pub fn detected() -> Self {
        static DETECTED: OnceLock<Level> = OnceLock::new();
        *DETECTED.get_or_init(detect)
    }

    /// Whether this machine can run the level.
    pub fn is_available(self) -> bool {
        self <= Self::detected()
    }

    /// Name for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "portable",
            Self::Avx2 => "AVX2 + FMA + F16C",
            Self::Avx512Vnni => "AVX-512 VNNI",
        }
    }
}

/// Name of the kernels that this machine runs.
pub fn kernel_name() -> &'static str {
    Level::detected().name()
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Level {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni");
    if avx512 {
        Level::Avx512Vnni
    } else if avx2 {
        Level::Avx2
    } else {
        Level::Scalar
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Level {
    Level::Scalar
}
