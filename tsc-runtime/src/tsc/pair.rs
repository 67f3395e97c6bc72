//! The fence policies and the pair of reads each stands for.

use super::{Ticks, arch};

/// Which instructions order the two reads of the counter; chosen per callsite with `#[cycles(fence = "…")]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Fence {
    /// `lfence; rdtsc; lfence` … `lfence; rdtsc`: the default. Orders instructions and loads; SSE2 only, no VM exit.
    Lfence,
    /// `rdtsc` … `rdtsc`: cheapest; neighbouring work leaks in and measured work leaks out, some tens of cycles each way.
    None,
    /// `lfence; rdtsc; lfence` … `rdtscp; lfence`: ends as Intel's white paper 324264 does.
    Rdtscp,
    /// `mfence; lfence; rdtsc; lfence` … `mfence; lfence; rdtsc`: also waits for earlier stores to be globally visible.
    Mfence,
    /// `serialize; rdtsc; lfence` … `serialize; rdtsc`: fully serializing without a VM exit, where the CPU has it.
    Serialize,
    /// `cpuid; rdtsc; lfence` … `cpuid; rdtsc`: as the macros of the 2000s did; thousands of ticks inside a virtual machine.
    Cpuid,
}

impl Fence {
    /// Every policy, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::Lfence,
        Self::None,
        Self::Rdtscp,
        Self::Mfence,
        Self::Serialize,
        Self::Cpuid,
    ];

    /// The name the attribute takes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lfence => "lfence",
            Self::None => "none",
            Self::Rdtscp => "rdtscp",
            Self::Mfence => "mfence",
            Self::Serialize => "serialize",
            Self::Cpuid => "cpuid",
        }
    }

    /// Whether this CPU has the policy's instructions; where it lacks them [`Fence::Lfence`]'s are executed instead.
    #[must_use]
    pub fn is_supported(self) -> bool {
        arch::supports(self)
    }
}

impl core::fmt::Display for Fence {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

/// A start and a stop that belong together. The two differ: the start must also keep later work from beginning early.
///
/// Callers make sure that the counter may be read ([`detect`](super::detect)) before the first call.
pub trait Pair {
    /// The policy these reads carry out.
    const FENCE: Fence;
    /// Reads the counter after all earlier work and before all later work.
    fn start() -> Ticks;
    /// Reads the counter after all earlier work.
    fn stop() -> Ticks;
}

macro_rules! pairs {
    ($($(#[$doc:meta])* $name:ident: $fence:ident, $start:ident, $stop:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Pair for $name {
            const FENCE: Fence = Fence::$fence;
            #[inline(always)]
            fn start() -> Ticks {
                arch::$start()
            }
            #[inline(always)]
            fn stop() -> Ticks {
                arch::$stop()
            }
        }
    )*};
}

pairs! {
    /// [`Fence::Lfence`].
    Lfence: Lfence, start_lfence, stop_lfence;
    /// [`Fence::None`].
    Bare: None, read_bare, read_bare;
    /// [`Fence::Rdtscp`].
    Rdtscp: Rdtscp, start_lfence, stop_rdtscp;
    /// [`Fence::Mfence`].
    Mfence: Mfence, start_mfence, stop_mfence;
    /// [`Fence::Serialize`].
    Serialize: Serialize, start_serialize, stop_serialize;
    /// [`Fence::Cpuid`].
    Cpuid: Cpuid, start_cpuid, stop_cpuid;
}
