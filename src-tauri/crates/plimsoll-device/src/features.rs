//! Instruction sets of the processor that this process runs on.

/// Names of the instruction sets that the kernels choose by, in the spelling of the compiler.
pub(crate) fn instruction_sets() -> Vec<String> {
    let mut found: Vec<&str> = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! detect {
            ($($name:tt),*) => { $( if std::arch::is_x86_feature_detected!($name) { found.push($name); } )* };
        }
        detect!("avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512vnni", "avx512vbmi");
        detect!("avx512bf16", "avxvnni");
    }
    #[cfg(target_arch = "aarch64")]
    {
        macro_rules! detect {
            ($($name:tt),*) => { $( if std::arch::is_aarch64_feature_detected!($name) { found.push($name); } )* };
        }
        detect!("neon", "dotprod", "fp16", "i8mm", "bf16", "sve");
    }
    found.sort_unstable();
    found.into_iter().map(str::to_owned).collect()
}
