//! Shifts, rotations, bit fields, and checksums of integers. The MOV before a checksum makes it independent of the earlier ones, as in the
//! multiplications.

use tsc_runtime::instruction;
use tsc_runtime::instruction::Instruction;

// SAFETY: every listing keeps to the registers and the memory that `instruction!` names.
#[rustfmt::skip]
pub(super) static INSTRUCTIONS: &[Instruction] = unsafe { &[
    instruction!("shl", "r64,1", listing r"shl r\i, 1"),
    instruction!("shl", "r64,imm8", listing r"shl r\i, 7"),
    instruction!("shl", "r64,cl", init "mov ecx, 7", listing r"shl r\i, cl"),
    instruction!("sar", "r64,imm8", listing r"sar r\i, 7"),
    instruction!("shlx", "r64,r64,r64", requires "bmi2", listing r"shlx r\i, rdx, rcx", chain "shlx r8, r8, rcx"),
    instruction!("shld", "r64,r64,imm8", listing r"shld r\i, rcx, 7"),
    instruction!("rol", "r64,imm8", listing r"rol r\i, 7"),
    instruction!("rol", "r64,cl", init "mov ecx, 7", listing r"rol r\i, cl"),
    instruction!("rorx", "r64,r64,imm8", requires "bmi2", listing r"rorx r\i, rcx, 7", chain "rorx r8, r8, 7"),
    instruction!("bswap", "r32", listing r"bswap r\i\()d"),
    instruction!("bswap", "r64", listing r"bswap r\i"),
    instruction!("bt", "r64,imm8", listing r"bt r\i, 7", chain none),
    instruction!("bts", "r64,imm8", listing r"bts r\i, 7"),
    instruction!("bsf", "r64,r64", init "mov ecx, 8; mov r8d, 8", listing r"bsf r\i, rcx", chain "bsf r8, r8"),
    instruction!("bsr", "r64,r64", init "mov ecx, 8; mov r8d, 8", listing r"bsr r\i, rcx", chain "bsr r8, r8"),
    instruction!("popcnt", "r64,r64", requires "popcnt", listing r"popcnt r\i, rcx", chain "popcnt r8, r8"),
    instruction!("lzcnt", "r64,r64", requires "lzcnt", listing r"lzcnt r\i, rcx", chain "lzcnt r8, r8"),
    instruction!("tzcnt", "r64,r64", requires "bmi1", listing r"tzcnt r\i, rcx", chain "tzcnt r8, r8"),
    instruction!("andn", "r64,r64,r64", requires "bmi1", listing r"andn r\i, rcx, rdx", chain "andn r8, r8, rdx"),
    instruction!("blsr", "r64,r64", requires "bmi1", listing r"blsr r\i, rcx", chain "blsr r8, r8"),
    instruction!("bextr", "r64,r64,r64", requires "bmi1", listing r"bextr r\i, rcx, rdx", chain "bextr r8, r8, rdx"),
    instruction!("bzhi", "r64,r64,r64", requires "bmi2", listing r"bzhi r\i, rcx, rdx", chain "bzhi r8, r8, rdx"),
    instruction!("pdep", "r64,r64,r64", requires "bmi2", listing r"pdep r\i, rcx, rdx", chain "pdep r8, r8, rdx"),
    instruction!("pext", "r64,r64,r64", requires "bmi2", listing r"pext r\i, rcx, rdx", chain "pext r8, r8, rdx"),
    instruction!("crc32", "r32,r32", requires "sse4.2", listing r"mov r\i\()d, ecx; crc32 r\i\()d, ecx", chain "crc32 r8d, ecx"),
    instruction!("crc32", "r64,r64", requires "sse4.2", listing r"mov r\i, rcx; crc32 r\i, rcx", chain "crc32 r8, rcx"),
] };
