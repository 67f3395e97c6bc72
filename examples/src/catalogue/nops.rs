//! NOPs of 1 to 15 bytes.

use tsc_runtime::instruction;
use tsc_runtime::instruction::Instruction;

// SAFETY: every listing keeps to the registers and the memory that `instruction!` names.
#[rustfmt::skip]
pub(super) static INSTRUCTIONS: &[Instruction] = unsafe { &[
    instruction!("nop", "1 byte", listing ".byte 0x90", chain none),
    instruction!("nop", "2 bytes", listing ".byte 0x66,0x90", chain none),
    instruction!("nop", "3 bytes", listing ".byte 0x0f,0x1f,0x00", chain none),
    instruction!("nop", "4 bytes", listing ".byte 0x0f,0x1f,0x40,0", chain none),
    instruction!("nop", "5 bytes", listing ".byte 0x0f,0x1f,0x44,0,0", chain none),
    instruction!("nop", "6 bytes", listing ".byte 0x66,0x0f,0x1f,0x44,0,0", chain none),
    instruction!("nop", "7 bytes", listing ".byte 0x0f,0x1f,0x80,0,0,0,0", chain none),
    instruction!("nop", "8 bytes", listing ".byte 0x0f,0x1f,0x84,0,0,0,0,0", chain none),
    instruction!("nop", "9 bytes", listing ".byte 0x66,0x0f,0x1f,0x84,0,0,0,0,0", chain none),
    instruction!("nop", "10 bytes", listing ".byte 0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0", chain none),
    instruction!("nop", "11 bytes", listing ".byte 0x66,0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0", chain none),
    instruction!("nop", "12 bytes", listing ".byte 0x66,0x66,0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0", chain none),
    instruction!("nop", "13 bytes", listing ".byte 0x66,0x66,0x66,0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0", chain none),
    instruction!("nop", "14 bytes", listing ".byte 0x66,0x66,0x66,0x66,0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0", chain none),
    instruction!("nop", "15 bytes", listing ".byte 0x66,0x66,0x66,0x66,0x66,0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0", chain none),
] };
