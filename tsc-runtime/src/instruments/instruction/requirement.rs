//! What a row requires of the CPU.

/// Whether this CPU has `feature`. A name that is unknown here counts as missing.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) fn is_met(feature: &str) -> bool {
    macro_rules! detect {
        ($($name:tt),*) => {
            match feature {
                $($name => std::arch::is_x86_feature_detected!($name),)*
                "rdtscp" => crate::tsc::Fence::Rdtscp.is_supported(),
                "serialize" => crate::tsc::Fence::Serialize.is_supported(),
                _ => false,
            }
        };
    }
    detect!(
        "adx",
        "aes",
        "avx",
        "avx2",
        "avx512bf16",
        "avx512bitalg",
        "avx512bw",
        "avx512cd",
        "avx512dq",
        "avx512f",
        "avx512ifma",
        "avx512vbmi",
        "avx512vbmi2",
        "avx512vl",
        "avx512vnni",
        "avx512vpopcntdq",
        "bmi1",
        "bmi2",
        "f16c",
        "fma",
        "gfni",
        "lzcnt",
        "movbe",
        "pclmulqdq",
        "popcnt",
        "rdrand",
        "rdseed",
        "sha",
        "sse3",
        "sse4.1",
        "sse4.2",
        "ssse3",
        "vaes",
        "vpclmulqdq"
    )
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(super) fn is_met(_feature: &str) -> bool {
    false
}

/// Clears the upper halves of the vector registers. Otherwise they would slow down the SSE code that follows.
#[inline]
pub(super) fn leave_avx(has_avx: bool) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if has_avx {
        // SAFETY: the CPU has AVX, and the listings that changed the registers declare them as clobbered.
        unsafe { std::arch::asm!("vzeroupper", clobber_abi("sysv64")) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = has_avx;
}
