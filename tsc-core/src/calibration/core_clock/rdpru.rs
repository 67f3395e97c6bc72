//! AMD's RDPRU instruction: reads APERF, the core's own cycle counter, in user mode.

use std::arch::asm;

use crate::machine::machine;

/// A reader of the core's cycles, if the CPU has RDPRU.
pub(super) fn counter() -> Option<impl FnMut() -> Option<u64>> {
    (machine().rdpru == Some(true)).then_some(|| Some(aperf()))
}

fn aperf() -> u64 {
    const APERF: u32 = 1;
    let (low, high): (u32, u32);
    // SAFETY: `counter` has found RDPRU in CPUID, and the instruction only reads. It faults if CR4.TSD forbids RDTSC. Callers also read the
    // TSC, so they have made sure that RDTSC is allowed.
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
