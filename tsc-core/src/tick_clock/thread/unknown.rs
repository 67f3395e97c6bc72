//! The clock's thread where libc does not know of it.
//!
//! As soon as there is a second thread that glibc knows of, its allocator uses locks. A program with one thread that allocates much then takes
//! longer, and the functions that allocate have a larger share. So the kernel alone is asked for this thread. It has no thread-local storage.
//! Whatever it needs is a system call that is made here, without libc, whose functions write to `errno`.

use std::arch::asm;
use std::cell::UnsafeCell;
use std::io;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use super::STACK;
use crate::process::{signals, thread};

/// The memory of the thread. In the child of a fork, which has no such thread, it is used again.
#[repr(C, align(16))]
struct Memory {
    stack: UnsafeCell<[u8; STACK]>,
    /// What functions of libc find at the thread pointer: above it among others the value by which they notice that the stack was overwritten,
    /// and below it `errno`.
    below: UnsafeCell<[u8; 4096]>,
    thread_pointer: UnsafeCell<[usize; 64]>,
}

// SAFETY: the clock's thread alone uses the memory.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory {
    stack: UnsafeCell::new([0; STACK]),
    below: UnsafeCell::new([0; 4096]),
    thread_pointer: UnsafeCell::new([0; 64]),
};

/// Starts the thread, with all signals blocked.
pub(super) fn spawn(run: extern "C" fn() -> !) -> io::Result<()> {
    if is_sanitized() {
        return thread::spawn("tsc-clock", STACK, move || {
            run();
        })
        .map(drop);
    }
    let result = signals::with_blocked(&signals::all(), || {
        // SAFETY: the clock is begun once in a process, so no thread uses the memory.
        unsafe { clone(run) }
    });
    match result {
        ..0 => Err(io::Error::from_raw_os_error(-result as i32)),
        _ => Ok(()),
    }
}

pub(super) fn start_from_zero() {}

/// Makes a thread that is like one of libc's for the kernel. Returns its number, or a negative error.
///
/// # Safety
///
/// No thread uses [`MEMORY`].
unsafe fn clone(run: extern "C" fn() -> !) -> isize {
    use libc::{CLONE_FILES, CLONE_FS, CLONE_SETTLS, CLONE_SIGHAND, CLONE_SYSVSEM};
    use libc::{CLONE_THREAD, CLONE_VM};
    let flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    let pointer = MEMORY.thread_pointer.get();
    let result;
    // SAFETY: nobody uses the memory. The first and the third word at the thread pointer are its own address, as the ABI and glibc have it. The
    // new thread begins after `syscall`, with the same registers, on its own stack, whose end is aligned to 16 bytes; it never returns from
    // `run`. This thread only finds other values in the registers that are named.
    unsafe {
        (*pointer)[0] = pointer.addr();
        (*pointer)[2] = pointer.addr();
        asm!(
            "syscall", "test rax, rax", "jnz 2f", "xor ebp, ebp", "call r12", "ud2", "2:",
            inlateout("rax") libc::SYS_clone as isize => result,
            in("rdi") flags | CLONE_SETTLS,
            in("rsi") MEMORY.below.get(),
            in("rdx") 0, in("r10") 0, in("r8") pointer, in("r12") run,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    result
}

/// Whether a sanitizer observes the program. Its code uses thread-local storage at any place.
fn is_sanitized() -> bool {
    let (most, safe_stack): (usize, usize);
    // SAFETY: the linker makes the places that are read. Each has the address of a function, or 0 if there is none. All sanitizers but
    // SafeStack have the first one.
    unsafe {
        asm!(
            ".weak __sanitizer_print_stack_trace",
            ".weak __safestack_init",
            "mov {}, qword ptr [rip + __sanitizer_print_stack_trace@GOTPCREL]",
            "mov {}, qword ptr [rip + __safestack_init@GOTPCREL]",
            out(reg) most,
            out(reg) safe_stack,
            options(nostack, preserves_flags, readonly, pure)
        );
    }
    most != 0 || safe_stack != 0
}

/// Makes a system call.
///
/// # Safety
///
/// As for the call.
pub(super) unsafe fn call(number: libc::c_long, [a, b, c, d]: [usize; 4]) -> isize {
    let result;
    // SAFETY: the caller promises that the call does no harm.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d,
            lateout("rcx") _, lateout("r11") _, options(nostack)
        );
    }
    result
}

fn address<T>(place: *const T) -> usize {
    place.expose_provenance()
}

pub(super) fn sleep(time: Duration) {
    // Nobody knows of this word.
    wait(&AtomicU32::new(1), time);
}

/// Wakes up the thread, if it waits. `slow` is 0.
pub(super) fn wake(slow: &AtomicU32) {
    let wake = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;
    // SAFETY: the kernel only compares the address.
    unsafe { call(libc::SYS_futex, [address(slow), wake, 1, 0]) };
}

/// Waits for this time, or until [`wake`] is called, unless `slow` is 0.
pub(super) fn wait(slow: &AtomicU32, time: Duration) {
    let time = [time.as_secs() as i64, i64::from(time.subsec_nanos())];
    let wait = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
    let arguments = [address(slow), wait, 1, address(&raw const time)];
    // SAFETY: the kernel reads the word, and a timespec, which is two such words.
    unsafe { call(libc::SYS_futex, arguments) };
}

/// The time since some fixed one.
pub(super) fn now() -> Duration {
    clock(libc::CLOCK_MONOTONIC).unwrap_or_default()
}

pub(super) fn own_cpu_time() -> Option<Duration> {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

pub(super) fn cpu_time_of_process() -> Option<Duration> {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn clock(clock: libc::clockid_t) -> Option<Duration> {
    let mut time = [0_i64; 2];
    let arguments = [clock as usize, address(&raw mut time), 0, 0];
    // SAFETY: the kernel writes a timespec, which is two such words.
    let result = unsafe { call(libc::SYS_clock_gettime, arguments) };
    (result == 0).then(|| Duration::new(time[0] as u64, time[1] as u32))
}
