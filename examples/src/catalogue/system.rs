//! Reads of the counter, fences, and other instructions that are not arithmetic.
//!
//! These rows have no latency from an operand to a result; each shows the cost of one copy among consecutive ones. In a virtual machine
//! `cpuid` exits to the hypervisor, and some others may, too.

use tsc_runtime::instruction;
use tsc_runtime::instruction::Instruction;

// SAFETY: every listing keeps to the registers and the memory that `instruction!` names.
#[rustfmt::skip]
pub(super) static INSTRUCTIONS: &[Instruction] = unsafe { &[
    instruction!("rdtsc", "", listing "rdtsc", chain none, copies 5),
    instruction!("rdtscp", "", requires "rdtscp", listing "rdtscp", chain none, copies 5),
    instruction!("lfence", "", listing "lfence", chain none, copies 10),
    instruction!("lfence", "400 in a row", listing "lfence", chain none),
    instruction!("lfence+nop", "one and four", listing "lfence; nop; nop; nop; nop", chain none),
    instruction!("lfence+nop", "one and 24", listing "lfence; .rept 24; nop; .endr", chain none, copies 10),
    instruction!("lfence+nop", "one and 256", listing "lfence; .rept 256; nop; .endr", chain none, copies 1),
    instruction!("lfence+mov", "one and r64,[m64]", listing r"lfence; mov r\i, [rsi]", chain none),
    instruction!("lfence+add", "one and four", listing r"lfence; add r\i, 1; add r\i, 1; add r\i, 1; add r\i, 1", chain none),
    instruction!("lfence+rdtsc+lfence", "", listing "lfence; rdtsc; lfence", chain none, copies 5),
    instruction!("sfence", "", listing "sfence", chain none, copies 5),
    instruction!("mfence", "", listing "mfence", chain none, copies 5),
    instruction!("serialize", "", requires "serialize", listing ".byte 0x0f,0x01,0xe8", chain none, copies 1),
    instruction!("pause", "", listing "pause", chain none, copies 2),
    instruction!("cpuid", "leaf0", listing "xor eax, eax; cpuid", chain none, copies 1),
    instruction!("cpuid", "leaf1", listing "mov eax, 1; cpuid", chain none, copies 1),
    instruction!("xgetbv", "", requires "avx", init "xor ecx, ecx", listing "xgetbv", chain none, copies 5),
    instruction!("rdrand", "r64", requires "rdrand", listing r"rdrand r\i", chain none, copies 1),
] };
