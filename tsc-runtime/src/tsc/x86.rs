//! The reads on x86 and x86-64.
//!
//! # Why these fences
//!
//! RDTSC is not ordered with its neighbours: it may execute before earlier instructions have, and later ones may begin before
//! it has read the counter. Two things must hold around the measured work, and each costs one LFENCE:
//!
//! - *Nothing earlier inside.* Intel (SDM, RDTSC): to execute RDTSC only after all previous instructions have executed and all
//!   previous loads are globally visible, put LFENCE immediately before it. Hence `lfence; rdtsc` on both sides: at the start
//!   it keeps the caller's unfinished work out, at the stop it waits for the measured work.
//! - *Nothing measured outside.* To execute RDTSC before any later instruction, put LFENCE immediately after it. Hence the
//!   start's second LFENCE. Without it the measured work begins in the shadow of RDTSC's own latency (18 to 35 core cycles) and
//!   short work vanishes in it. The stop needs none: what follows it is the probe's bookkeeping, which may run in that shadow
//!   and so costs next to nothing.
//!
//! On AMD, LFENCE waits for dispatch, which is what is needed, when MSR `C001_1029` bit 1 is set; Linux sets it at boot, and
//! newer CPUs say by CPUID `8000_0021` EAX bit 2 that it always does.
//!
//! What LFENCE does not order: stores may still be in the store buffer (MFENCE drains it: `fence = "mfence"`), and
//! instruction fetch may have run ahead (SERIALIZE and CPUID discard it).
//!
//! Why not RDTSCP at the stop, as Intel's white paper 324264 ends? It waits for earlier instructions by itself, but costs more
//! than `lfence; rdtsc` saves, and it is missing (SIGILL) on some virtual machines. Why not CPUID, as the macros of the 2000s
//! did? In a virtual machine it leaves the guest: microseconds. Both can be asked for.
//!
//! One `asm!` block a side, without `nomem`: separate intrinsics let LLVM move pure work between them, and `nomem` lets it move
//! loads and stores across. The two halves of the counter are joined outside the block, after the last fence.

use core::arch::asm;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use super::{Fence, Ticks, TscUnavailable};

const HAS_RDTSCP: u8 = 1;
const HAS_SERIALIZE: u8 = 2;

/// Set by [`detect`], which runs before the first read; until then every policy uses LFENCE's instructions.
static CAPABILITIES: AtomicU8 = AtomicU8::new(0);

macro_rules! read {
    ($($instruction:literal),+ $(; $clobber:tt)?) => {{
        let (low, high): (u32, u32);
        // SAFETY: LFENCE, MFENCE and RDTSC only order and read; callers have asked `detect` that RDTSC may be executed and,
        // for RDTSCP and SERIALIZE, that the CPU has them. No flag and no stack is touched; the registers are declared.
        unsafe {
            asm!(
                $($instruction),+,
                out("eax") low, out("edx") high, $(out($clobber) _,)?
                options(nostack, preserves_flags),
            );
        }
        (Ticks::from(high) << 32) | Ticks::from(low)
    }};
}

#[inline(always)]
pub(super) fn start_lfence() -> Ticks {
    read!("lfence", "rdtsc", "lfence")
}

#[inline(always)]
pub(super) fn stop_lfence() -> Ticks {
    read!("lfence", "rdtsc")
}

#[inline(always)]
pub(super) fn read_bare() -> Ticks {
    read!("rdtsc")
}

#[inline(always)]
pub(super) fn stop_rdtscp() -> Ticks {
    if CAPABILITIES.load(Relaxed) & HAS_RDTSCP == 0 {
        return stop_lfence();
    }
    read!("rdtscp", "lfence"; "ecx")
}

#[inline(always)]
pub(super) fn start_mfence() -> Ticks {
    read!("mfence", "lfence", "rdtsc", "lfence")
}

#[inline(always)]
pub(super) fn stop_mfence() -> Ticks {
    read!("mfence", "lfence", "rdtsc")
}

#[inline(always)]
pub(super) fn start_serialize() -> Ticks {
    if CAPABILITIES.load(Relaxed) & HAS_SERIALIZE == 0 {
        return start_lfence();
    }
    read!("serialize", "rdtsc", "lfence")
}

#[inline(always)]
pub(super) fn stop_serialize() -> Ticks {
    if CAPABILITIES.load(Relaxed) & HAS_SERIALIZE == 0 {
        return stop_lfence();
    }
    read!("serialize", "rdtsc")
}

/// Leaf 0 of CPUID, saving the register that LLVM keeps for itself.
macro_rules! cpuid_read {
    ($($after:literal),*) => {{
        let (low, high): (u32, u32);
        // SAFETY: CPUID only serializes and writes EAX, EBX, ECX and EDX: EBX is saved and restored, the others are declared.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                "mov {saved:r}, rbx", "xor eax, eax", "xor ecx, ecx", "cpuid", "mov rbx, {saved:r}",
                "rdtsc", $($after,)*
                saved = out(reg) _, out("eax") low, out("edx") high, out("ecx") _,
                options(nostack),
            );
        }
        // SAFETY: as above.
        #[cfg(target_arch = "x86")]
        unsafe {
            asm!(
                "mov {saved}, ebx", "xor eax, eax", "xor ecx, ecx", "cpuid", "mov ebx, {saved}",
                "rdtsc", $($after,)*
                saved = out(reg) _, out("eax") low, out("edx") high, out("ecx") _,
                options(nostack),
            );
        }
        (Ticks::from(high) << 32) | Ticks::from(low)
    }};
}

#[inline(always)]
pub(super) fn start_cpuid() -> Ticks {
    cpuid_read!("lfence")
}

#[inline(always)]
pub(super) fn stop_cpuid() -> Ticks {
    cpuid_read!()
}

#[inline(always)]
pub(super) fn start_cpuid_start() -> Ticks {
    cpuid_read!()
}

pub(super) use read_bare as stop_cpuid_start;

pub(super) fn supports(fence: Fence) -> bool {
    let capabilities = CAPABILITIES.load(Relaxed);
    match fence {
        Fence::Rdtscp => capabilities & HAS_RDTSCP != 0,
        Fence::Serialize => capabilities & HAS_SERIALIZE != 0,
        Fence::Lfence | Fence::Unfenced | Fence::Mfence | Fence::Cpuid | Fence::CpuidStart => true,
    }
}

/// What CPUID answers: EAX, EBX, ECX, EDX.
pub(crate) fn cpuid(leaf: u32, subleaf: u32) -> [u32; 4] {
    #[cfg(target_arch = "x86")]
    use core::arch::x86::__cpuid_count;
    #[cfg(target_arch = "x86_64")]
    use core::arch::x86_64::__cpuid_count;

    #[allow(unused_unsafe, reason = "the function is safe in newer Rust")]
    // SAFETY: every CPU that std runs on has CPUID.
    let answer = unsafe { __cpuid_count(leaf, subleaf) };
    [answer.eax, answer.ebx, answer.ecx, answer.edx]
}

/// Finds out whether the counter may be read by this thread, and which of the optional instructions the CPU has.
///
/// # Errors
///
/// The reason why RDTSC must not be executed.
pub fn detect() -> Result<(), TscUnavailable> {
    const TSC: u32 = 1 << 4;
    const RDTSCP: u32 = 1 << 27;
    const SERIALIZE: u32 = 1 << 14;
    let eax = |leaf| cpuid(leaf, 0)[0];
    let edx = |leaf| cpuid(leaf, 0)[3];

    if is_forbidden_by_prctl() {
        return Err(TscUnavailable::ForbiddenByPrctl);
    }
    let highest = eax(0);
    if highest == 0 || edx(1) & TSC == 0 {
        return Err(TscUnavailable::MissingInstruction);
    }
    let mut capabilities = 0;
    if eax(0x8000_0000) >= 0x8000_0001 && edx(0x8000_0001) & RDTSCP != 0 {
        capabilities |= HAS_RDTSCP;
    }
    if highest >= 7 && edx(7) & SERIALIZE != 0 {
        capabilities |= HAS_SERIALIZE;
    }
    CAPABILITIES.store(capabilities, Relaxed);
    Ok(())
}

#[cfg(target_os = "linux")]
fn is_forbidden_by_prctl() -> bool {
    let mut mode: libc::c_int = 0;
    // SAFETY: PR_GET_TSC writes one int to the address it is given; an old kernel that lacks it returns an error.
    let answer = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
    answer == 0 && mode == libc::PR_TSC_SIGSEGV
}

#[cfg(not(target_os = "linux"))]
fn is_forbidden_by_prctl() -> bool {
    false
}
