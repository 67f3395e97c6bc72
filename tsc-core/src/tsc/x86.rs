//! The reads on x86 and x86-64.
//!
//! # Why these fences
//!
//! RDTSC is not ordered with the instructions around it: it may execute before earlier instructions have executed, and later ones may
//! begin before it has read the counter. Two things must hold for the measured work, and each needs one LFENCE:
//!
//! - *No earlier work inside the measured region.* Intel (SDM, RDTSC): to execute RDTSC only after all previous instructions have executed
//!   and all previous loads are globally visible, put LFENCE immediately before it. So both sides have `lfence; rdtsc`: at the start it
//!   keeps the caller's unfinished work out, and at the stop it waits for the measured work.
//! - *No measured work outside the measured region.* To execute RDTSC before any later instruction, put LFENCE immediately after it. So
//!   the start has a second LFENCE. Without it, the measured work would begin while RDTSC itself executes (18 to 35 core cycles), and
//!   short work would be hidden by it. The stop needs no second LFENCE: it is followed by the probe's bookkeeping, which may run while
//!   RDTSC executes and therefore costs almost nothing.
//!
//! On AMD, LFENCE waits as required if bit 1 of MSR `C001_1029` is set. Linux sets it at boot, and newer CPUs report in CPUID `8000_0021`,
//! EAX bit 2, that LFENCE always does.
//!
//! What LFENCE does not order: stores may still be in the store buffer (MFENCE drains it: `fence = "mfence"`), and instruction fetch may
//! have run ahead (SERIALIZE and CPUID discard what was fetched).
//!
//! Why not RDTSCP at the stop, as in Intel's white paper 324264? It waits for earlier instructions by itself, but it costs more than
//! `lfence; rdtsc`, and some virtual machines do not have it (SIGILL). Why not CPUID, as in the macros of the 2000s? In a virtual machine
//! it leaves the guest, which takes microseconds. Both are available as policies.
//!
//! Each side is one `asm!` block without `nomem`. LLVM would move pure work between separate intrinsics, and `nomem` would let it move
//! loads and stores across the block. The two halves of the counter are joined outside the block, after the last fence.

use core::arch::asm;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use super::{Fence, Ticks, TscUnavailable};

const HAS_RDTSCP: u8 = 1;
const HAS_SERIALIZE: u8 = 2;

/// Set by [`detect`], which runs before the first read. Until then, every policy uses LFENCE.
static CAPABILITIES: AtomicU8 = AtomicU8::new(0);

macro_rules! read {
    ($($instruction:literal),+ $(; $clobber:tt)?) => {{
        let (low, high): (u32, u32);
        // SAFETY: these instructions only order others, or read the TSC. Callers have made sure by `detect` that RDTSC may be executed, and
        // that the CPU has RDTSCP and SERIALIZE where they are used. The block does not change flags or the stack, and its registers are
        // declared.
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

/// Executes CPUID with leaf 0, then RDTSC. RBX is saved and restored, because LLVM reserves it.
macro_rules! cpuid_read {
    ($($after:literal),*) => {{
        let (low, high): (u32, u32);
        // SAFETY: CPUID only serializes, and writes EAX, EBX, ECX and EDX. EBX is saved and restored, the others are declared.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!(
                "mov {saved:r}, rbx", "xor eax, eax", "xor ecx, ecx", "cpuid", "mov rbx, {saved:r}",
                "rdtsc", $($after,)*
                saved = out(reg) _, out("eax") low, out("edx") high, out("ecx") _,
                options(nostack),
            );
        }
        // SAFETY: as on x86-64.
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

pub(super) use read_bare as stop_cpuid_start;
pub(super) use stop_cpuid as start_cpuid_start;

pub(super) fn supports(fence: Fence) -> bool {
    let capabilities = CAPABILITIES.load(Relaxed);
    match fence {
        Fence::Rdtscp => capabilities & HAS_RDTSCP != 0,
        Fence::Serialize => capabilities & HAS_SERIALIZE != 0,
        Fence::Lfence | Fence::Unfenced | Fence::Mfence | Fence::Cpuid | Fence::CpuidStart => true,
    }
}

/// The result of CPUID: EAX, EBX, ECX, EDX.
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

/// How the counter is read, for people.
pub(crate) fn reads() -> &'static str {
    "readable, and allowed by PR_SET_TSC"
}

/// Determines whether this thread may read the counter, and which of the optional instructions the CPU has.
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

    #[cfg(target_os = "linux")]
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
    // SAFETY: PR_GET_TSC writes one int to the given address. An old kernel that does not have it returns an error.
    let answer = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
    answer == 0 && mode == libc::PR_TSC_SIGSEGV
}
