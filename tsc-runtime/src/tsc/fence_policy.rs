//! The fence policies, each declared once: its name in the attribute, and the reads at its start and stop.

use super::{Ticks, arch};

/// A start and a stop that belong together. The two differ: the start must also keep later work from beginning early.
///
/// Callers make sure that the counter may be read ([`detect`](super::detect)) before the first call.
pub trait FencePolicy {
    /// The policy these reads carry out.
    const FENCE: Fence;
    /// Reads the counter after all earlier work and before all later work.
    fn start() -> Ticks;
    /// Reads the counter after all earlier work.
    fn stop() -> Ticks;
}

// Input:  $ … /// Docs.  Lfence = "lfence": start_lfence, stop_lfence;
// Output: the variant `Fence::Lfence`, its place in `Fence::ALL` and its `name`; the type `Lfence` that reads so; an arm of
//         `__policy!`, which `start!` and `cycles_block!` use. The first token is a `$` for that.
macro_rules! fence_policies {
    ($dollar:tt $($(#[$doc:meta])* $name:ident = $text:tt: $start:ident, $stop:ident;)*) => {
        /// Which instructions order the two reads of the counter; chosen per callsite with `#[cycles(fence = "…")]`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Fence {
            $($(#[$doc])* $name,)*
        }

        impl Fence {
            /// Every policy, in the order of their numbers.
            pub const ALL: [Self; [$(Self::$name),*].len()] = [$(Self::$name),*];

            /// The name the attribute takes.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }

        $(
            #[doc = concat!("[`Fence::", stringify!($name), "`].")]
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl FencePolicy for $name {
                const FENCE: Fence = Fence::$name;
                #[inline(always)]
                fn start() -> Ticks {
                    arch::$start()
                }
                #[inline(always)]
                fn stop() -> Ticks {
                    arch::$stop()
                }
            }
        )*

        /// The type of a policy, by its name; `check_fence!` refuses what is none.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __policy {
            $(($text) => { $dollar crate::__private::$name };)*
            ($dollar unknown:tt) => { $dollar crate::__private::Lfence };
        }
    };
}

fence_policies! { $
    /// `lfence; rdtsc; lfence` … `lfence; rdtsc`: the default. Orders instructions and loads; SSE2 only, no VM exit.
    Lfence = "lfence": start_lfence, stop_lfence;
    /// `rdtsc` … `rdtsc`: cheapest; neighbouring work leaks in and measured work leaks out, some tens of cycles each way.
    Unfenced = "none": read_bare, read_bare;
    /// `lfence; rdtsc; lfence` … `rdtscp; lfence`: ends as Intel's white paper 324264 does.
    Rdtscp = "rdtscp": start_lfence, stop_rdtscp;
    /// `mfence; lfence; rdtsc; lfence` … `mfence; lfence; rdtsc`: also waits for earlier stores to be globally visible.
    Mfence = "mfence": start_mfence, stop_mfence;
    /// `serialize; rdtsc; lfence` … `serialize; rdtsc`: fully serializing without a VM exit, where the CPU has it.
    Serialize = "serialize": start_serialize, stop_serialize;
    /// `cpuid; rdtsc; lfence` … `cpuid; rdtsc`: thousands of ticks inside a virtual machine, where CPUID leaves the guest.
    Cpuid = "cpuid": start_cpuid, stop_cpuid;
    /// `cpuid; rdtsc` … `rdtsc`: the other form of the 2000s, with nothing at the stop. CPUID's varying cost stays outside; measured
    /// work leaks out at the stop, as with [`Unfenced`](Self::Unfenced).
    CpuidStart = "cpuid-start": start_cpuid_start, stop_cpuid_start;
}

impl Fence {
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
