//! SSE, AVX2, FMA, AVX-512, and the instructions for ciphers.
//!
//! `init` clears the source registers with an instruction of the row's own kind, integer or floating point. On many cores a value of the
//! other kind is available a cycle later, and this would add a cycle to every link of the chain.

use tsc_runtime::instruction;
use tsc_runtime::instruction::Instruction;

// SAFETY: every listing keeps to the registers and the memory that `instruction!` names.
#[rustfmt::skip]
pub(super) static INSTRUCTIONS: &[Instruction] = unsafe { &[
    instruction!("movaps", "xmm,xmm", class vector, init "xorps xmm0, xmm0; xorps xmm4, xmm4", listing r"movaps xmm\i, xmm\i"),
    instruction!("xorps", "xmm,xmm same", class vector, listing r"xorps xmm\i, xmm\i"),
    instruction!("pxor", "xmm,xmm", class vector, init "pxor xmm0, xmm0; pxor xmm4, xmm4", listing r"pxor xmm\i, xmm0"),
    instruction!("paddd", "xmm,xmm", class vector, init "pxor xmm0, xmm0; pxor xmm4, xmm4", listing r"paddd xmm\i, xmm0"),
    instruction!("pmulld", "xmm,xmm", requires "sse4.1", class vector, init "pxor xmm0, xmm0; pxor xmm4, xmm4", listing r"pmulld xmm\i, xmm0"),
    instruction!("pshufd", "xmm,xmm,imm8", class vector, init "pxor xmm0, xmm0; pxor xmm4, xmm4", listing r"pshufd xmm\i, xmm0, 27", chain "pshufd xmm4, xmm4, 27"),
    instruction!("pshufb", "xmm,xmm", requires "ssse3", class vector, init "pxor xmm0, xmm0; pxor xmm4, xmm4", listing r"pshufb xmm\i, xmm0"),
    instruction!("movq+movq", "r64,xmm then xmm,r64", class vector, chain "movq rax, xmm4; movq xmm4, rax"),
    instruction!("addsd", "xmm,xmm", class vector, init "xorps xmm0, xmm0; xorps xmm4, xmm4", listing r"addsd xmm\i, xmm0"),
    instruction!("addps", "xmm,xmm", class vector, init "xorps xmm0, xmm0; xorps xmm4, xmm4", listing r"addps xmm\i, xmm0"),
    instruction!("mulsd", "xmm,xmm", class vector, init "movabs rax, 0x3ff0000000000000; movq xmm0, rax; movq xmm4, rax", listing r"mulsd xmm\i, xmm0"),
    instruction!("divsd+divsd+divsd+divsd", "four chains", class vector, init "movabs rax, 0x3ff0000000000001; movq xmm0, rax; movaps xmm1, xmm0; movaps xmm2, xmm0; movaps xmm3, xmm0",
        chain "divsd xmm0, xmm0; divsd xmm1, xmm1; divsd xmm2, xmm2; divsd xmm3, xmm3", copies 5),
    instruction!("divsd", "xmm,xmm", class vector, init "movabs rax, 0x3ff0000000000001; movq xmm0, rax; movq xmm4, rax", listing r"movaps xmm\i, xmm0; divsd xmm\i, xmm0", chain "divsd xmm4, xmm0", copies 5),
    instruction!("sqrtsd", "xmm,xmm", class vector, init "movabs rax, 0x3fefffffffffffff; movq xmm0, rax; movq xmm4, rax", listing r"movaps xmm\i, xmm0; sqrtsd xmm\i, xmm0", chain "sqrtsd xmm4, xmm4", copies 5),
    instruction!("cvtsi2sd+cvtsd2si", "xmm,r64 then r64,xmm", class vector, init "xorps xmm4, xmm4", chain "cvtsd2si rax, xmm4; cvtsi2sd xmm4, rax"),
    instruction!("ucomisd", "xmm,xmm", class vector, init "xorps xmm0, xmm0; xorps xmm4, xmm4", listing r"ucomisd xmm\i, xmm0", chain none),
    instruction!("vaddpd", "ymm,ymm,ymm", requires "avx", class vector, init "vxorps xmm0, xmm0, xmm0; vxorps xmm4, xmm4, xmm4", listing r"vaddpd ymm\i, ymm\i, ymm0"),
    instruction!("vmulpd", "ymm,ymm,ymm", requires "avx", class vector, init "vxorps xmm0, xmm0, xmm0; vxorps xmm4, xmm4, xmm4", listing r"vmulpd ymm\i, ymm\i, ymm0"),
    instruction!("vdivpd", "ymm,ymm,ymm", requires "avx", class vector, init "movabs rax, 0x3ff0000000000001; vmovq xmm0, rax; vmovddup xmm0, xmm0; vinsertf128 ymm0, ymm0, xmm0, 1; vmovapd ymm4, ymm0",
        listing r"vdivpd ymm\i, ymm0, ymm0", chain "vdivpd ymm4, ymm4, ymm0", copies 5),
    instruction!("vpaddd", "ymm,ymm,ymm", requires "avx2", class vector, init "vpxor xmm0, xmm0, xmm0; vpxor xmm1, xmm1, xmm1; vpxor xmm4, xmm4, xmm4", listing r"vpaddd ymm\i, ymm\i, ymm0"),
    instruction!("vpmulld", "ymm,ymm,ymm", requires "avx2", class vector, init "vpxor xmm0, xmm0, xmm0; vpxor xmm1, xmm1, xmm1; vpxor xmm4, xmm4, xmm4", listing r"vpmulld ymm\i, ymm\i, ymm0"),
    instruction!("vpermd", "ymm,ymm,ymm", requires "avx2", class vector, init "vpxor xmm0, xmm0, xmm0; vpxor xmm1, xmm1, xmm1; vpxor xmm4, xmm4, xmm4", listing r"vpermd ymm\i, ymm0, ymm\i"),
    instruction!("vpmovmskb", "r32,ymm", requires "avx2", class vector, init "vpxor xmm0, xmm0, xmm0; vpxor xmm1, xmm1, xmm1; vpxor xmm4, xmm4, xmm4", listing r"vpmovmskb eax, ymm\i", chain none),
    instruction!("vfmadd231sd", "xmm,xmm,xmm", requires "fma", class vector, init "vxorps xmm0, xmm0, xmm0; vxorps xmm4, xmm4, xmm4", listing r"vfmadd231sd xmm\i, xmm0, xmm0"),
    instruction!("vfmadd213sd", "xmm,xmm,xmm", requires "fma", class vector, init "vxorps xmm0, xmm0, xmm0; vxorps xmm4, xmm4, xmm4", listing r"vfmadd213sd xmm\i, xmm0, xmm0"),
    instruction!("vfmadd231pd", "ymm,ymm,ymm", requires "fma", class vector, init "vxorps xmm0, xmm0, xmm0; vxorps xmm4, xmm4, xmm4", listing r"vfmadd231pd ymm\i, ymm0, ymm0"),
    instruction!("vpaddd", "zmm,zmm,zmm", requires "avx512f", class vector, init "vpxor xmm0, xmm0, xmm0; vpxor xmm1, xmm1, xmm1; vpxor xmm4, xmm4, xmm4", listing r"vpaddd zmm\i, zmm\i, zmm0"),
    instruction!("vpternlogd", "zmm,zmm,zmm,imm8", requires "avx512f", class vector, init "vpxor xmm0, xmm0, xmm0; vpxor xmm1, xmm1, xmm1; vpxor xmm4, xmm4, xmm4", listing r"vpternlogd zmm\i, zmm0, zmm1, 150"),
    instruction!("vfmadd231pd", "zmm,zmm,zmm", requires "avx512f", class vector, init "vpxorq zmm0, zmm0, zmm0; vpxorq zmm4, zmm4, zmm4", listing r"vfmadd231pd zmm\i, zmm0, zmm0"),
    instruction!("vpermb", "zmm,zmm,zmm", requires "avx512vbmi", class vector, init "vpxor xmm0, xmm0, xmm0; vpxor xmm1, xmm1, xmm1; vpxor xmm4, xmm4, xmm4", listing r"vpermb zmm\i, zmm0, zmm\i"),
    instruction!("vpopcntq", "zmm,zmm", requires "avx512vpopcntdq", class vector, init "vpxor xmm0, xmm0, xmm0; vpxor xmm1, xmm1, xmm1; vpxor xmm4, xmm4, xmm4", listing r"vpopcntq zmm\i, zmm0", chain "vpopcntq zmm4, zmm4"),
    instruction!("vpcmpeqd", "k,zmm,zmm", requires "avx512f", class vector, init "vpxor xmm0, xmm0, xmm0; vpxor xmm1, xmm1, xmm1; vpxor xmm4, xmm4, xmm4", listing r"vpcmpeqd k1, zmm\i, zmm0", chain none),
    instruction!("kaddw", "k,k,k", requires "avx512dq", class vector, listing "kaddw k2, k1, k1", chain "kaddw k1, k1, k0"),
    instruction!("aesenc", "xmm,xmm", requires "aes", class vector, init "pxor xmm0, xmm0; pxor xmm4, xmm4", listing r"aesenc xmm\i, xmm0"),
    instruction!("aesdec", "xmm,xmm", requires "aes", class vector, init "pxor xmm0, xmm0; pxor xmm4, xmm4", listing r"aesdec xmm\i, xmm0"),
    instruction!("pclmulqdq", "xmm,xmm,imm8", requires "pclmulqdq", class vector, init "pxor xmm0, xmm0; pxor xmm4, xmm4", listing r"pclmulqdq xmm\i, xmm0, 0"),
    instruction!("sha256rnds2", "xmm,xmm", requires "sha", class vector, init "pxor xmm0, xmm0; pxor xmm1, xmm1; pxor xmm4, xmm4", listing r"sha256rnds2 xmm\i, xmm1"),
    instruction!("fadd", "st,st(1)", class vector, init "fninit; fldz; fldz", finish "fninit", chain "fadd st, st(1)"),
    instruction!("fmul", "st,st(1)", class vector, init "fninit; fld1; fld1", finish "fninit", chain "fmul st, st(1)"),
] };
