//! Multiplications and divisions.
//!
//! On many cores, the cost of a division depends on its operands, so each row fixes them. The `full` rows divide a number of twice the
//! width by one of the width, with a quotient of the full width. Their operands are a fixed point: quotient and remainder are again the
//! two halves of the dividend, so the chain contains nothing but divisions. In the other rows, links restore the operands, by two
//! instructions on the way through the quotient and two through the remainder: on Zen 4 the remainder comes a cycle later.

use tsc_runtime::instruction;
use tsc_runtime::instruction::Instruction;

// SAFETY: every listing keeps to the registers and the memory that `instruction!` names.
#[rustfmt::skip]
pub(super) static INSTRUCTIONS: &[Instruction] = unsafe { &[
    instruction!("imul", "r32,r32", listing r"mov r\i\()d, ecx; imul r\i\()d, ecx", chain "imul r8d, ecx"),
    instruction!("imul", "r64,r64", listing r"mov r\i, rcx; imul r\i, rcx", chain "imul r8, rcx"),
    instruction!("imul", "r64,r64,imm8", listing r"imul r\i, rcx, 7", chain "imul r8, r8, 7"),
    instruction!("imul", "r64 rdx:rax", init "mov ecx, 1", listing "mov eax, 5; imul rcx", chain "imul rcx"),
    instruction!("mul", "r32 edx:eax", init "mov ecx, 1", listing "mov eax, 5; mul ecx", chain "mul ecx"),
    instruction!("mul", "r64 rdx:rax", init "mov ecx, 1", listing "mov eax, 5; mul rcx", chain "mul rcx"),
    instruction!("mulx", "r64,r64,r64 low", requires "bmi2", init "mov edx, 1; mov ecx, 1", listing r"mulx rax, r\i, rcx", chain "mulx rax, rdx, rcx"),
    instruction!("mulx", "r64,r64,r64 high", requires "bmi2", init "mov edx, 1; mov ecx, 1", listing r"mulx r\i, rax, rcx", chain "mulx rdx, rax, rcx"),
    instruction!("div", "r64 128/64b full", init "mov r9, -1; movabs r10, 0x5555555555555555; lea rcx, [r10+1]; mov rax, r9; mov rdx, r10",
        listing "mov rax, r9; mov rdx, r10; div rcx", chain "div rcx", copies 10),
    instruction!("div", "r64 64/1b", init "mov r9, -1; mov ecx, 1; mov rax, r9; xor edx, edx",
        listing "mov rax, r9; xor edx, edx; div rcx", chain "div rcx", copies 5),
    instruction!("div", "r64 64/64b", init "movabs r9, 0xfedcba9876543210; movabs rcx, 0x89abcdef01234567; xor r10d, r10d",
        listing "mov rax, r9; xor edx, edx; div rcx", link "and rax, r10; or rax, r9; and rdx, r10; or rdx, r10", chain "div rcx", copies 5),
    instruction!("div", "r64 64/32b", init "mov r9, -1; mov ecx, 0x89abcdef; xor r10d, r10d",
        listing "mov rax, r9; xor edx, edx; div rcx", link "and rax, r10; or rax, r9; and rdx, r10; or rdx, r10", chain "div rcx", copies 5),
    instruction!("div", "r64 32/32b", init "mov r9d, 0xfedcba98; mov ecx, 0x89abcdef; xor r10d, r10d",
        listing "mov rax, r9; xor edx, edx; div rcx", link "and rax, r10; or rax, r9; and rdx, r10; or rdx, r10", chain "div rcx", copies 5),
    instruction!("div", "r64 1/1", init "mov eax, 1; mov ecx, 1; xor edx, edx", listing "mov eax, 1; xor edx, edx; div rcx", chain "div rcx", copies 5),
    instruction!("div", "r32 64/32b full", init "mov r9d, -1; mov r10d, 0x55555555; lea ecx, [r10+1]; mov eax, r9d; mov edx, r10d",
        listing "mov eax, r9d; mov edx, r10d; div ecx", chain "div ecx", copies 5),
    instruction!("div", "r32 32/32b", init "mov r9d, 0xfedcba98; mov ecx, 0x89abcdef; xor r10d, r10d",
        listing "mov eax, r9d; xor edx, edx; div ecx", link "and eax, r10d; or eax, r9d; and edx, r10d; or edx, r10d", chain "div ecx", copies 5),
    instruction!("div", "r32 1/1", init "mov eax, 1; mov ecx, 1; xor edx, edx", listing "mov eax, 1; xor edx, edx; div ecx", chain "div ecx", copies 5),
    instruction!("idiv", "r64 126/63b full", init "movabs r9, 0x7ffffffffffffffe; movabs r10, 0x2aaaaaaaaaaaaaaa; movabs rcx, 0x5555555555555556; mov rax, r9; mov rdx, r10",
        listing "mov rax, r9; mov rdx, r10; idiv rcx", chain "idiv rcx", copies 10),
    instruction!("idiv", "r64 63/63b", init "movabs r9, 0x7edcba9876543210; movabs rcx, 0x49abcdef01234567; xor r10d, r10d",
        listing "mov rax, r9; xor edx, edx; idiv rcx", link "and rax, r10; or rax, r9; and rdx, r10; or rdx, r10", chain "idiv rcx", copies 5),
    instruction!("idiv", "r64 32/32b", init "mov r9d, 0x7edcba98; mov ecx, 0x49abcdef; xor r10d, r10d",
        listing "mov rax, r9; xor edx, edx; idiv rcx", link "and rax, r10; or rax, r9; and rdx, r10; or rdx, r10", chain "idiv rcx", copies 5),
    instruction!("idiv", "r64 39916801/5039", init "mov r9d, 39916801; mov ecx, 5039; xor r10d, r10d",
        listing "mov rax, r9; xor edx, edx; idiv rcx", link "and rax, r10; or rax, r9; and rdx, r10; or rdx, r10", chain "idiv rcx", copies 5),
    instruction!("idiv", "r64 1/1", init "mov eax, 1; mov ecx, 1; xor edx, edx", listing "mov eax, 1; xor edx, edx; idiv rcx", chain "idiv rcx", copies 5),
    instruction!("idiv", "r32 62/31b full", init "mov r9d, 0x7ffffffe; mov r10d, 0x2aaaaaaa; mov ecx, 0x55555556; mov eax, r9d; mov edx, r10d",
        listing "mov eax, r9d; mov edx, r10d; idiv ecx", chain "idiv ecx", copies 5),
    instruction!("idiv", "r32 31/31b", init "mov r9d, 0x7edcba98; mov ecx, 0x49abcdef; xor r10d, r10d",
        listing "mov eax, r9d; xor edx, edx; idiv ecx", link "and eax, r10d; or eax, r9d; and edx, r10d; or edx, r10d", chain "idiv ecx", copies 5),
    instruction!("idiv", "r32 1/1", init "mov eax, 1; mov ecx, 1; xor edx, edx", listing "mov eax, 1; xor edx, edx; idiv ecx", chain "idiv ecx", copies 5),
] };
