//! The fence policies, each declared once: its name in the attribute, and the reads at its start and stop.

use super::{Ticks, arch};

/// A start and a stop that belong together. They differ, because the start must also keep later work from beginning early.
///
/// Before the first call, callers must make sure by [`detect`](super::detect) that the counter may be read.
pub trait FencePolicy {
    /// The policy that these reads implement.
    const FENCE: Fence;
    /// Reads the counter after all earlier work and before all later work, as far as [`FENCE`](Self::FENCE) orders them.
    fn start() -> Ticks;
    /// Reads the counter after all earlier work, likewise.
    fn stop() -> Ticks;
}

// Input:  $ … /// Docs.  Lfence = "lfence": start_lfence, stop_lfence;
// Output: the variant `Fence::Lfence`, its element of `Fence::ALL` and its `name`; the type `Lfence` with these reads; an arm of
// `__policy!`, which `start!` and `cycles_block!` use; and `for_each_policy!`, which passes `Lfence "lfence" …` to another macro. The first
// token of the input is the `$` in the definitions of these macros.
macro_rules! fence_policies {
    ($dollar:tt $($(#[$doc:meta])* $name:ident = $text:tt: $start:ident, $stop:ident;)*) => {
        /// Which instructions order the two reads of the counter. `#[cycles(fence = "…")]` selects it for a callsite.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Fence {
            $($(#[$doc])* $name,)*
        }

        impl Fence {
            /// Every policy, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name of the policy in the attribute.
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

        /// The type of the policy with this name. `check_fence!` reports an unknown name.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __policy {
            $(($text) => { $dollar crate::__private::$name };)*
            ($dollar unknown:tt) => { $dollar crate::__private::Lfence };
        }

        #[cfg(feature = "on")]
        macro_rules! for_each_policy {
            ($dollar then:ident) => { $dollar then! { $($name $text)* } };
        }
    };
}

fence_policies! { $
    /// `lfence; rdtsc; lfence` … `lfence; rdtsc`: the default. Orders instructions and loads. It needs only SSE2, and does not leave a
    /// virtual machine.
    Lfence = "lfence": start_lfence, stop_lfence;
    /// `rdtsc` … `rdtsc`: the cheapest. Neighbouring work overlaps with the measured region, and measured work with what surrounds it, by
    /// some tens of cycles each.
    Unfenced = "none": read_bare, read_bare;
    /// `lfence; rdtsc; lfence` … `rdtscp; lfence`: the stop is that of Intel's white paper 324264.
    Rdtscp = "rdtscp": start_lfence, stop_rdtscp;
    /// `mfence; lfence; rdtsc; lfence` … `mfence; lfence; rdtsc`: also waits until earlier stores are globally visible.
    Mfence = "mfence": start_mfence, stop_mfence;
    /// `serialize; rdtsc; lfence` … `serialize; rdtsc`: fully serializing without leaving a virtual machine, on CPUs that have it.
    Serialize = "serialize": start_serialize, stop_serialize;
    /// `cpuid; rdtsc; lfence` … `cpuid; rdtsc`: takes thousands of ticks inside a virtual machine, because CPUID leaves the guest.
    Cpuid = "cpuid": start_cpuid, stop_cpuid;
    /// `cpuid; rdtsc` … `rdtsc`: another form that macros of the 2000s used, without a fence at the stop. CPUID's varying cost stays
    /// outside the measured region; measured work may end after the stop, as with [`Unfenced`](Self::Unfenced).
    CpuidStart = "cpuid-start": start_cpuid_start, stop_cpuid_start;
}

#[cfg(feature = "on")]
pub(crate) use for_each_policy;

impl Fence {
    /// Whether this CPU has the policy's instructions. If not, those of [`Fence::Lfence`] are executed instead. On x86, optional
    /// instructions are only known after [`detect`](super::detect).
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
