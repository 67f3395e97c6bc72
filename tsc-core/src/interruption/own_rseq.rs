//! The runtime's own rseq registration, for a C library that registers nothing: musl.
//!
//! A thread has at most one registration, so the runtime registers only a thread that has none; the kernel reports if there is one. The
//! registration is removed when the thread ends, before its thread-local variables are freed, because the kernel writes to them until
//! then. musl never unloads a library, so they cannot be freed earlier.

use std::cell::UnsafeCell;
use std::io;
use std::sync::atomic::AtomicUsize;

/// The kernel's `struct rseq` in its original size, which all kernels accept.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Area {
    cpu_id_start: u32,
    cpu_id: u32,
    rseq_cs: u64,
    flags: u32,
    padding: [u32; 3],
}

const _: () = assert!(size_of::<Area>() == 32 && std::mem::offset_of!(Area, rseq_cs) == 8);

/// The value of `cpu_id` in an area that is not registered.
const UNINITIALIZED: u32 = u32::MAX;
const UNREGISTER: libc::c_int = 1;
/// What the four bytes before an abort handler must contain.
const SIGNATURE: u32 = 0x5305_3053;

thread_local! {
    static AREA: UnsafeCell<Area> = const {
        UnsafeCell::new(Area {
            cpu_id_start: 0,
            cpu_id: UNINITIALIZED,
            rseq_cs: 0,
            flags: 0,
            padding: [0; 3],
        })
    };
}

/// Registers this thread, unless it is registered, and returns its `rseq_cs`. [`unregister`] must be called before the thread ends.
pub(super) fn register() -> Result<*const AtomicUsize, &'static str> {
    let area = AREA.with(UnsafeCell::get);
    register_anew(area)?;
    // SAFETY: the area belongs to this thread, and only a pointer to it is made.
    Ok(unsafe { &raw const (*area).rseq_cs }.cast())
}

/// Why this thread cannot be registered, if so. Afterwards it is registered if and only if it was before.
pub(super) fn unavailable() -> Option<&'static str> {
    let is_new = register_anew(AREA.with(UnsafeCell::get));
    if is_new == Ok(true) {
        unregister();
    }
    is_new.err()
}

/// Registers `area`. Returns false if it was already registered, as in the child of a fork.
fn register_anew(area: *mut Area) -> Result<bool, &'static str> {
    let Err(error) = rseq(area, 0) else {
        return Ok(true);
    };
    match error.raw_os_error() {
        Some(libc::EBUSY) => Ok(false),
        Some(libc::EINVAL) => Err("another library has registered rseq for this thread"),
        Some(libc::ENOSYS) => Err("the kernel has no rseq"),
        _ => Err("the kernel, or a sandbox, refuses rseq"),
    }
}

/// Removes this thread's registration, if it is the runtime's.
pub(super) fn unregister() {
    // The kernel refuses this if another library's registration is in place.
    let _: io::Result<()> = rseq(AREA.with(UnsafeCell::get), UNREGISTER);
}

fn rseq(area: *mut Area, flags: libc::c_int) -> io::Result<()> {
    // SAFETY: the area is a thread-local variable. It outlives the registration, which is removed when the thread ends.
    let result =
        unsafe { libc::syscall(libc::SYS_rseq, area, size_of::<Area>(), flags, SIGNATURE) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
