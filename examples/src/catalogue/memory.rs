//! Loads, stores, store forwarding, and locked operations, all in the first-level cache.
//!
//! Some cores predict a load that always returns the same value. So the load chase goes round a ring of 31 cache lines. The number of loads
//! in the loop is not a multiple of 31, so no load in the loop sees the same value twice in a row. The rows `to itself` show the effect of
//! the prediction.
//!
//! Neighbouring loads read neighbouring words, because a cache may serve only one load per bank and cycle. The rows with `class vector` use
//! twelve addresses, where eight would not keep the core busy.
//!
//! A core may rename memory. On such a core, a value that is stored and loaded through the same address expression costs almost nothing;
//! the row that uses another base register shows the cost of the store buffer.

use tsc_runtime::instruction;
use tsc_runtime::instruction::Instruction;

// SAFETY: every listing keeps to the registers and the memory that `instruction!` names.
#[rustfmt::skip]
pub(super) static INSTRUCTIONS: &[Instruction] = unsafe { &[
    instruction!("mov", "r64,[m64] (L1 chase)", init "xor eax, eax; mov ecx, 31; 3: lea rdx, [rax+448]; cmp rdx, 1984; jb 4f; sub rdx, 1984; 4: lea r9, [rsi+rdx]; mov [rsi+rax], r9; mov rax, rdx; dec ecx; jnz 3b; mov r8, rsi",
        listing r"mov r\i, [rsi+\i*8]", chain "mov r8, [r8]"),
    instruction!("mov", "r64,[m64] (to itself)", init "mov [rsi], rsi; mov r8, rsi", chain "mov r8, [r8]"),
    instruction!("mov", "r64,[m64+r64*8] (to itself)", init "mov [rsi], rsi; mov r8, rsi; xor ecx, ecx", chain "mov r8, [r8+rcx*8]"),
    instruction!("movzx", "r32,[m8]", listing r"movzx r\i\()d, byte ptr [rsi+\i*8]", chain none),
    instruction!("movups", "xmm,[m128]", class vector, listing r"movups xmm\i, [rsi+\i*16]", chain none),
    instruction!("vmovups", "ymm,[m256]", requires "avx", class vector, listing r"vmovups ymm\i, [rsi+\i*32]", chain none),
    instruction!("vmovups", "zmm,[m512]", requires "avx512f", class vector, listing r"vmovups zmm\i, [rsi+\i*64]", chain none),
    instruction!("mov", "[m32],r32", listing "mov [rsi], ecx", chain none),
    instruction!("mov", "[m64],r64", listing "mov [rsi], rcx", chain none),
    instruction!("mov", "[m64],r64 eight lines", listing r"mov [rsi+\i*64], rcx", chain none),
    instruction!("movups", "[m128],xmm", class vector, listing "movups [rsi], xmm0", chain none),
    instruction!("movnti", "[m64],r64", listing r"movnti [rsi], rcx", chain none),
    instruction!("mov+mov", "[m64],r64 then r64,[m64]", listing r"mov [rsi+\i*8], r\i; mov r\i, [rsi+\i*8]"),
    instruction!("mov+mov", "r64,[m64] then [m64],r64", listing r"mov r\i, [rsi+\i*8]; mov [rsi+\i*8], r\i"),
    instruction!("mov+mov", "[m64],r64 then r64,[m64], other base", init "mov r9, rsi", chain "mov [rsi], r8; mov r8, [r9]"),
    instruction!("movsd+movsd", "[m64],xmm then xmm,[m64]", class vector, chain "movsd [rsi], xmm4; movsd xmm4, [rsi]"),
    instruction!("push+pop", "r64", listing r"push r\i; pop r\i"),
    instruction!("add", "r64,[m64]", listing r"add r\i, [rsi+\i*8]", chain none),
    instruction!("add", "[m64],r64", class vector, listing r"add [rsi+\i*8], rcx"),
    instruction!("add", "[m64],r64 eight words", listing r"add [rsi+\i*8], rcx", chain none),
    instruction!("add", "[m64],imm8", class vector, listing r"add qword ptr [rsi+\i*8], 1"),
    instruction!("inc", "[m64]", class vector, listing r"inc qword ptr [rsi+\i*8]"),
    instruction!("dec", "[m64]", class vector, listing r"dec qword ptr [rsi+\i*8]"),
    instruction!("inc", "[m32]", class vector, listing r"inc dword ptr [rsi+\i*8]"),
    instruction!("dec", "[m32]", class vector, listing r"dec dword ptr [rsi+\i*8]"),
    instruction!("lock add", "[m64],r64", listing r"lock add [rsi+\i*64], rcx", copies 10),
    instruction!("lock inc", "[m64]", listing r"lock inc qword ptr [rsi+\i*64]", copies 10),
    instruction!("lock xadd", "[m64],r64", listing r"lock xadd [rsi+\i*64], r\i", copies 10),
    instruction!("lock cmpxchg", "[m64],r64", listing r"lock cmpxchg [rsi+\i*64], rcx", copies 10),
    instruction!("xchg", "r64,[m64]", listing r"xchg r\i, [rsi+\i*64]", copies 10),
    instruction!("prefetcht0", "[m8]", listing r"prefetcht0 [rsi+\i*64]", chain none),
    instruction!("clflush", "[m8]", listing r"clflush [rsi+\i*64]", chain none, copies 1),
] };
