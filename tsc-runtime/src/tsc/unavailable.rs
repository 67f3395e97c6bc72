//! Why the counter cannot be read here.

use core::fmt;

/// The reason the time-stamp counter is not used; the report then measures with the operating system's clock and says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TscUnavailable {
    /// This architecture has no counter that user code may read, or the program runs under Miri.
    NotOnThisPlatform,
    /// CPUID says that the CPU has no RDTSC.
    MissingInstruction,
    /// The process runs under `prctl(PR_SET_TSC, PR_TSC_SIGSEGV)`: RDTSC would kill it.
    ForbiddenByPrctl,
}

impl fmt::Display for TscUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotOnThisPlatform => {
                "no time-stamp counter that user code may read on this platform"
            }
            Self::MissingInstruction => "this CPU has no RDTSC",
            Self::ForbiddenByPrctl => {
                "RDTSC is forbidden in this process (prctl PR_SET_TSC = PR_TSC_SIGSEGV)"
            }
        })
    }
}

impl core::error::Error for TscUnavailable {}
