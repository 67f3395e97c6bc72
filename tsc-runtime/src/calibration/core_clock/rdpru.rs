//! AMD's RDPRU: APERF, the core's own count of its cycles, readable by user code.

use std::arch::asm;

use crate::machine::machine;

/// A reader of the core's cycles, where the CPU has RDPRU.
pub(super) fn counter() -> Option<impl FnMut() -> Option<u64>> {
    (machine().rdpru == Some(true)).then_some(|| Some(aperf()))
}

fn aperf() -> u64 {
    const APERF: u32 = 1;
    let (low, high): (u32, u32);
    // SAFETY: `counter` has asked CPUID for RDPRU, which only reads. It is undefined where CR4.TSD forbids RDTSC, and callers have
    // made sure of that too, since they read the TSC beside it.
    unsafe {
        asm!(
            "lfence",
            ".byte 0x0f, 0x01, 0xfd", // rdpru
            "lfence",
            in("ecx") APERF, out("eax") low, out("edx") high,
            options(nostack),
        );
    }
    u64::from(high) << 32 | u64::from(low)
}
