//! Calls of what is unusual that keep the general registers.
//!
//! After a usual call, a compiler takes the values in nine general registers for lost. So it moves what the function needs afterwards into
//! registers that each execution of the function saves and restores, although the call is hardly ever executed. These calls go through a
//! function that saves seven of the nine, and `asm!` tells the compiler which other registers may change. A short light function saves none then.
//! Where the compiler may use the 16 registers of APX, which `asm!` cannot name, `usual.rs` takes the place of this.

use core::arch::{asm, naked_asm};

use super::cold;
use crate::record::light::Frame;

/// Calls a function that [`keeper`] makes. It gets the frame in RAX, which no function has its arguments in. The other operands are the registers
/// that may change: a linker may put code that uses R10 and R11 between caller and callee.
macro_rules! call {
    ($keeper:path $(, $frame:ident)?) => {
        asm!(
            "call {keeper}", keeper = sym $keeper, $(in("rax") $frame,)? out("r10") _, out("r11") _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            out("xmm16") _, out("xmm17") _, out("xmm18") _, out("xmm19") _, out("xmm20") _, out("xmm21") _, out("xmm22") _, out("xmm23") _,
            out("xmm24") _, out("xmm25") _, out("xmm26") _, out("xmm27") _, out("xmm28") _, out("xmm29") _, out("xmm30") _, out("xmm31") _,
            out("k0") _, out("k1") _, out("k2") _, out("k3") _, out("k4") _, out("k5") _, out("k6") _, out("k7") _,
            out("mm0") _, out("mm1") _, out("mm2") _, out("mm3") _, out("mm4") _, out("mm5") _, out("mm6") _, out("mm7") _,
            out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _, out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _, out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
        )
    };
}

/// A function that calls another with the argument in RAX, and keeps all general registers but R10 and R11. Seven registers and the return
/// address are a multiple of 16 bytes, as the stack must be at a call.
macro_rules! keeper {
    ($name:ident $(<const $counter:ident: usize>)?, $callee:path) => {
        #[unsafe(naked)]
        unsafe extern "C" fn $name$(<const $counter: usize>)?() {
            naked_asm!(
                ".cfi_startproc",
                ".irp register, rax, rcx, rdx, rsi, rdi, r8, r9",
                "push \\register",
                ".cfi_adjust_cfa_offset 8",
                ".endr",
                "mov rdi, rax",
                "call {callee}",
                ".irp register, r9, r8, rdi, rsi, rdx, rcx, rax",
                "pop \\register",
                ".cfi_adjust_cfa_offset -8",
                ".endr",
                "ret",
                ".cfi_endproc",
                callee = sym $callee,
            )
        }
    };
}

keeper!(start_keeping<const COUNTER: usize>, cold::start::<COUNTER>);
keeper!(stop_keeping, cold::stop);

/// As [`cold::start`].
#[cold]
#[inline(always)]
pub(super) unsafe fn start<const COUNTER: usize>(frame: &Frame) {
    // SAFETY: the callee takes a frame, for which the caller vouches. All registers are named that its calling convention lets it change and
    // that `keeper` does not keep. It does not unwind, because its ABI is "C".
    unsafe { call!(start_keeping::<COUNTER>, frame) };
}

/// As [`cold::stop`].
#[cold]
#[inline(always)]
pub(super) fn stop() {
    // SAFETY: as above; the callee takes no argument.
    unsafe { call!(stop_keeping) };
}
