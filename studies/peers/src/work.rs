//! The work that is measured.

use std::arch::asm;

/// 100 dependent multiplications: 300 core cycles on every x86-64 core of the last fifteen years.
#[inline(always)]
#[must_use]
pub fn chain(mut value: u64) -> u64 {
    // SAFETY: it touches its operand alone.
    unsafe {
        asm!(".rept 100", "imul {0}, {0}", ".endr", inout(reg) value, options(nomem, nostack))
    };
    value
}
